"""The three streams: closed, full, without a reader, and filled to the last byte."""

import json
import os
import sys

import pytest

from ferrule_testkit import ikigai
from ferrule_testkit.corpus import Site
from ferrule_testkit.runs import SECONDS, Call, Start, full_pipe, print_schema, run

pytestmark = pytest.mark.process


OSLO = b'{"city": "Oslo"}'
GREETING = {"success": True, "greeting": "Hello, Oslo!"}
BOTH = pytest.mark.parametrize("kind", ["scripts", "links"])


@BOTH
@pytest.mark.parametrize(
    ("closing", "arrives", "exits"),
    [
        ("<&-", "stdin is closed", 1),
        ("2>&-", "Hello, Oslo!", 0),
        (">&-", "", 1),
        ("<&- 2>&-", "stdin is closed", 1),
        (">&- 2>&-", "", 1),
        ("<&- >&- 2>&-", "", 1),
    ],
)
def test_closed_streams_harm_nothing(
    kind: str, closing: str, arrives: str, exits: int, healthy: Site, here: dict[str, str]
) -> None:
    tool = getattr(healthy, kind) / "example-tool"
    done = run(["sh", "-c", f'exec "$0" {closing}', tool], OSLO, environment=here)

    assert arrives in (str(done.document) if arrives else done.stdout.decode())
    assert bool(done.stdout) is bool(arrives)
    assert done.exit_code == exits
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closing", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_tool_prints_where_stderr_is_closed_and_stdout_stays_clean(
    closing: str, healthy: Site, here: dict[str, str]
) -> None:
    tool = healthy.links / "probe-tool"
    arguments = b'{"say": "neither here nor there"}'
    done = run(["sh", "-c", f'exec "$0" {closing}', tool], arguments, environment=here)
    assert done.document["success"] is ("<&-" not in closing)


@pytest.mark.parametrize("tool", ["returns-bytes", "hangs-on-import"])
@pytest.mark.parametrize("closing", ["<&- 2>&-", ">&-", "<&- >&- 2>&-"])
def test_a_schema_needs_stdout_alone(tool: str, closing: str, corpus: Site, environment: dict[str, str]) -> None:
    command = ["sh", "-c", f'exec "$0" --schema {closing}', corpus.scripts / f"{tool}-tool"]

    done = print_schema(command, environment={**environment, "PYTHONPATH": str(corpus.path)})

    assert done.stdout == b"" if ">&-" in closing.split() else done.document["name"] == tool.replace("-", "_")
    assert b"Traceback" not in done.stderr


@BOTH
def test_a_reader_that_is_gone_ends_the_tool_quietly(kind: str, start: Start) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start("example", kind=kind, stdout=writer)
    os.close(writer)

    _, complaint = process.communicate(OSLO, SECONDS)

    assert process.returncode == 1
    assert complaint == b""


def test_an_answer_that_nobody_reads_is_given_up_at_the_deadline(start: Start) -> None:
    process = start("example", stdout=full_pipe()[1], environ={"FERRULE_DEADLINE": "1"})
    process.communicate(OSLO, SECONDS)
    assert process.returncode == 1


def test_stdout_ends_although_nobody_reads_stderr(start: Start) -> None:
    reader, writer = full_pipe()
    process = start("probe", stderr=writer, environ={"FERRULE_DEADLINE": "1000"})
    process.stdin.write(b'{"say": "into a full pipe"}')
    process.stdin.close()

    assert ikigai.parse_strictly(process.stdout.read())["success"] is True
    os.close(writer)
    os.close(reader)
    assert process.wait(SECONDS) == 0


@pytest.mark.parametrize("letter", ["x", "ø", "🦀"])
def test_the_largest_answer_has_65535_bytes(letter: str, call: Call) -> None:
    padded = {"size": 65_534, "letter": letter}
    done = call("probe", json.dumps(padded).encode())
    assert 65_535 - len(letter.encode()) < len(done.stdout) <= 65_535
    assert set(done.document["text"]) == {letter}


def test_the_client_reads_the_largest_answer(healthy: Site, here: dict[str, str]) -> None:
    arguments = json.dumps({"size": 65_534, "letter": "x"})
    command = [sys.executable, ikigai.__file__, "call", "probe", arguments, "--folder", healthy.links]

    answer = json.loads(run(command, environment=here).stdout)

    assert answer["tool_success"] is True
    assert len(json.dumps(answer["result"], separators=(",", ":"))) == 65_534
