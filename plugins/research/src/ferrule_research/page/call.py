"""One call: the address is checked, then the cheapest way is taken that gives the text of what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, JSONObject, ToolError
from ferrule_research.page.errors import translate_errors
from ferrule_research.page.request import Request

if TYPE_CHECKING:
    from ferrule_research.page.content import PageContent
    from ferrule_research.page.metadata.bibliography import Bibliography


def scrape(arguments: JSONObject, context: Context) -> JSONObject:
    """Do what `execute` promises. The client is imported only once it is sure that the URL may be asked for."""
    request = Request.of(arguments)
    if not request.session:
        return _scrape(request, context)
    from ferrule_research.page.session_record import recording_failures

    with recording_failures(request):
        return _scrape(request, context)


def _scrape(request: Request, context: Context) -> JSONObject:
    from ferrule_fetch.library import check_url

    with translate_errors(request.url):
        check_url(request.url, context)
        url = request.url.strip()
        from ferrule_research.page.answer import build_answer, build_raw_answer

        if request.mode == "raw":
            from ferrule_research.page.sources.raw import read_raw

            raw = read_raw(url, context, request.max_length)
            return build_raw_answer(raw, _record(request, raw.url), context)
        page = read_content(url, context, request.max_length)
        return build_answer(page, _record(request, page.url, page.bibliography), context)


def _record(request: Request, url: str, work: Bibliography | None = None) -> Request:
    """The request, with the reason why its session has not recorded the page, if there is one."""
    if not request.session:
        return request
    from ferrule_research.page.session_record import record_page

    return request._replace(unrecorded=record_page(request.session, url, work))


def read_content(url: str, context: Context, max_chars: int) -> PageContent:
    """What is at a URL that may be asked for: as it was read lately, or else now. Raises ToolError.

    max_chars: of a long document. A page that was not read whole is read anew.
    """
    from ferrule_research.page.kept_pages import KeptPages

    kept = KeptPages.of(context)
    if kept and (found := kept.find(url)):
        return found.content._replace(kept_seconds=found.seconds)
    content = _read_now(url, context, max_chars)
    if kept:
        kept.keep(url, content)
    return content


def _read_now(url: str, context: Context, max_chars: int) -> PageContent:
    """What is at a URL, read in the way that is for it. Raises ToolError."""
    from ferrule_research.page.sources.url_kinds import hacker_news_place, watch_url
    from ferrule_research.page.sources.web_page import read_page

    if place := hacker_news_place(url):
        from ferrule_research.page.sources.hackernews import read_hacker_news

        try:
            return read_hacker_news(place, url, context)
        except ToolError as error:
            if error.details:  # it is not there; where the API fails, the page itself may be
                raise
    if video := watch_url(url):
        from ferrule_research.page.sources.youtube import read_video

        if content := read_video(video, context):
            return content
    return read_page(url, context, max_chars)
