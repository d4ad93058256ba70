"""A fetched page as text: HTML becomes markdown, as feeds and documents do; other text stays what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.text.invisible import without_invisible
from ferrule_fetch.emptiness.walls import is_empty, may_be_empty
from ferrule_fetch.formats.documents.kinds import WORDS, document_format
from ferrule_fetch.formats.magic_bytes import is_binary, kind_by_signature
from ferrule_fetch.formats.media import XHTML, Format, format_of
from ferrule_fetch.limits.conversion import AS_IT_STANDS, convert_page
from ferrule_fetch.reading_policy import ARTICLE
from ferrule_fetch.text.charsets import decode
from ferrule_fetch.text.lines import Document, Lines
from ferrule_fetch.text.wanted import Wanted
from ferrule_fetch.transfer.http_errors import no_words, not_text, unreadable_document

if TYPE_CHECKING:
    from ferrule_fetch.reading_policy import ReadingPolicy
    from ferrule_fetch.transfer.request import Page

ALL = Wanted()
"""Of a document, to its end."""

MAX_TITLE_CHARS = 500
REST_HEADING = "## Rest of the page"
_MAX_SHELL_CHARS = 8_000  # of a page that may have hardly any words, with the addresses of its links
_TEXTS = frozenset({Format.HTML, Format.JSON, Format.XML, Format.TEXT, Format.CSV})
_UTF_16 = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")  # a byte order mark, or the beginning of markup


class PageText(NamedTuple):
    """What a page says. title: one line. text: of its main content, or of all. rest: what surrounds the main content.

    Lines end in line feeds. source: where the text is from, as `embedded_data` names it, such as "json-ld", or "ocr"
    where text recognition has read it; "" where it is that of the page itself. authors, date: as a document has them,
    empty for what is none. is_whole: False where a document goes on behind what was wanted of it.
    """

    title: str
    text: str
    rest: str = ""
    source: str = ""
    authors: str = ""
    date: str = ""
    is_whole: bool = True

    def whole(self) -> str:
        """All text: the main content, and behind a heading what surrounds it."""
        return f"{self.text}\n\n{REST_HEADING}\n\n{self.rest}" if self.rest else self.text


def read(page: Page, deadline: float, reading: ReadingPolicy, wanted: Wanted = ALL) -> Document:
    """Convert a page by `deadline`, an instant of `time.monotonic()`, or a long document as far as it is wanted.

    Raises ToolError PARSE_ERROR, which says what it is, for what has no text that can be read, and why, for a page
    without words.
    """
    read = _require_words(read_text(page, deadline, reading, wanted), page)
    main = read.text.count("\n") + 1 if read.rest and reading.content == ARTICLE else 0
    return Document(read.title, Lines(read.whole()), main, read.is_whole)


def _require_words(read: PageText, page: Page) -> PageText:
    """What was read of a page, if it says anything. Raises ToolError PARSE_ERROR, which says why it does not.

    What a page says to machines alone has its place here: between the look for words and the look for a reason.
    """
    whole = read.whole()
    if page.missing or not may_be_empty(whole):
        return read
    is_html = find_format(page) is Format.HTML
    html = decode_page(page, html=True) if is_html else ""
    if not (is_empty(whole, html) if is_html else not whole.strip()):
        return read
    from ferrule_fetch.emptiness.reasons import find_reason

    named = f' "{read.title}"' if read.title else ""
    why = find_reason(html, page.url, read.title, whole) if is_html or not page.body else "it is not empty, but blank"
    raise no_words(f"the page{named} has no words: {why}")


def read_text(page: Page, deadline: float, reading: ReadingPolicy = AS_IT_STANDS, wanted: Wanted = ALL) -> PageText:
    """The title and the text of a page. The arguments are those of `read`. Raises as `read` does."""
    form = find_format(page)
    if form in _TEXTS and (kind := _binary_kind(page, form)):
        raise not_text(kind, page.type.type, page.size)
    found = _read_as(form, page, deadline, reading, wanted)
    text, rest = _with_line_feeds(found.text), _with_line_feeds(found.rest)
    if page.missing:
        note = f"\n\n[The page goes on: {page.missing}.]"
        text, rest = (text, rest + note) if rest else (text + note, "")
    title = found.title
    if len(title) > MAX_TITLE_CHARS:
        title = title[: MAX_TITLE_CHARS - 1] + "…"
    return found._replace(title=title, text=text, rest=rest)


def find_format(page: Page) -> Format:
    """In which way a page is read."""
    return document_format(page.type, page.body, page.url) or format_of(page.type, page.body, page.url)


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _read_as(form: Format, page: Page, deadline: float, reading: ReadingPolicy, wanted: Wanted) -> PageText:
    """The text of a page as it is converted. What only one format needs is imported where it comes."""
    if form is Format.PDF:
        return _read_pdf(page, deadline, wanted)
    if form not in _TEXTS:
        return _read_document(form, page, deadline)
    text = decode_page(page, html=form is Format.HTML)
    if form is Format.HTML:
        return _with_embedded(PageText(*convert_page(text, page.url, deadline, reading)), text, page.url, deadline)
    if form is Format.XML:
        return PageText(*_xml(text, page.url, deadline))
    if form is Format.JSON:
        from ferrule_fetch.formats.line_breaks import readable_json

        text = readable_json(text)
    if form is Format.CSV:
        from ferrule_fetch.formats.documents.separated import read_table

        text = read_table(text, deadline)
    return PageText("", without_invisible(text))


def _with_embedded(read: PageText, html: str, url: str, deadline: float) -> PageText:
    """The text of a page, and behind it that of its data where it has hardly any words."""
    if len(read.text) + len(read.rest) > _MAX_SHELL_CHARS:
        return read
    from ferrule_fetch.embedded_data import read_embedded

    embedded = read_embedded(html, url, read.whole(), deadline)
    if not embedded:
        return read
    return PageText(read.title, "\n\n".join(filter(None, [read.whole(), embedded.markdown])), source=embedded.source)


def decode_page(page: Page, *, html: bool) -> str:
    """A body as text. html: it is HTML, or XHTML, which is spelt as HTML then."""
    text = decode(page.body, page.type.charset, html=html, complete=not page.missing, url=page.url)
    if html and page.type.type == XHTML:
        from ferrule_fetch.formats.xhtml import as_html

        return as_html(text)
    return text


def _xml(text: str, url: str, deadline: float) -> tuple[str, str]:
    from ferrule_fetch.formats.feeds import NotAFeed, bounded_feed_as_markdown
    from ferrule_fetch.formats.line_breaks import readable_xml

    try:
        title, text = bounded_feed_as_markdown(text, url, deadline)
    except NotAFeed:
        title, text = "", readable_xml(text)
    return without_invisible(title), without_invisible(text)


def _read_pdf(page: Page, deadline: float, wanted: Wanted) -> PageText:
    from ferrule_fetch.formats.pdf import read_pdf
    from ferrule_fetch.formats.pdf.errors import UnreadablePDF

    try:
        found = read_pdf(page.body, page.url, deadline, wanted)
    except UnreadablePDF as error:
        what = f"{error}, of which there is more: {page.missing}" if page.missing else str(error)
        raise not_text(what, page.type.type, page.size) from None
    title, authors = without_invisible(found.title), without_invisible(found.authors)
    source = "ocr" if found.is_recognised else ""
    return PageText(title, found.text, source=source, authors=authors, date=found.date, is_whole=found.is_whole)


def _read_document(form: Format, page: Page, deadline: float) -> PageText:
    from ferrule_fetch.formats.documents.archive import UnreadableDocument
    from ferrule_fetch.formats.documents.readers import read_document

    try:
        title, text, authors, date = read_document(form, page.body, page.url, deadline)
    except UnreadableDocument as error:
        what = f"{error}, and there is more: {page.missing}" if page.missing else str(error)
        raise unreadable_document(WORDS[form], what, page.type.type, page.size) from None
    return PageText(title, text, authors=authors, date=date)


def _binary_kind(page: Page, form: Format) -> str | None:
    """What a body is that is no text, in words; None for what may be text."""
    if kind := kind_by_signature(page.body):
        return kind
    # browsers overlook the null characters of HTML, and in UTF-16 they are half of every letter
    may_hold_nulls = form is Format.HTML or page.type.charset.lower().startswith(("utf-16", "ucs-2", "unicode"))
    return None if may_hold_nulls or page.body.startswith(_UTF_16) or not is_binary(page.body) else "binary data"
