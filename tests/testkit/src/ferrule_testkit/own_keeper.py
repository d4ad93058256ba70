"""Calls that a keeper makes which is started for each of them, with the variables of that call."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ferrule.links.launchers import find_launcher
from ferrule_testkit.keeper import WITHOUT_LAUNCHER, Started, keepers_of
from ferrule_testkit.runs import Run, run


class OwnKeeper:
    """For calls with variables of their own: each is made by a keeper that is started with them, and ended then."""

    def __init__(self, folder: Path) -> None:
        """folder: for sockets, so its path has to be short."""
        self._folder = folder

    def run(self, command: Sequence[str | Path], arguments: bytes, environment: Mapping[str, str]) -> Run:
        """Run an executable that the launcher starts. What it writes is the keeper's answer, which is made sure."""
        environ = {**environment, "XDG_RUNTIME_DIR": str(self._folder), "FERRULE_CONFIG": self._configure(environment)}
        keeper = Started(environ)
        try:
            done = run(command, arguments, environment=environ)
            (state,) = (one for one in keepers_of(environ) if one.process == keeper.process)
            assert state.facts is not None
            assert state.facts["calls"] == 1, "the keeper has not made the call"
            return done
        finally:
            keeper.stop()

    def _configure(self, environment: Mapping[str, str]) -> str:
        """A copy of config.toml that has all tools kept."""
        path = self._folder / "config.toml"
        named = environment.get("FERRULE_CONFIG")
        text = Path(named).read_text() if named and Path(named).exists() else ""
        path.write_text(text + '\n[keep]\ntools = ["*"]\n')
        return str(path)


@contextmanager
def own_keepers() -> Iterator[OwnKeeper]:
    """Keepers for calls with variables of their own, where the launcher is there."""
    if not find_launcher():
        pytest.skip(WITHOUT_LAUNCHER)
    with tempfile.TemporaryDirectory(prefix="f-") as folder:
        yield OwnKeeper(Path(folder))
