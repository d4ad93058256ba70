"""What a conversion costs: processor time over the pages, converters in turn, and the memory that a process needs."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown.programs.converters import OURS, PEERS
from markdown.sources.pages import LARGEST, Page, pages
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown.options import Options
    from markdown.programs.workers import Answer, Worker

_ROUNDS = 3
_MIB = 1024.0
_SIZES = (10_000, 50_000, 200_000)  # bytes, at which the pages are parted
_UNIT, _FLOOR = "markdownify", "lexbor parsed and walked in C"


class _Timed(NamedTuple):
    """A page, its size in bytes, and the seconds that each converter took."""

    size: int
    seconds: dict[str, float]


def speed(options: Options) -> Iterator[Table]:
    """Every converter on each page in turn, so that a busy machine slows all of them; the best of the rounds counts."""
    corpus = list(pages())
    with contextlib.ExitStack() as stack:
        timed = _timed(options.converters.all(stack, floors=True), corpus)
    for most in (*_SIZES, LARGEST):
        least = max((size for size in _SIZES if size < most), default=0)
        yield _table([page for page in timed if least < page.size <= most], f"pages up to {most / 1000:.0f} kB")
    yield _table(timed, "all pages")


def _table(timed: Sequence[_Timed], which: str) -> Table:
    names = list(timed[0].seconds) if timed else []
    seconds = {name: sum(page.seconds[name] for page in timed) for name in names}
    unit, floor = seconds.get(_UNIT), seconds.get(_FLOOR)
    size = sum(page.size for page in timed) / 1e6
    rows = [
        Row(name, (size / cost, unit / cost if unit else None, cost / floor if floor else None))
        for name, cost in seconds.items()
    ]
    note = f"processor time of whole conversions, str to markdown, {which}: {len(timed)}, {size:.1f} MB; lexbor: in C"
    return Table("speed", note, ("MB/s", f"times {_UNIT}", "times lexbor's cost"), rows, decimals=2)


def memory(options: Options) -> Iterator[Table]:
    """Every converter over all pages, in a process of its own."""
    corpus = list(pages())
    rows = []
    for name in (*OURS, *PEERS):
        with contextlib.ExitStack() as stack:
            worker = options.converters.one(name, stack)
            if worker:
                rows.append(Row(name, _peaks(worker, corpus)))
    note = "most MiB that a process held: once it was ready, after all pages, and the difference"
    yield Table("memory", note, ("ready", "at most", "more"), rows)


def _timed(workers: Sequence[Worker], corpus: Sequence[Page]) -> list[_Timed]:
    """The pages that everybody converts, each with the seconds of the fastest conversion by every converter."""
    timed = []
    for index, page in enumerate(corpus, 1):
        answers = [[worker.convert(page.html, page.url) for worker in workers] for _ in range(_ROUNDS)]
        failed = _errors(workers, answers)
        if failed:
            print(f"{page.name} is left out: {failed}", file=sys.stderr)
            continue
        seconds = {worker.name: min(row[at].seconds for row in answers) for at, worker in enumerate(workers)}
        timed.append(_Timed(len(page.html.encode()), seconds))
        if index % 20 == 0:
            print(f"speed: {index} of {len(corpus)} pages …", file=sys.stderr)
    return timed


def _errors(workers: Sequence[Worker], answers: Sequence[Sequence[Answer]]) -> dict[str, str]:
    rows = (zip(workers, row, strict=True) for row in answers)
    return {worker.name: answer.error for row in rows for worker, answer in row if answer.error}


def _peaks(worker: Worker, corpus: Sequence[Page]) -> tuple[float, float, float]:
    ready = _high_water(worker.pid)
    for page in corpus:
        worker.convert(page.html, page.url)
    peak = _high_water(worker.pid)
    return ready, peak, peak - ready


def _high_water(pid: int) -> float:
    """The most that a process has held, in MiB, of its own and not of the one that started it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / _MIB
