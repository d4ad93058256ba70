"""How strong the tests are: small changes of the source, one at a time, and how many of them some test notices.

Usage: python bench/mutation.py [--seed N] [--count N] [-m MARKERS] [--json FILE] [--compare OLD.json]
       python bench/mutation.py --only-survivors OLD.json | --mutants-of OLD.json

The tree that the script is in is changed while it runs, and must be as committed; nobody may work in it meanwhile.
The package coverage has to be there (`python -m pip install coverage`). The first run measures what each test executes
and keeps it (--reference). A mutant is first put to the quickest tests that execute its line, and if these all pass to
more of them and to tests of its room that start processes. With --json, what is in the file is not tried again; where
--only-survivors names the same file, its survivors are, which with a larger --budget is a second, longer look at them.
"""

from __future__ import annotations

import argparse
import signal
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mutants import report, rooms
from mutants.reference import is_tree_clean, reference, state, write
from mutants.report import Record
from mutants.runs import ROOT
from mutants.sites import chosen, mutants
from mutants.trials import Court

if TYPE_CHECKING:
    from mutants.reference import Reference
    from mutants.sites import Mutant
    from mutants.trials import Trial


def main() -> None:
    """Choose, try, print."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    options = read_options()
    if not is_tree_clean():
        sys.exit("Sources or tests are not as committed; a run that was killed may have left a mutant (git diff).")
    wanted = choose(options)
    if options.list:
        print(*map(report.as_diff, wanted), sep="\n")
        return
    record = begin(options)
    known = reference(options.reference, options.markers)
    try_all(wanted, record, known, options)
    print_report(record, options)


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200, help="mutants, by the weights (default %(default)s)")
    weights = ",".join("1" for _ in rooms.DISTRIBUTIONS)
    parser.add_argument("--weights", default=weights, help=f"of {', '.join(rooms.DISTRIBUTIONS)}")
    parser.add_argument("-m", "--markers", default="not index", help="tests that count, as for pytest -m")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests in the second phase")
    parser.add_argument("--json", type=Path, help="where to keep everything; what is there is not tried again")
    parser.add_argument("--reference", type=Path, help="where to keep what tests execute (default: beside --json)")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="say what survives now and did not there")
    parser.add_argument("--only-survivors", type=Path, metavar="OLD.json", help="only mutants that survived there")
    parser.add_argument("--mutants-of", type=Path, metavar="OLD.json", help="only mutants that were tried there")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    options = parser.parse_args()
    beside = options.json or ROOT / "bench" / ".cache" / "mutation.json"
    options.reference = options.reference or beside.with_suffix(".reference.json")
    options.reference.parent.mkdir(exist_ok=True)
    return options


def begin(options: argparse.Namespace) -> Record:
    """The record that goes on: the one in the file, or a new one."""
    now = state(options.markers)
    if options.json is None or not options.json.exists():
        return Record(now, options.markers)
    record = report.read(options.json)
    if record.state != now:
        sys.exit(f"{options.json} is of other sources, tests or markers; name another file, or remove it.")
    return record


def choose(options: argparse.Namespace) -> list[Mutant]:
    """The mutants to try, of this tree."""
    every = {folder: mutants(ROOT, folder) for folder in rooms.DISTRIBUTIONS}
    if options.only_survivors:
        return matching(every, report.read(options.only_survivors).survivors)
    if options.mutants_of:
        return matching(every, report.read(options.mutants_of).trials)
    weights = [float(weight) for weight in options.weights.split(",")]
    shares = [round(options.count * weight / sum(weights)) for weight in weights]
    pairs = zip(every.values(), shares, strict=True)
    return [mutant for found, share in pairs for mutant in chosen(ROOT, found, options.seed, share)]


def matching(every: dict[str, list[Mutant]], trials: list[Trial]) -> list[Mutant]:
    """The mutants of earlier trials in this tree, where their lines still are; says on stderr which are gone."""
    found: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in chain.from_iterable(every.values()):
        found.setdefault(mutant.likeness, []).append(mutant)
    wanted = []
    for trial in trials:
        alike = found.get(report.likeness(trial), [])
        if alike:
            wanted.append(min(alike, key=lambda mutant: abs(mutant.line - trial.line)))
        else:
            print(f"gone: {trial.id}", file=sys.stderr)
    return wanted


def try_all(wanted: list[Mutant], record: Record, known: Reference, options: argparse.Namespace) -> None:
    """Try what is not in the record yet, and write each trial as soon as it is known."""
    court = Court(known, options.markers, options.budget)
    while court.check(wanted):
        write(options.reference, known)
    record.left_out = known.failed
    is_second_try = options.only_survivors is not None and options.only_survivors == options.json
    done = set() if is_second_try else {trial.id for trial in record.trials}
    for place, mutant in enumerate(wanted, 1):
        if mutant.id in done:
            continue
        trial = court.try_mutant(mutant)
        record.trials = [*(other for other in record.trials if other.id != trial.id), trial]
        print(report.progress(trial, place, len(wanted)), file=sys.stderr, flush=True)
        if options.json:
            report.write(options.json, record)


def print_report(record: Record, options: argparse.Namespace) -> None:
    """The table, what survived, what was left out, and the comparison where one is asked for."""
    print("\n".join(report.table(record.trials)))
    for trial in record.survivors:
        print(f"\n{report.as_diff(trial)}")
    if record.left_out:
        print("\nLeft out, since they fail without a mutant:", *record.left_out, sep="\n")
    if options.compare:
        print("", *report.comparison(record, report.read(options.compare)), sep="\n")


if __name__ == "__main__":
    main()
