"""What came out wrong, for those who write the converter."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

from markdown.reading.trees import outline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markdown.reading.features import Bag
    from markdown.reading.judging import Judgement
    from markdown.reading.trips import Trip


def of_trips(converter: str, trips: Sequence[Trip], most: int) -> str:
    """Cases with their HTML, the markdown that came out, the tree that was expected and the one that it means."""
    failed = sorted((trip for trip in trips if not trip.strict), key=lambda trip: trip.loose)
    counts = Counter(trip.case.name.rsplit(" ", 1)[0] for trip in failed)
    summary = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    return "\n".join([f"=== {converter}: {summary}", *(_trip(converter, trip) for trip in failed[:most])])


def of_pages(converter: str, judgements: Sequence[Judgement], most: int) -> str:
    """The worst pages, with what their markdown leaves out or makes up."""
    worst = sorted(judgements, key=lambda judgement: fmean(judgement.score.values()))
    return "\n".join(_page(converter, judgement) for judgement in worst[:most])


def _trip(converter: str, trip: Trip) -> str:
    parts = {
        "HTML": trip.case.html.rstrip("\n"),
        "markdown": trip.markdown,
        "expected": outline(trip.expected),
        "got": outline(trip.got),
        "this would do": trip.case.markdown.rstrip("\n"),
    }
    loosely = " (right but for loose and tight lists)" if trip.loose else ""
    sections = "".join(f"--- {title}\n{text}\n" for title, text in parts.items())
    return f"=== {converter}: {trip.case.name}{loosely}\n{sections}"


def _page(converter: str, judgement: Judgement) -> str:
    lines = [f"=== {converter}: {judgement.page} {fmean(judgement.score.values()):.3f}"]
    for kind, score in judgement.score.items():
        if score < 1:
            missing, wrong = (_most(bags, kind) for bags in (judgement.missing, judgement.wrong))
            lines += [f"--- {kind} {score:.3f}", f"missing: {missing}", f"wrong: {wrong}"]
    return "\n".join(lines) + "\n"


def _most(bags: Mapping[str, Bag], kind: str) -> str:
    return f"{bags[kind].total()}, " + ", ".join(repr(feature)[:120] for feature, _ in bags[kind].most_common(5))
