"""Records of several services: those of one paper become one, and papers get an order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ferrule_scholar.works.identifiers import are_versions, is_preprint_doi
from ferrule_scholar.works.titles import title_key, title_words
from ferrule_scholar.works.work import Work

_RANK_OFFSET = 60  # of reciprocal rank fusion: how little a first place counts for more than a second
_YEARS_APART = 3  # at most, of a preprint and the paper that it became
# Who is believed first where services differ: what publishers deposit, then what is curated, then what is gathered.
_ORDER = ("crossref", "pubmed", "europepmc", "openalex", "arxiv", "semanticscholar")


class Ranked(NamedTuple):
    """A record, and its place (from 1) in the answer of the service that it comes from."""

    work: Work
    rank: int


def merge(answers: Mapping[str, Sequence[Work]]) -> list[Work]:
    """The papers of all answers, each once, the best first.

    A paper's score is the sum of 1 / (60 + its place) over the services that found it; of equal scores, the one that is
    cited more comes first, then the newer one. answers: by the names of services, each in the service's own order.
    """
    groups: list[list[Ranked]] = []
    for works in answers.values():
        for rank, work in enumerate(works, start=1):
            groups = _add(groups, Ranked(work, rank))
    scored = [(sum(1 / (_RANK_OFFSET + rank) for rank in _best_ranks(group)), unite(group)) for group in groups]
    scored.sort(key=lambda pair: (-pair[0], -(pair[1].citations or 0), -pair[1].year, pair[1].title))
    return [work for _, work in scored]


def _add(groups: Sequence[list[Ranked]], record: Ranked) -> list[list[Ranked]]:
    """The groups with a record in it, which joins those that it belongs to.

    A record without an identifier of the publisher fits two papers of one title. It joins the nearest, and does not
    make one paper of both.
    """
    joined, others = [record], []
    for group in sorted(groups, key=lambda group: _distance(record.work, group)):
        is_of_it = any(is_same(record.work, one.work) for one in group) and _may_join(joined, group)
        if is_of_it:
            joined += group
        else:
            others.append(group)
    return [*others, joined]


def _distance(work: Work, group: Sequence[Ranked]) -> tuple[bool, int]:
    """How far a record is from a group: whether they share no identifier, and the years between them."""
    years = [abs(work.year - one.work.year) for one in group if work.year and one.work.year]
    return not any(_share_identifier(work, one.work) for one in group), min(years, default=0)


def _may_join(one: Sequence[Ranked], other: Sequence[Ranked]) -> bool:
    """Whether two groups share an identifier, or have none that contradicts one of the other group."""
    pairs = [(left.work, right.work) for left in one for right in other]
    return any(_share_identifier(*pair) for pair in pairs) or not any(_is_contradicted(*pair) for pair in pairs)


def _share_identifier(one: Work, other: Work) -> bool:
    return bool(set(one.identifiers) & set(other.identifiers))


def is_same(one: Work, other: Work) -> bool:
    """Whether two records are of one paper: by an identifier, else by title, where year and first author agree."""
    if _share_identifier(one, other):
        return True
    key = title_key(one.title)
    if not key or key != title_key(other.title) or _is_contradicted(one, other):
        return False
    if one.year and other.year and abs(one.year - other.year) > _YEARS_APART:
        return False
    if not one.authors or not other.authors:
        return True
    return bool(set(_family(one)) & set(_family(other)))


def unite(group: Iterable[Ranked]) -> Work:
    """One record of several: each part from the service that is believed first, of those that know it."""
    works = sorted((one.work for one in group), key=_trust)
    parts = ([getattr(work, name) for work in works] for name in Work._fields)
    united = Work._make(next(filter(None, values), values[0]) for values in parts)
    counts = [work.citations for work in works if work.citations is not None]
    notices = [work.notice for work in works if work.notice]
    return united._replace(
        doi=_pick_doi(works),
        authors=max((work.authors for work in works), key=_detail),
        citations=max(counts, default=None),
        notice=max(notices, key=lambda one: (one["retracted"], len(one)), default=None),
        sources=tuple(dict.fromkeys(name for work in works for name in work.sources)),
    )


def _best_ranks(group: Iterable[Ranked]) -> list[int]:
    """The best place that each service gave it."""
    best: dict[str, int] = {}
    for work, rank in group:
        name = work.sources[0] if work.sources else ""
        best[name] = min(rank, best.get(name, rank))
    return list(best.values())


def _is_contradicted(one: Work, other: Work) -> bool:
    """Whether each has an identifier of a kind that the other has with another value. A preprint's DOI is its own."""
    if one.doi and other.doi and one.doi != other.doi and not _may_be_versions(one.doi, other.doi):
        return True
    pairs = ((one.arxiv, other.arxiv), (one.pmid, other.pmid))
    return any(left and right and left != right for left, right in pairs)


def _may_be_versions(one: str, other: str) -> bool:
    """Whether one DOI may be of a preprint of what the other is of: a server gives each one DOI, but for versions."""
    if not (is_preprint_doi(one) or is_preprint_doi(other)):
        return False
    return one.partition("/")[0] != other.partition("/")[0] or are_versions(one, other)


def _family(work: Work) -> list[str]:
    """The words of the first author's names: services differ in which of them is the family's."""
    name = work.authors[0]
    return [word for word in title_words(f"{name.family} {name.given}") if len(word) > 1]


def _pick_doi(works: Sequence[Work]) -> str:
    found = [work.doi for work in works if work.doi]
    return next((doi for doi in found if not is_preprint_doi(doi)), found[0] if found else "")


def _detail(authors: tuple[object, ...]) -> tuple[int, int]:
    """All authors rather than some, and then full given names rather than initials."""
    return len(authors), sum(len(str(getattr(name, "given", "")).replace(".", "")) > 2 for name in authors)


def _trust(work: Work) -> tuple[int, str]:
    name = work.sources[0] if work.sources else ""
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)
