"""`ferrule check` accuses no good tool: neither one in sh, C, JavaScript or Python, nor one that is shipped."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from ferrule_dev.testing import refused_port
from ferrule_testkit.checked_tools import check, in_state

ROOT = Path(__file__).resolve().parent.parent
GOOD = ROOT / "tests" / "conformance_tools" / "good"
# Each with the program that it needs, and what it is warned of.
QUICK: dict[str, tuple[str, set[str]]] = {
    "clock": ("sh", {"schema-rules", "not-json"}),
    "count-words": ("node", {"schema-rules"}),
    "forecast": ("python3", set()),
    "line-range": ("jq", set()),
}
SLOW: dict[str, tuple[str, set[str]]] = {
    "hard-schema": ("python3", {"schema-rules"}),
    "needs-key": ("python3", set()),
    "save-note": ("python3", set()),
    "takes-its-time": ("sh", set()),
    "unusual-habits": ("python3", set()),
}
SHIPPED = sorted(
    name
    for path in ROOT.glob("plugins/*/pyproject.toml")
    for name in tomllib.loads(path.read_text())["project"].get("entry-points", {}).get("ferrule.tools", ())
)
ALIKE = {
    *("web_search_exa", "web_search_google", "web_search_tavily"),  # brave is a search with a key, too
    *("image_search", "patent_search", "patent_search_uspto"),  # as news_search and patent_search_epo
    *("opennotes_get", "opennotes_notebooks", "opennotes_views"),  # create asks the same program
    *("opennotes_list", "opennotes_search"),
    *("citation_graph", "verify_citation"),  # academic_search asks the same services
    *("news_search", "search_and_scrape"),  # web_search chooses a provider as they do, scrape_page reads pages
    *("get_research_session", "research_export"),  # sequential_search keeps the sessions
    "web_search_searxng",  # news_search_gdelt needs no key either
}
"""Shipped tools that share all of their code but a request with another one, and are checked in `full`."""


def needed(program: str) -> str:
    """The path of a program, or the test is skipped."""
    return shutil.which(program) or pytest.skip(f"{program} is not installed")


def test_each_good_tool_is_tried() -> None:
    assert {path.name.removesuffix("-tool") for path in GOOD.glob("*-tool")} == {*QUICK, *SLOW}
    assert set(SHIPPED) > ALIKE


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *[pytest.param(name, marks=pytest.mark.process) for name in QUICK],
        *[pytest.param(name, marks=pytest.mark.slow) for name in SLOW],
    ],
)
def test_no_good_tool_is_accused(name: str, tmp_path: Path) -> None:
    program, warnings = {**QUICK, **SLOW}[name]
    needed(program)
    done = check(GOOD / f"{name}-tool", tmp_path, "--json")
    assert in_state(done, "failed") == {}, done.stderr
    assert set(in_state(done, "warned")) == warnings
    assert (done.exit_code, done.left) == (0, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_no_good_tool_in_c_is_accused(tmp_path: Path) -> None:
    tool, home = tmp_path / "reverse-text-tool", tmp_path / "home"
    home.mkdir()
    subprocess.run([needed("cc"), "-Wall", "-Werror", "-O1", "-o", tool, GOOD / "reverse-text.c"], check=True)
    done = check(tool, home, "--json")
    assert (in_state(done, "failed"), in_state(done, "warned"), done.exit_code) == ({}, {}, 0)


@pytest.mark.slow
@pytest.mark.process
def test_a_tool_that_refuses_all_without_its_key_is_said_to_have_proved_nothing(tmp_path: Path) -> None:
    done = check(GOOD / "needs-key-tool", tmp_path, "--json")
    assert "AUTH_MISSING" in in_state(done, "passed")["good-input"]
    assert "WEATHER_SERVICE_TOKEN" in in_state(done, "passed")["credentials-hidden"]


@pytest.mark.slow
@pytest.mark.process
def test_what_does_not_fit_into_the_time_is_left_out_and_told(tmp_path: Path) -> None:
    done = check(GOOD / "takes-its-time-tool", tmp_path, "--json", "--seconds", "5")
    [report] = json.loads(done.stdout)["targets"]
    assert report["call_seconds"] > 0.6
    assert report["calls"] < 30
    left_out = [check for check, message in in_state(done, "skipped").items() if message.startswith("Left out")]
    assert left_out
    assert {one.partition(":")[0] for one in report["left_out"]} >= set(left_out)
    assert in_state(done, "failed") == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full if name in ALIKE else ()) for name in SHIPPED]
)
def test_each_shipped_tool_passes_with_nothing_waived(name: str, tmp_path: Path) -> None:
    # GDELT alone needs no key, and would be asked.
    done = check(name, tmp_path, "--json", FERRULE_GDELT_ENDPOINT=f"http://127.0.0.1:{refused_port()}/")
    assert in_state(done, "failed") == {}, done.stderr
    assert set(in_state(done, "warned")) <= {"schema-rules"}
    assert (done.exit_code, done.left) == (0, [])
