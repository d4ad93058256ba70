"""A page that has been read: its text, and what there is to judge it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.page.metadata.embedded import NO_DATA, EmbeddedData

if TYPE_CHECKING:
    from ferrule_research.page.metadata.bibliography import Bibliography


class PageContent(NamedTuple):
    """What a page gave.

    url: where it was found, after redirects. kind: what `contentType` says. embedded: what the page says of itself for
    machines. extracted_by: the way in which the text was had, "" where that has no name. quality: "complete" or
    "partial". same_as_fetched: whether `web_fetch` gives the same text, so that it can give the rest.
    browser_failure: why the page is read without the browser, which was asked for it; "" for none. kept_seconds: how
    long ago it was read, where an earlier call has read it; None for one that was read now.
    """

    url: str
    kind: str
    text: str
    bibliography: Bibliography
    embedded: EmbeddedData = NO_DATA
    extracted_by: str = ""
    quality: str = "complete"
    same_as_fetched: bool = False
    browser_failure: str = ""
    kept_seconds: float | None = None
