"""One call: the address is checked, then the cheapest way is taken that gives the text of what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule import Context, ToolError
from ferrule_research.page.errors import told
from ferrule_research.page.request import Request

if TYPE_CHECKING:
    from ferrule_research.page.content import Reading


def scrape(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    request = Request.of(arguments)
    with told(request.url):
        url = _checked(request.url, context)
        from ferrule_research.page.answer import answer_of, raw_answer_of

        if request.mode == "raw":
            from ferrule_research.page.sources.raw import read_raw

            return raw_answer_of(read_raw(url, context, request.max_length), request, context)
        return answer_of(_read(url, context), request, context)


def _checked(url: str, context: Context) -> str:
    """The URL as it is given, once it is sure that it may be asked for; the client is imported only then."""
    from ferrule_fetch.library import check_url

    check_url(url, context)
    return url.strip()


def _read(url: str, context: Context) -> Reading:
    from ferrule_research.page.sources.url_kinds import place_of, watch_url
    from ferrule_research.page.sources.web_page import read_page

    if place := place_of(url):
        from ferrule_research.page.sources.hackernews import read_place

        try:
            return read_place(place, url, context)
        except ToolError as error:
            if error.details:  # it is not there; where the API fails, the page itself may be
                raise
    if video := watch_url(url):
        from ferrule_research.page.sources.youtube import read_video

        if reading := read_video(video, context):
            return reading
    return read_page(url, context)
