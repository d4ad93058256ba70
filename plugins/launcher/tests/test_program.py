"""The program by itself: what it makes of a file, of values, and of bytes that nobody means."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule.links.launcher_form import read_content, write_for_launcher
from ferrule_testkit.effort import examples
from ferrule_testkit.launcher import SCHEMA, Linked, cold
from ferrule_testkit.processes.stub_keeper import Conversation, Frame, keep, pack_answer

pytestmark = pytest.mark.process

OBJECT = b'{"city": "Oslo"}'
ANSWER = b'{"success": true}'
bounded = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
texts = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=60)


@pytest.mark.slow
def test_it_says_which_form_it_reads(launcher: Path) -> None:
    assert subprocess.check_output([launcher, "--form"]) == b"ferrule-launcher 1\n"


def test_it_says_what_it_is_for_where_it_is_started_alone(launcher: Path) -> None:
    done = subprocess.run([launcher], capture_output=True)
    assert (done.returncode, done.stdout, b"ferrule link" in done.stderr) == (2, b"", True)


def test_a_schema_is_printed_as_it_stands(linked: Linked) -> None:
    done = linked.run("--schema")
    assert (done.stdout, done.stderr, done.returncode) == (f"{SCHEMA}\n".encode(), b"", 0)


@pytest.mark.parametrize("words", [["--schema", "x"], ["--help"], ["a b", "", "--schema"], ["x"] * 60], ids=len)
def test_other_arguments_are_for_python(words: list[str], linked: Linked) -> None:
    shown = "".join(f"<{word}>" for word in words)
    expected = cold(b"").rstrip(b"\n") + shown.encode() + b"\n"
    assert linked.run(*words, stdin=b"").stdout == expected


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-1],
        lambda text: text[: len(text) // 2],
        lambda text: text.replace(b"form 1\n", b"form 2\n"),
        lambda text: text.replace(b"form 1\n", b""),
        lambda text: text.replace(b"tool tell\n", b"tool\n"),
        lambda text: text.replace(b"python ", b"snake "),
        lambda text: text.replace(b"tool tell\n", b"tool te\\xll\n"),
        lambda text: text.replace(b"tool tell\n", b"tool tell\\\n"),
        lambda text: text.replace(b"tool tell\n", b"tool te\0ll\n"),
        lambda text: text + b"folder /x\n" * 1100,
        lambda text: text + b"folder " + b"x" * (1 << 20) + b"\n",
    ],
    ids=["feed", "half", "later", "no-form", "no-value", "no-python", "escape", "open-escape", "nul", "many", "large"],
)
def test_a_damaged_file_is_an_error_that_says_what_to_do(damage, linked: Linked) -> None:
    linked.path.write_bytes(damage(linked.path.read_bytes()))
    for words in ([], ["--schema"]):
        done = linked.run(*words)
        document = json.loads(done.stdout)
        assert (document["success"], document["error_code"], done.returncode) == (False, "TOOL_UNAVAILABLE", 1)
        assert "ferrule link TOOL" in document["error"]
        assert done.stderr.startswith(bytes(linked.path) + b" is damaged")


def test_what_is_too_much_for_the_program_is_written_for_a_shell(linked: Linked) -> None:
    content = linked.content()
    assert write_for_launcher(content._replace(schema="x" * (1 << 20)), "/x", "# ") is None
    assert write_for_launcher(content._replace(folders=("/x",) * 1024), "/x", "# ") is None


@bounded
@given(orders=texts, code=texts, schema=texts, gone=texts, path=texts)
def test_every_value_comes_through(orders: str, code: str, schema: str, gone: str, path: str, linked: Linked) -> None:
    values = {"orders": orders, "code": code, "schema": schema, "gone": gone, "config": f"/nowhere{path}"}
    content = linked.content()._replace(**values)
    linked.write(content)
    assert read_content(linked.path.read_bytes()) == content
    assert linked.run("--schema").stdout == f"{schema}\n".encode()
    assert linked.run("x", stdin=b"").stdout == f"<-I><-S><-c><{code}><{orders}><><x>\n".encode()
    linked.write(content._replace(python="/nowhere"))
    assert linked.run().stdout == f"{gone}\n".encode()


@bounded
@given(data=st.data())
def test_no_bytes_in_a_file_confuse_it(data: st.DataObject, linked: Linked) -> None:
    linked.write(linked.content())
    text = bytearray(linked.path.read_bytes())
    begin = text.index(b"\n") + 1
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(begin, len(text)))
        text[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=40))
    linked.path.write_bytes(bytes(text))
    for words in ([], ["--schema"]):
        done = linked.run(*words)
        assert done.returncode in (0, 1)
        assert b"Sanitizer" not in done.stderr, done.stderr
        assert b"runtime error" not in done.stderr, done.stderr


frames = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.builds(
            lambda kind, payload: Frame(kind, payload).pack(),
            st.sampled_from("ARBQOX"),
            st.one_of(st.just(b"1"), st.just(b"0"), st.just(pack_answer(ANSWER)), st.binary(max_size=20)),
        ),
    ),
    max_size=6,
)


@bounded
@given(sent=frames, cut=st.integers(0, 30))
def test_no_bytes_of_a_keeper_confuse_it(sent: list[bytes], cut: int, linked: Linked) -> None:
    def behave(told: Conversation) -> None:
        told.receive_fields()
        whole = b"".join(sent)
        told.connection.sendall(whole[: max(0, len(whole) - cut)])

    with keep(linked.socket(), behave):
        done = linked.run(stdin=OBJECT)
    assert b"Sanitizer" not in done.stderr, done.stderr
    assert b"runtime error" not in done.stderr, done.stderr
    if done.stdout.removeprefix(b"limit ") != cold(OBJECT) and b"KEEPER_LOST" not in done.stdout:
        assert any(pack_answer(done.stdout[:-1])[1:] in one for one in sent) or ANSWER in done.stdout
