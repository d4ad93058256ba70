"""`ferrule check` on tools with one fault each: it finds that fault, names it once, and finds no other."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ferrule_testkit.checked_tools import check, in_state

FOLDER = Path(__file__).parent / "conformance_tools"
FAULTY = FOLDER / "faulty"
TABLE = tomllib.loads((FOLDER / "faults.toml").read_text())
# What takes seconds, since it hangs or is called often, is tried with the slow tests.
QUICK = (
    "bash", "chatters", "collides", "dies-of-wrong-type", "ignores-bounds", "prints-key-in-error", "schema-differs",
    "schema-not-json", "schema-other-name", "schema-requires-unknown",
)  # fmt: skip
BY_CHECK = {check: name for part in TABLE.values() for name, check in [*reversed(part.items())]}
"""By check: the first tool that it finds. The others show other forms of the same fault."""
OTHERWISE = ("leaves-process-at-sigterm", "never-answers", "prints-key-in-log")
"""Forms that are found in another way: where a signal comes, where nothing comes, and beside the answer."""


def each_in_its_tier(names: list[str]) -> list[object]:
    return [pytest.param(name, marks=tier_of(name)) for name in names]


def tier_of(name: str) -> pytest.MarkDecorator:
    if name in QUICK:
        return pytest.mark.process
    return pytest.mark.slow if name in {*BY_CHECK.values(), *OTHERWISE, *TABLE["warned"]} else pytest.mark.full


def test_each_faulty_tool_stands_in_the_table_and_there_are_thirty_at_least() -> None:
    files = {path.name.removesuffix("-tool") for path in FAULTY.glob("*-tool")}
    assert files == {*TABLE["failed"], *TABLE["warned"]}
    assert len(TABLE["failed"]) >= 30
    assert set(QUICK) <= files


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", each_in_its_tier(sorted(TABLE["failed"])))
def test_a_fault_fails_its_own_check_and_no_other(name: str, tmp_path: Path) -> None:
    done = check(FAULTY / f"{name}-tool", tmp_path, "--json")
    assert list(in_state(done, "failed")) == [TABLE["failed"][name]], (in_state(done, "failed"), done.stderr)
    assert done.exit_code == 1
    assert done.left == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", each_in_its_tier(sorted(TABLE["warned"])))
def test_what_is_no_breach_of_the_contract_warns(name: str, tmp_path: Path) -> None:
    done = check(FAULTY / f"{name}-tool", tmp_path, "--json")
    assert in_state(done, "failed") == {}
    assert list(in_state(done, "warned")) == [TABLE["warned"][name]]
    assert done.exit_code == 0
