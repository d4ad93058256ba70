"""What the source measures is kept: code grows by decision, and what is to go only becomes less."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = runpy.run_path(str(ROOT / "scripts/measure_source.py"))
AIR = 1.02  # of lines of code, for what comes and goes
pytestmark = pytest.mark.slow  # all sources are parsed, which takes ten seconds
RENEW = "run: python scripts/measure_source.py --write"


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SCRIPT["KEPT"].read_text())
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    measured: dict[str, Any] = SCRIPT["measure"]()
    return measured


def test_no_distribution_grows_unseen(kept: dict[str, Any], found: dict[str, Any]) -> None:
    lines = kept["code_lines"]  # of those that are not new
    grown = {name: count for name, count in found["code_lines"].items() if count > lines.get(name, count) * AIR}
    assert grown == {}, RENEW


def test_turns_that_are_to_go_become_fewer(kept: dict[str, Any], found: dict[str, Any]) -> None:
    assert {turn: count for turn, count in found["turns"].items() if count > kept["turns"][turn]} == {}


def test_functions_without_a_verb_become_fewer(kept: dict[str, Any], found: dict[str, Any]) -> None:
    assert found["verbless"] <= kept["verbless"]


@pytest.mark.parametrize(
    ("source", "lines"), [('"Doc."\n\nx = 1  # said\n# said\ny = (\n    2\n)\n', 4), ("def f():\n    '''D.'''\n", 1)]
)
def test_comments_and_docstrings_are_no_code(source: str, lines: int) -> None:
    assert SCRIPT["count_code_lines"](source) == lines


def test_docstrings_with_many_arguments_and_no_headed_parts_become_fewer(
    kept: dict[str, Any], found: dict[str, Any]
) -> None:
    assert found["unheaded"] <= kept["unheaded"]
