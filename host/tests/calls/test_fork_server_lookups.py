"""What the supervising process of a server looks up for each call."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ferrule.calls.caller import Caller
from ferrule.calls.fork_server.lookups import CallerLookup, Lookups

pytestmark = pytest.mark.unit


def test_no_call_has_the_supervisor_fork_what_runs_other_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the supervisor has the secrets of all calls; its zygote, made before, forks what runs other tools."""
    monkeypatch.setattr("ferrule.trust.grants.granted", lambda *_: SimpleNamespace(tools=("reach",)))
    monkeypatch.setattr("os.fork", lambda: pytest.fail("the supervisor forks itself"))
    with Lookups().runs(cast("Any", SimpleNamespace(name="outer")), cast("Any", None)) as runs:
        assert runs is None


class CountedPolicies:
    """Lookups whose policies are counted instead of found. now: in seconds, for as long as they count."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
        self.now, self.found = 100.0, 0
        monkeypatch.setenv("FERRULE_STATE", str(state))
        monkeypatch.setattr("ferrule.calls.fork_server.lookups._policy_for", self._find)
        monkeypatch.setattr("ferrule.calls.fork_server.lookups.time", SimpleNamespace(monotonic=lambda: self.now))
        self._lookups = Lookups()
        self._call = cast("Any", (SimpleNamespace(name="alpha"), SimpleNamespace(visible_to=lambda _: {})))

    def call(self) -> int:
        """Make a call and answer it; how many policies were found before the answer."""
        before = self.found
        lookup = CallerLookup(self._lookups, Caller({}, "/", 0o077, {}))
        lookup.policy(*self._call)
        made = self.found - before
        lookup.renew()
        return made

    def _find(self, *_: object) -> None:
        self.found += 1


@pytest.mark.parametrize("seconds", [0.1, 0.4, 0.6, 0.9])
def test_calls_that_follow_one_another_wait_for_no_policy_but_the_first(
    seconds: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted = CountedPolicies(monkeypatch, tmp_path)
    assert counted.call() == 1
    for _ in range(20):
        counted.now += seconds
        assert counted.call() == 0
    assert counted.found >= 1 + 20 * seconds // 1  # none was older than a second


def test_a_call_after_a_pause_finds_its_policy_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    counted = CountedPolicies(monkeypatch, tmp_path)
    counted.call()
    counted.now += 1.1
    assert counted.call() == 1


def test_what_is_written_down_of_a_tool_counts_for_its_next_call(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted = CountedPolicies(monkeypatch, tmp_path)
    counted.call()
    (tmp_path / "permissions").mkdir()
    (tmp_path / "permissions/alpha.json").write_text("{}")
    assert counted.call() == 1
