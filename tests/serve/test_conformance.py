"""The protocol's own conformance suite against `ferrule serve --http`: all that fails is known, with the reason."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.node import CONFORMANCE, CONFORMANCE_2026, command
from ferrule_testkit.serve.conformance_tools import install
from ferrule_testkit.serve.service import HttpService, wait_until

pytestmark = pytest.mark.slow


NOT_SERVED = Path(__file__).with_name("conformance") / "not_served.toml"
_DATE = re.compile(r"-\d{4}-\d\d-\d\dT.*")
UNMET = ("FAILURE", "WARNING")
OLD, NEW = "2025-11-25", "2026-07-28"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return install(Machine(tmp_path_factory.mktemp("conformance")))


@pytest.fixture(scope="module")
def stateless(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=2", work=machine.work) as service:
        wait_until(lambda: "Serving " in service.told, "the list of tools")
        assert "Not served" not in service.told
        yield service


@pytest.fixture(scope="module")
def with_sessions(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=2", "--sessions", work=machine.work) as service:
        wait_until(lambda: "Serving " in service.told, "the list of tools")
        yield service


def expected(release: str) -> set[str]:
    groups: dict[str, dict[str, Any]] = tomllib.loads(NOT_SERVED.read_text())
    return {check for group in groups.values() for check in group.get(release, [])}


def checked(program: str, url: str, folder: Path, *options: str) -> dict[str, set[str]]:
    """The checks of a run, as `scenario/check`, by how they ended."""
    words = [*command(program), "server", "--url", url, "--suite", "all", "-o", str(folder), *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    found: dict[str, set[str]] = {}
    for file in folder.glob("*/checks.json"):
        scenario = _DATE.sub("", file.parent.name.removeprefix("server-"))
        for check in json.loads(file.read_text()):
            found.setdefault(check["status"], set()).add(f"{scenario}/{check['id']}")
    assert found, done.stdout + done.stderr
    return found


def assert_known(found: dict[str, set[str]], known: set[str], least: int) -> None:
    unmet = {check for status in UNMET for check in found.get(status, ())}
    assert sorted(unmet - known) == [], "fails, and is not known to"
    assert sorted(known - unmet) == [], "is known to fail, and does not any more"
    assert len(found["SUCCESS"] - unmet) >= least


def test_the_handshake_era_is_served_as_its_suite_wants_it(stateless: HttpService, tmp_path: Path) -> None:
    assert_known(checked(CONFORMANCE, stateless.url, tmp_path), expected(OLD), 12)


def test_the_handshake_era_is_served_with_sessions_as_the_newer_suite_wants_it(
    with_sessions: HttpService, tmp_path: Path
) -> None:
    found = checked(CONFORMANCE_2026, with_sessions.url, tmp_path, "--spec-version", OLD)
    assert_known(found, expected(f"{OLD} with sessions"), 12)


def test_the_newest_release_is_served_as_its_suite_wants_it(stateless: HttpService, tmp_path: Path) -> None:
    found = checked(CONFORMANCE_2026, stateless.url, tmp_path, "--spec-version", NEW)
    assert_known(found, expected(NEW), 60)


def test_every_feature_that_is_not_served_has_a_reason() -> None:
    for name, group in tomllib.loads(NOT_SERVED.read_text()).items():
        assert len(group["reason"]) > 30, name
        assert any(group.get(release) for release in (OLD, NEW, f"{OLD} with sessions")), name
