"""The records of DOIs that stand without a title: of Crossref, then of those that know what Crossref has not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_scholar.asking.panel import Opinion, ask_all
from ferrule_scholar.asking.scholar import Found, Scholar
from ferrule_scholar.asking.settings import share_of_patience
from ferrule_scholar.scholars.crossref import Crossref
from ferrule_scholar.scholars.openalex import OpenAlex
from ferrule_scholar.scholars.registration import Registry
from ferrule_scholar.works.identifiers import DOI, Identifier

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_scholar.asking.client import ScholarClient
    from ferrule_scholar.asking.panel import Task
    from ferrule_scholar.works.work import Work


class Records(NamedTuple):
    """What was found. works: by DOI. opinions: of all that were asked, in their order."""

    works: Mapping[str, Work]
    opinions: Sequence[Opinion]

    @property
    def failures(self) -> list[str]:
        """Sentences of those that gave no answer, or not for all DOIs."""
        return [one.error.message for one in self.opinions if one.error]


def find_records(dois: Sequence[str], context: Context) -> Records:
    """The records of DOIs: Crossref is asked for all at once, and the others side by side for what it did not give.

    doi.org knows every DOI, also those of data and preprints, which other agencies register. What a service has said
    before it failed counts.
    """
    works: dict[str, Work] = {}

    def ask_crossref(_: Scholar, client: ScholarClient) -> Found:
        found = Crossref().find_many(dois, client)
        works.update((one.doi, one) for one in found)
        return Found(found)

    opinions = ask_all({Crossref.name: Crossref()}, ask_crossref, context, share_of_patience(context, 1))
    missing = [doi for doi in dois if doi not in works]
    if missing:
        others: dict[str, Scholar] = {one.name: one for one in (OpenAlex(), Registry())}
        named: dict[str, dict[str, Work]] = {name: {} for name in others}
        opinions += ask_all(others, _make_task(missing, named), context, share_of_patience(context, 0))
        for found in reversed(named.values()):  # of two records, that of the first service counts
            works |= dict(found)
    return Records(works, opinions)


def _make_task(dois: Sequence[str], named: Mapping[str, dict[str, Work]]) -> Task:
    """A task that asks for one DOI after the other. named: takes what each service has, by its name."""

    def ask(scholar: Scholar, client: ScholarClient) -> Found:
        own = named[scholar.name]
        for doi in dois:
            work = scholar.record(Identifier(DOI, doi), client)
            if work is not None and work.title and work.doi == doi:
                own[doi] = work
        return Found(list(own.values()))

    return ask
