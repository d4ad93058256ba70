"""A page that has been read: its text, and what there is to judge it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.page.metadata.embedded import NOTHING, Source

if TYPE_CHECKING:
    from ferrule_research.page.metadata.bibliography import Facts


class Reading(NamedTuple):
    """What a page gave.

    url: where it was found, after redirects. kind: what `contentType` says. tier: the way in which the text was had,
    "" where that has no name. quality: "complete" or "partial". source: what the page says of itself. facts: who, what,
    where and when. same_as_fetched: whether `web_fetch` gives the same text, so that it can give the rest.
    """

    url: str
    kind: str
    text: str
    facts: Facts
    source: Source = NOTHING
    tier: str = ""
    quality: str = "complete"
    same_as_fetched: bool = False
