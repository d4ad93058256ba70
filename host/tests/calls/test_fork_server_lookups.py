"""What the supervising process of a server looks up for each call."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ferrule.calls.fork_server.lookups import Lookups

pytestmark = pytest.mark.unit


def test_no_call_has_the_supervisor_fork_what_runs_other_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the supervisor has the secrets of all calls; its zygote, made before, forks what runs other tools."""
    monkeypatch.setattr("ferrule.trust.grants.granted", lambda *_: SimpleNamespace(tools=("reach",)))
    monkeypatch.setattr("os.fork", lambda: pytest.fail("the supervisor forks itself"))
    with Lookups().runs(cast("Any", SimpleNamespace(name="outer")), cast("Any", None)) as runs:
        assert runs is None
