"""Round trip and fuzz: of how many cases the markdown means what the HTML did."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from markdown import failures
from markdown.programs.converters import PEERS
from markdown.reading.trips import Trip, meetable, trips
from markdown.sources import examples, fuzz
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from markdown.options import Options
    from markdown.programs.workers import Worker
    from markdown.sources.examples import Case

Trips = Mapping[str, Mapping[str, Sequence[Trip]]]
"""By the names of converters, and of sets of cases."""


def roundtrip(options: Options) -> Iterator[Table]:
    """The examples of the specifications."""
    sets = {"CommonMark": _chosen(examples.commonmark(), options), "GFM": _chosen(examples.gfm(), options)}
    counts = " and ".join(f"{len(cases)} {name}" for name, cases in sets.items())
    done = _all_trips(sets, options)
    rows = [
        Row(name, [figure for made in by_set.values() for figure in (_strict(made), _loose(made))])
        for name, by_set in done.items()
    ]
    columns = [f"{name} {how}" for name in sets for how in ("strict", "loose")]
    note = f"% of {counts} examples that come back as they were, aim 99; loose: but for loose and tight lists"
    yield Table("roundtrip", note, columns, rows)


def fuzzed(options: Options) -> Iterator[Table]:
    """Random texts in all contexts. Whether a list is loose is none of their business."""
    sets = {"fuzz": _chosen(fuzz.cases(), options)}
    done = _all_trips(sets, options)
    rows = [Row(name, [_loose(by_set["fuzz"])]) for name, by_set in done.items()]
    note = f"% of {len(sets['fuzz'])} seeded texts full of markup characters that come back as they were, aim 99.5"
    yield Table("fuzz", f"{note}; {len(fuzz.CONTEXTS)} contexts", ["all"], rows, decimals=2)


def _chosen(cases: Iterable[Case], options: Options) -> list[Case]:
    return meetable(case for case in cases if options.grep in case.name)


def _strict(made: Sequence[Trip]) -> float | None:
    return 100 * sum(trip.strict for trip in made) / len(made) if made else None


def _loose(made: Sequence[Trip]) -> float | None:
    return 100 * sum(trip.loose for trip in made) / len(made) if made else None


def _all_trips(sets: Mapping[str, Sequence[Case]], options: Options) -> Trips:
    """The trips of every converter. Failures of ours are shown as soon as they are known."""
    with contextlib.ExitStack() as stack:
        done = {worker.name: _trips_of(worker, sets, options) for worker in options.converters.all(stack)}
    _say_unmet(sets, done)
    return done


def _say_unmet(sets: Mapping[str, Sequence[Case]], done: Trips) -> None:
    """Show the cases that nobody meets, since such a case may be a mistake of the measure."""
    if not done.keys() & PEERS.keys():
        return
    met = {trip.case for by_set in done.values() for made in by_set.values() for trip in made if trip.loose}
    for case in (case for cases in sets.values() for case in cases if case not in met):
        print(f"met by none: {case.name}: {case.html!r}, though {case.markdown!r} means it", file=sys.stderr)


def _trips_of(worker: Worker, sets: Mapping[str, Sequence[Case]], options: Options) -> dict[str, list[Trip]]:
    print(f"{worker.name}: there and back …", file=sys.stderr)
    by_set = {name: list(trips(worker, cases)) for name, cases in sets.items()}
    errors = [trip.error for made in by_set.values() for trip in made if trip.error]
    if errors:
        print(f"{worker.name}: {len(errors)} cases end in an error, the first in {errors[0]}", file=sys.stderr)
    if options.failures and worker.name.startswith("ours"):
        for made in by_set.values():
            print(failures.of_trips(worker.name, made, options.failures), file=sys.stderr)
    return by_set
