"""A home of its own with a keeper in it, and what a call takes there: of its own process, and of the keeper's."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from measuring import Command, Cost, run, seconds_with

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Self

    from installations.installation import Installation

_FIRST_CALLS = 4  # load the tool, and have its copies started
_FEWEST = 10  # runs of which there is a p99
_ROUND = 10  # warm calls between a cold one and a bare start
_ROUNDS_SECONDS = 15.0  # after which a call that takes long is given no more rounds
_IN_A_ROW, _ALONE = 1000, 60  # calls whose time on the wall counts: without a pause, and with one before each
_PAUSE_SECONDS = 0.05  # in which a processor that has nothing to do goes to sleep
_MS = 1000


class Figures(NamedTuple):
    """Processor time in bare starts, medians for cold calls and means for warm ones; milliseconds on the wall.

    p50, p99: of warm calls, one after the other. alone_p50, alone_p99: of warm calls with a pause before each.
    by_keeper: the share of the warm calls that the keeper made.
    """

    warm: float
    cold: float
    p50: float
    p99: float
    alone_p50: float
    alone_p99: float
    cold_p50: float
    cold_p99: float
    by_keeper: float


class KeptMachine:
    """As a context, it has a keeper that listens. environ: of its calls. links: the folder of its executables."""

    def __init__(self, installation: Installation, folder: Path, environ: dict[str, str]) -> None:
        self._installation = installation
        self._runtime = tempfile.mkdtemp(prefix="run-")  # the path of a socket has to be short
        self.links = folder / "kept-links"
        home = folder / "kept-home"
        self.environ = {
            "PATH": f"{installation.scripts}:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": os.environ.get("LANG", "C.UTF-8"),
            "XDG_RUNTIME_DIR": self._runtime,
            "FERRULE_WRAPPERS": "",
            **environ,
        }
        self._cold = {**self.environ, "XDG_CONFIG_HOME": str(folder / "kept-cold")}
        self._configurations = []
        for place, keep in ((home / ".config", 'tools = ["*"]'), (folder / "kept-cold", "seconds = 0")):
            (place / "ferrule").mkdir(parents=True)
            self._configurations.append(place / "ferrule/config.toml")
            self._configurations[-1].write_text(f"[keep]\n{keep}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._keepers():  # and none of the user's own
            self.ferrule("keep", "stop", "--process", str(one["process"]))
        shutil.rmtree(self._runtime, ignore_errors=True)

    def allow_memory(self, tool: str, mib: int) -> None:
        """Let a tool have so much, where its library is larger than what a tool may have otherwise."""
        for path in self._configurations:
            with path.open("a") as file:
                file.write(f"[tools.{tool}]\nmemory = {mib}\n")

    def ferrule(self, *words: str) -> str:
        """What the command prints. Ends the bench where it fails."""
        command = [str(self._installation.scripts / "ferrule"), *words]
        done = subprocess.run(command, env=self.environ, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"ferrule {' '.join(words[:3])} failed: {done.stdout[-400:]}{done.stderr[-600:]}")
        return done.stdout

    def link(self, tool: str) -> bool:
        """Have an executable for this tool, which the launcher starts; whether there is one."""
        command = [str(self._installation.scripts / "ferrule"), "link", tool, "--to", str(self.links)]
        done = subprocess.run(command, env=self.environ, capture_output=True, text=True, check=False)
        is_linked = self._path(tool).exists()
        if not is_linked:
            print(f"{tool} is left out: {done.stdout[-400:]}{done.stderr[-400:]}", file=sys.stderr)
        return is_linked

    def _path(self, tool: str) -> Path:
        return self.links / f"{tool.replace('_', '-')}-tool"

    def measure(self, tool: str, stdin: bytes, answer: bytes, rounds: int) -> Figures:
        """Make calls by the keeper, cold ones and bare starts in turn. answer: is in every right answer."""
        path = self._path(tool)
        warm, cold = (Command([path], stdin, one, is_alone=True) for one in (self.environ, self._cold))
        bare = Command([self._installation.python, "-I", "-c", "pass"])
        for command in [cold, *[warm] * _FIRST_CALLS]:
            _check(command, answer)
        return self._measure(warm, cold, bare, rounds)

    def _measure(self, warm: Command, cold: Command, bare: Command, rounds: int) -> Figures:
        before = self._state()
        used = seconds_with(before["process"])
        warms: list[Cost] = []
        colds: list[Cost] = []
        bares: list[Cost] = []
        limit = time.monotonic() + _ROUNDS_SECONDS
        for _ in range(rounds):
            if time.monotonic() > limit and len(colds) > 1:
                break
            warms += [run(warm) for _ in range(_ROUND)]
            colds.append(run(cold))
            bares.append(run(bare))
        start = statistics.median(one.cpu for one in bares)
        used = seconds_with(before["process"]) - used
        made = self._state()["calls"] - before["calls"]
        cold_walls = [one.wall * _MS for one in colds]
        return Figures(
            (statistics.fmean(one.cpu for one in warms) + used / len(warms)) / start,
            statistics.median(one.cpu for one in colds) / start,
            *measure_walls(warm),
            *(statistics.median(cold_walls), _p99(cold_walls)),
            made / len(warms),
        )

    def _state(self) -> dict[str, Any]:
        keepers = self._keepers()
        if len(keepers) != 1:
            sys.exit(f"{len(keepers)} keepers run instead of one")
        return keepers[0]

    def _keepers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.ferrule("keep", "status", "--json"))["keepers"]
        return [one for one in found if one["socket"].startswith(self._runtime)]


def _check(command: Command, answer: bytes) -> None:
    words = [str(one) for one in command.argv]
    done = subprocess.run(words, input=command.stdin, env=dict(command.environ), capture_output=True, check=False)
    if answer not in done.stdout:
        sys.exit(f"{words[0]} does not answer: {(done.stdout + done.stderr)[-600:].decode(errors='replace')}")


def measure_walls(command: Command) -> tuple[float, float, float, float]:
    """Milliseconds of a run on the wall: p50 and p99 of runs one after the other, and of such with a pause before each.

    What has run shortly before counts: a bare start in between takes the caches, and an idle processor has to wake up.
    """
    _run_until(_ROUND, command)  # what another command has pushed out of the caches comes back
    in_a_row = _run_until(_IN_A_ROW, command)
    alone = _run_until(_ALONE, command, _PAUSE_SECONDS)
    return statistics.median(in_a_row), _p99(in_a_row), statistics.median(alone), _p99(alone)


def _run_until(times: int, command: Command, pause_seconds: float = 0.0) -> list[float]:
    """Run it so often, or for as long as a call that takes long is given; milliseconds of each."""
    walls: list[float] = []
    limit = time.monotonic() + _ROUNDS_SECONDS
    while len(walls) < times and (len(walls) < _FEWEST or time.monotonic() < limit):
        time.sleep(pause_seconds)
        walls.append(run(command).wall * _MS)
    return walls


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[98]
