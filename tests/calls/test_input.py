"""What comes on stdin, and what is in it: a call is answered, or the mistake is explained."""

import json
import os
import time
from pathlib import Path

import pytest

from ferrule_testkit import ikigai
from ferrule_testkit.keeper import KeptHome
from ferrule_testkit.runs import SECONDS, Call, Start

pytestmark = pytest.mark.process


OSLO = b'{"city": "Oslo"}'
GREETING = {"success": True, "greeting": "Hello, Oslo!"}


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        pytest.param(b"", "stdin is not valid JSON: it is empty", id="empty"),
        pytest.param(b" \n\t ", "it is empty", id="blank"),
        pytest.param(b"city=Oslo", "a value was expected at line 1 column 1", id="no-json"),
        pytest.param(b'{"city": "Oslo"', "at line 1 column 16", id="cut-off"),
        pytest.param(b'{"city": "Oslo"} {}', "the document ends, and something follows", id="two-documents"),
        pytest.param(b'{"city": "Osl\xf8"}', "byte 14 is not UTF-8", id="not-utf-8"),
        pytest.param(b'\xef\xbb\xbf{"city": "Oslo"}', "it starts with a byte order mark", id="bom"),
        pytest.param(b'{"city": "Oslo", "city": "Rome"}', "the key 'city' stands twice", id="duplicate-key"),
        pytest.param(b'{"city": NaN}', "NaN is not JSON", id="nan"),
        pytest.param(b'{"city": 1e999}', "the number 1e999 is out of range", id="number-too-large"),
        pytest.param(b'{"city": 1' + b"0" * 400 + b"}", "is out of range", id="integer-too-large"),
        pytest.param(b'{"city": "\\ud800"}', "a lone surrogate stands at /city", id="lone-surrogate"),
        pytest.param(b'{"city": "Os\tlo"}', "invalid control character", id="control-character"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "it is nested too deeply", id="100000-levels"),
        pytest.param(b'{"a":' * 100_000, "it is nested too deeply", id="100000-open-levels"),
        pytest.param(b'["Oslo"]', "stdin holds an array", id="array"),
        pytest.param(b'"Oslo"', "stdin holds a string", id="string"),
        pytest.param(b"null", "stdin holds null", id="null"),
        pytest.param(b"true", "stdin holds a boolean", id="boolean"),
        pytest.param(b"1.5", "stdin holds a number", id="number"),
        pytest.param(b'{"city": "' + b"x" * 2**20 + b'"}', "stdin holds more than 1,048,576 bytes", id="1-MiB"),
    ],
)
def test_input_that_is_no_json_object_is_explained(arguments: bytes, phrase: str, call: Call) -> None:
    ways = [(1, {}), (0, {"IKIGAI_AGENT_ID": "agent-1"})]  # the other exit code changes nothing of the rest
    for exits, environ in ways if not arguments else ways[:1]:
        done = call("example", arguments, **environ)
        assert done.document["error_code"] == "INVALID_INPUT"
        assert phrase in done.document["error"]
        assert done.exit_code == exits
        assert exits == 0 or phrase in done.first_line


@pytest.mark.parametrize("keeping", ["kept"], indirect=True)
def test_calls_of_a_tool_that_is_kept_are_made_by_its_keeper(keeping: KeptHome, call: Call) -> None:
    before = keeping.calls()
    answers = [call("example", OSLO).document for _ in range(8)]
    assert answers == [GREETING] * 8
    assert keeping.calls() - before >= 4  # one that it takes too late on a busy machine is made without


def test_a_mebibyte_of_input_is_read(call: Call) -> None:
    arguments = b'{"city": "' + b" " * (2**20 - len(OSLO)) + OSLO[10:]
    assert len(arguments) == 2**20
    assert call("example", arguments).document == GREETING


@pytest.mark.parametrize("ending", [b'"}', b""])
def test_100_megabytes_are_read_to_the_end_and_refused(ending: bytes, start: Start) -> None:
    process = start("example")

    for part in (b'{"city": "', *[b"x" * 10**6] * 100, ending):
        process.stdin.write(part)  # a broken pipe would end the client
    process.stdin.close()

    document = ikigai.parse_strictly(process.stdout.read())
    assert "stdin holds more than 1,048,576 bytes" in document["error"]
    assert process.wait(SECONDS) == 1


def test_a_whole_object_is_answered_while_somebody_else_holds_stdin_open(start: Start) -> None:
    process = start("example")
    process.stdin.write(OSLO)

    assert ikigai.parse_strictly(process.stdout.read()) == GREETING
    assert process.wait(SECONDS) == 0


def test_an_object_that_comes_in_pieces_is_put_together(start: Start) -> None:
    process = start("example")
    for part in (b'{"city":', b" ", b'"Os', b'lo}"', b"\n}"):
        process.stdin.write(part)
        time.sleep(0.1)
    process.stdin.close()

    assert ikigai.parse_strictly(process.stdout.read())["greeting"] == "Hello, Oslo}!"


@pytest.mark.slow
@pytest.mark.parametrize("written", [b"", b'{"city": "Oslo"', b'{"city": {}'])
def test_stdin_that_does_not_end_is_not_waited_for(written: bytes, start: Start) -> None:
    process = start("example", environ={"FERRULE_DEADLINE": "1"})
    process.stdin.write(written)

    document = ikigai.parse_strictly(process.stdout.read())
    assert document["error_code"] == "INVALID_INPUT"
    assert "stdin was not at its end after 1 s" in document["error"]


def test_a_terminal_on_stdin_gets_an_example(start: Start) -> None:
    terminal, inside = os.openpty()
    process = start("example", stdin=inside)

    assert "stdin is a terminal" in ikigai.parse_strictly(process.stdout.read())["error"]
    os.close(terminal)
    os.close(inside)


def test_stdin_may_be_a_file(tmp_path: Path, start: Start) -> None:
    (tmp_path / "arguments.json").write_bytes(OSLO)
    with (tmp_path / "arguments.json").open("rb") as file:
        assert ikigai.parse_strictly(start("example", stdin=file).stdout.read()) == GREETING


def test_stdin_that_cannot_be_read_is_explained(start: Start) -> None:
    with Path(os.devnull).open("wb") as file:
        document = ikigai.parse_strictly(start("example", stdin=file).stdout.read())
    assert "stdin cannot be read: Bad file descriptor" in document["error"]


@pytest.mark.parametrize("filler", ["null", '""', "[]", "0"])
def test_what_strict_mode_makes_a_model_fill_in_is_dropped(filler: str, call: Call) -> None:
    names = ["say", "sleep", "size", "names", "options"] if filler == "null" else ["sleep", "size"]
    arguments = json.dumps({name: json.loads(filler) for name in names})
    assert call("probe", arguments.encode()).document["arguments"] == {}


def test_what_only_looks_like_a_filler_is_kept(call: Call) -> None:
    arguments = {"leave_children": False, "options": {"depth": 0}, "names": ["", "Oslo"]}
    assert call("probe", json.dumps(arguments).encode()).document["arguments"] == arguments


@pytest.mark.parametrize("city", ['""', "null", "[]", "0"])
def test_a_required_argument_is_never_dropped(city: str, call: Call) -> None:
    assert call("example", f'{{"city": {city}}}'.encode()).document["error_code"] == "INVALID_INPUT"


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (b"{}", "city: it is required and missing, expected string"),
        (b'{"city": 4711}', "city: expected string, got integer 4711"),
        (b'{"city": "Oslo", "town": "Rome"}', "town: there is no such argument; there are city"),
        (b'{"city": "Oslo", "a\\u0000b": 1}', "NUL"),
        ('{"city": "Oslo", "größe": 1}'.encode(), "größe: there is no such argument"),
        (b'{"city": " "}', "city: it is blank"),
    ],
)
def test_arguments_that_do_not_fit_are_named_with_what_was_expected(arguments: bytes, phrase: str, call: Call) -> None:
    document = call("example", arguments).document
    assert document["error_code"] == "INVALID_INPUT"
    assert phrase in document["error"]
