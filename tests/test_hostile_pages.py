"""Whatever a server sends, the client gets one answer in time, and content wherever there is any."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import runs
from hostile_case import Case
from hostile_server import CASES, MOST_MEMORY, HostileServer, call

FERRULE = [sys.executable, "-m", "ferrule"]


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


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name.replace(" ", "-")) for case in CASES])
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
    assert outcome.answer.get("error_code", "") == case.code, outcome.answer
    text = _text(outcome.answer)
    assert [part for part in case.says if part not in text] == [], text[:2_000]
    assert [part for part in case.never if part in text] == [], text[:2_000]


def test_there_are_cases_of_every_kind_and_no_two_have_one_name() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 200
    assert {case.group for case in CASES} == {"transport", "bodies", "shapes", "texts"}


def _text(answer: dict[str, Any]) -> str:
    """All that a model reads of an answer but the address, with a line end before each part."""
    return "".join(f"\n{answer.get(part, '')}" for part in ("title", "content", "error"))
