"""Trials as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from mutants import rooms
from mutants.trials import Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mutants.sites import Mutant


@dataclass
class Record:
    """A run: state of the tree, markers, tests left out since they fail without a mutant, and trials so far."""

    state: str
    markers: str
    left_out: dict[str, str] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)

    @property
    def survivors(self) -> list[Trial]:
        """The trials whose mutant no test noticed."""
        return [trial for trial in self.trials if trial.outcome == "survived"]


def read(path: Path) -> Record:
    """The record in a file. Raises OSError, ValueError."""
    document = json.loads(path.read_text())
    document["trials"] = [Trial(**trial) for trial in document["trials"]]
    return Record(**document)


def write(path: Path, record: Record) -> None:
    """Replace the file, at once."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(asdict(record), indent=1) + "\n")
    new.replace(path)


def table(trials: Iterable[Trial]) -> Iterator[str]:
    """A line for each distribution, and one for all."""
    counts: dict[str, Counter[str]] = {folder: Counter() for folder in (*rooms.DISTRIBUTIONS, "all")}
    for trial in trials:
        for row in (rooms.distribution(trial.file), "all"):
            counts[row][trial.outcome] += 1
    yield f"{'source':20} {'mutants':>8} {'killed':>8} {'survived':>9} {'timed out':>10} {'noticed':>8}"
    for row, count in counts.items():
        every = count.total()
        if every:
            noticed = f"{1 - count['survived'] / every:.0%}"
            numbers = f"{every:8} {count['killed']:8} {count['survived']:9} {count['timed out']:10}"
            yield f"{row:20} {numbers} {noticed:>8}"


def as_diff(changed: Trial | Mutant) -> str:
    """Where it stands, its operator, and the lines before and after."""
    old = [f"  - {line}" for line in changed.old.splitlines()]
    new = [f"  + {line}" for line in changed.new.splitlines()]
    return "\n".join([f"{changed.file}:{changed.line} {changed.operator}, in {changed.function}", *old, *new])


def progress(trial: Trial, place: int, count: int) -> str:
    """One line."""
    by = f" by {trial.test or trial.message} (phase {trial.phase})" if trial.phase else ""
    return f"[{place}/{count}] {trial.outcome:9} {trial.seconds:6.1f} s  {trial.id}{by}"


def comparison(now: Record, before: Record) -> Iterator[str]:
    """What survives now and did not before, and how many the other way round; of mutants that both runs tried."""
    tried = {likeness(trial) for trial in before.trials}
    survived = {likeness(trial) for trial in before.survivors}
    common = [trial for trial in now.trials if likeness(trial) in tried]
    lost = [trial for trial in now.survivors if trial in common and likeness(trial) not in survived]
    won = [trial for trial in common if trial.outcome != "survived" and likeness(trial) in survived]
    yield f"{len(common)} mutants in both: {len(lost)} survive only now, {len(won)} survived only before"
    yield from map(as_diff, lost)


def likeness(trial: Trial) -> tuple[str, ...]:
    """What stays of a mutant while other lines of its file come and go."""
    return trial.file, trial.function, trial.operator, trial.old, trial.new
