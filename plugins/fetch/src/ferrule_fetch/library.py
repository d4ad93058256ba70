"""Public: pages of the web for other plugins, under every guard of `web_fetch`. Import it inside `execute`.

    page = fetch(url, context)
    title, text = read_text(page, context.deadline)

The addresses, redirects, sizes, time and memory that `web_fetch` allows hold here as well. The environment variables
are the same ones (FERRULE_FETCH_ALLOW, FERRULE_FETCH_USER_AGENT, FERRULE_FETCH_ROBOTS, FERRULE_FETCH_CONTENT,
FERRULE_FETCH_PARSER); the keys `allow`, `user_agent`, `robots`, `content` and `parser` are read from the table of the
tool that is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from math import inf
from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule.text.invisible import without_invisible
    from ferrule_fetch.document import PageText, decode_page
    from ferrule_fetch.formats.media import ContentType, Format
    from ferrule_fetch.limits.conversion import convert_page
    from ferrule_fetch.limits.part import PartTooExpensive, bounded_part
    from ferrule_fetch.limits.reader import TooMuch
    from ferrule_fetch.transfer.http_errors import StatusError
    from ferrule_fetch.transfer.request import FetchOptions, Page
    from ferrule_fetch.transfer.resource import Resource, ResourceRequest
    from ferrule_fetch.tree.elements import Element

__all__ = [
    "ContentType",
    "Element",
    "FetchOptions",
    "Format",
    "Page",
    "PageText",
    "PartTooExpensive",
    "Resource",
    "ResourceRequest",
    "StatusError",
    "TooMuch",
    "bounded",
    "bounded_part",
    "check_url",
    "convert_page",
    "decode_page",
    "elements_of",
    "exchange",
    "fetch",
    "find_emptiness",
    "form_of",
    "import_reader",
    "is_thin",
    "is_wall",
    "is_whole",
    "read_article",
    "read_text",
    "without_invisible",
]

__getattr__ = attach(
    __name__,
    {
        "ContentType": "ferrule_fetch.formats.media",
        "Element": "ferrule_fetch.tree.elements",
        "FetchOptions": "ferrule_fetch.transfer.request",
        "Format": "ferrule_fetch.formats.media",
        "Page": "ferrule_fetch.transfer.request",
        "PageText": "ferrule_fetch.document",
        "PartTooExpensive": "ferrule_fetch.limits.part",
        "Resource": "ferrule_fetch.transfer.resource",
        "ResourceRequest": "ferrule_fetch.transfer.resource",
        "StatusError": "ferrule_fetch.transfer.http_errors",
        "TooMuch": "ferrule_fetch.limits.reader",
        "bounded_part": "ferrule_fetch.limits.part",
        "convert_page": "ferrule_fetch.limits.conversion",
        "decode_page": "ferrule_fetch.document",
        "without_invisible": "ferrule.text.invisible",
    },
)


def check_url(url: str, context: Context) -> str:
    """The URL as it is requested, judged as far as that goes without a request. Raises ToolError INVALID_URL."""
    from ferrule_fetch.addresses import check
    from ferrule_fetch.transfer.request_policy import RequestPolicy

    return str(check(url, RequestPolicy.from_context(context).guard))


def fetch(
    url: str,
    context: Context,
    *,
    deadline: float | None = None,
    options: FetchOptions | None = None,
    is_page: bool = True,
) -> Page:
    """Get what is at a URL, following redirects.

    Args:
        deadline: an earlier one than the call's.
        options: which answers are read, by default text.
        is_page: False for the data of an API, which robots.txt is not about, which no reader has to be imported for,
            and of which a part is worth nothing.

    Raises:
        ToolError: INVALID_URL, NETWORK_ERROR, PARSE_ERROR for an answer that is not readable, and StatusError
        (HTTP_ERROR) for a status of 400 and above.
    """
    from ferrule_fetch.call import fetch_page
    from ferrule_fetch.transfer.request import DEFAULT_OPTIONS
    from ferrule_fetch.transfer.request import fetch as get
    from ferrule_fetch.transfer.request_policy import RequestPolicy

    policy = RequestPolicy.from_context(context)
    until = context.deadline if deadline is None else min(deadline, context.deadline)
    if is_page:
        return fetch_page(url, until, policy, options)
    whole = (options or DEFAULT_OPTIONS)._replace(may_be_partial=False)
    return get(url, until, policy._replace(robots=False), whole)


def exchange(
    request: ResourceRequest, context: Context, *, asked_by: str, deadline: float, max_bytes: int = 8 << 20
) -> Resource:
    """Send one request of a page's scripts, under the guard, and follow no redirect.

    Args:
        asked_by: the URL of the page. It may name public addresses alone, and its own server where that is none by its
            name.
        deadline: an earlier one than the call's.
        max_bytes: of the body that are read.

    Raises:
        ToolError: INVALID_URL and NETWORK_ERROR. A status of 400 and above is an answer as any other.
    """
    from ferrule_fetch.transfer import resource
    from ferrule_fetch.transfer.request_policy import RequestPolicy, restrict

    policy = restrict(RequestPolicy.from_context(context), request.url, asked_by)
    return resource.exchange(request, min(deadline, context.deadline), policy, max_bytes)


def import_reader() -> None:
    """Import what gets and reads pages, before copies of this process do that, which then need not. Raises nothing."""
    from ferrule_fetch import call

    call.import_reader()
    try:
        import ferrule_fetch.transfer.request  # noqa: F401 - it is used in the copies
    except Exception:  # noqa: BLE001 - it is raised again where it is needed
        return


def form_of(page: Page) -> Format:
    """In which way the text of a page is read."""
    from ferrule_fetch.document import find_format

    return find_format(page)


def read_text(page: Page, deadline: float) -> tuple[str, str]:
    """The title and the text of a page, all of it in the page's own order. deadline: of `time.monotonic()`.

    Raises ToolError PARSE_ERROR, which says what it is, for what has no text that can be read.
    """
    from ferrule_fetch import document

    return document.read_text(page, deadline)[:2]


def read_article(page: Page, context: Context, max_chars: float = inf) -> PageText:
    """The text of a page's main content, and apart from it what surrounds that. Raises as `read_text` does.

    All is main content where none was found, and where the administrator wants pages as they are. max_chars: how much
    of a long document is wanted.
    """
    from ferrule_fetch import document
    from ferrule_fetch.reading_policy import ReadingPolicy
    from ferrule_fetch.text.wanted import Wanted

    wanted = Wanted(max_chars=max_chars)
    return document.read_text(page, context.deadline, ReadingPolicy.from_context(context), wanted)


def is_wall(text: str, title: str, html: str) -> bool:
    """Whether a page is there to keep robots out. text, title: what was read of it. html: of the page."""
    from ferrule_fetch.emptiness import walls

    return walls.is_wall(text, title, html)


def is_thin(text: str, html: str) -> bool:
    """Whether a page says so little for its HTML that scripts or frames have to bring the rest."""
    from ferrule_fetch.emptiness import walls

    return len(text.encode()) < walls.MIN_PAGE_BYTES or walls.is_shell(text, html)


def find_emptiness(read: PageText, html: str, url: str) -> str:
    """Why there is nothing to be read on a page, and what to do, as a clause; "" for a page that says something.

    read: what was read of it. html: of the page, which was found at `url`.
    """
    from ferrule_fetch.emptiness.reasons import find_reason
    from ferrule_fetch.emptiness.walls import is_empty

    return find_reason(html, url, read.title, read.whole()) if is_empty(read.whole(), html) else ""


def is_whole(page: Page, text: str) -> bool:
    """Whether a text of `read_text`, or the last one of `read_article`, is all there was to read."""
    from ferrule_fetch.limits.conversion import BEGINNING, PLAIN

    return not (page.missing or text.startswith(PLAIN) or text.endswith(BEGINNING))


def elements_of(html: str, names: Collection[str]) -> Iterator[Element]:
    """The elements of these names in a page, with their attributes, and the text of scripts. Call it within `bounded`.

    Those in comments and templates are none. Names are in small letters.
    """
    from ferrule_fetch.tree.elements import elements
    from ferrule_fetch.tree.parsers import parse

    return elements(parse(html), names)


def bounded(
    work: Callable[[], str], refusal: type[Exception] | None = None, *, seconds: float, deadline: float | None = None
) -> str:
    """The text that `work` returns, from a process of its own with the limits of a conversion.

    Args:
        seconds: of the processor's time.
        deadline: an instant of `time.monotonic()` by which the caller has to be done. No other thread may be importing
            anything.

    Raises:
        The `refusal` that the work raises, with its message, and TooMuch where it passes a limit or fails in any other
        way; its `limit` names that limit.
    """
    from ferrule_fetch.limits.reader import TooMuch, bounded_reading

    until = inf if deadline is None else deadline
    return bounded_reading(lambda: (work(),), refusal or TooMuch, deadline=until, seconds=seconds)[0]
