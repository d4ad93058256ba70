"""Whatever a server sends, the client gets one answer in time, and content wherever there is any.

What is large, slow or wrong on the wire is asked for as the client does, in a process that has to end in time, in
little memory and without a word. The small pages, which differ in nothing but what comes of them, are fetched in this
process, and one in eight of them in a process as well.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ferrule_fetch
from ferrule import ToolError
from ferrule.text import strict_json
from ferrule_dev.testing import context
from ferrule_fetch.limits import reader
from ferrule_testkit import ikigai, runs
from ferrule_testkit.hostile.case import Case
from ferrule_testkit.hostile.server import CASES, MOST_MEMORY, HostileServer, call

pytestmark = pytest.mark.process


FERRULE = [sys.executable, "-m", "ferrule"]
SMALL = [case for case in CASES if case.is_small]
CALLED = [case for case in CASES if not case.is_small or case in SMALL[::8]]
IN_FULL = [case for case in SMALL[::8] if case not in SMALL[::24]]
"""Small pages of which the tool in this process is asked in any case, and a linked one in the tier `full` alone."""


def cases(which: list[Case], fast: list[Case], full: list[Case]) -> pytest.MarkDecorator:
    """A parameter for each case; what is not among the fast ones is for the slow tier, or for the full one."""
    marks = [[pytest.mark.full] if case in full else [] if case in fast else [pytest.mark.slow] for case in which]
    named = [(case, case.name.replace(" ", "-"), mark) for case, mark in zip(which, marks, strict=True)]
    return pytest.mark.parametrize("case", [pytest.param(case, id=name, marks=mark) for case, name, mark in named])


@pytest.fixture(scope="session")
def server() -> Iterator[HostileServer]:
    """One server for all cases of a worker."""
    with HostileServer() as server:
        yield server


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of its own, in which the tool is linked, and loopback may be asked."""
    home = tmp_path_factory.mktemp("home")
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "FERRULE_FETCH_ALLOW": "loopback"}
    subprocess.run([*FERRULE, "link", "web_fetch"], env=environ, check=True, capture_output=True)
    return environ


@pytest.mark.slow
@cases(CALLED, CALLED[::12], IN_FULL)
def test_the_client_gets_an_answer_from_a_page_that(
    case: Case, server: HostileServer, environment: dict[str, str]
) -> None:
    environ = {**environment, "FERRULE_DEADLINE": str(case.seconds)} if case.seconds else environment
    mark, environ = runs.mark(environ)
    tool = Path(environment["HOME"], ".ikigai", "tools", "web-fetch-tool")
    outcome = call([tool], server.url_of(case), environ)
    assert outcome.ended
    assert runs.marked(mark) == []
    assert outcome.text == ""
    assert outcome.answer is not None
    assert outcome.memory < MOST_MEMORY
    _answers(case, outcome.answer)


@cases(SMALL, SMALL, [])
def test_an_answer_comes_of_a_small_page_that(
    case: Case, server: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback")
    # A process that has run many tests is itself larger than a tool with its page may be.
    monkeypatch.setattr(reader, "_MEMORY_MIB", 4 << 10)
    try:
        answer = ferrule_fetch.execute({"url": server.url_of(case)}, context("web_fetch", seconds=60))
    except ToolError as error:
        answer = {"error_code": error.code, "error": error.message}
    _answers(case, ikigai.parse_strictly(strict_json.dumps(answer)))


def test_there_are_cases_of_every_kind_and_no_two_have_one_name() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 200
    assert {case.group for case in CASES} == {"transport", "bodies", "shapes", "texts"}


def _answers(case: Case, answer: dict[str, Any]) -> None:
    """AssertionError where it is not what must come of the case."""
    assert answer.get("error_code", "") == case.code, answer
    text = _text(answer)
    assert [part for part in case.says if part not in text] == [], text[:2_000]
    assert [part for part in case.never if part in text] == [], text[:2_000]


def _text(answer: dict[str, Any]) -> str:
    """All that a model reads of an answer but the address, with a line end before each part."""
    return "".join(f"\n{answer.get(part, '')}" for part in ("title", "content", "error"))
