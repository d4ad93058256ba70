"""A fetched page as text: HTML becomes markdown, other text stays what it is."""

import re
from typing import NamedTuple

from ferrule import ToolError
from ferrule_fetch.decoding import decode
from ferrule_fetch.fetching import MAX_BYTES, Page, not_text
from ferrule_fetch.markdown import convert
from ferrule_fetch.media import binary_kind, is_html

MAX_TITLE = 500  # characters

# What JSON readers refuse, and what a terminal would act on. Tab and line feed are text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile("\r\n?")


class Document(NamedTuple):
    """What there is to read. title: one line, empty where there is none. lines: without their line ends."""

    title: str
    lines: list[str]


def read(page: Page) -> Document:
    """Convert a page. Raises ToolError PARSE_ERROR for what is no text, or cannot be parsed."""
    kind = binary_kind(page.type, page.body)
    if kind:
        raise not_text(f"{kind} ({page.type.type})" if page.type.type else kind)
    html = is_html(page.type, page.body)
    text = decode(page.body, page.type.charset, html=html, complete=page.complete)
    title, text = _converted(text, page.url) if html else ("", text)
    lines = _clean(_LINE_END.sub("\n", text)).rstrip("\n").split("\n")
    if not page.complete:
        lines += ["", f"[The page goes on: only its first {MAX_BYTES >> 20} MiB were read.]"]
    return Document(_shortened(_clean(title)), lines)


def _converted(text: str, url: str) -> tuple[str, str]:
    try:
        return convert(text, url)
    except Exception:  # noqa: BLE001 - a parser may fail on a page in any way, and the caller can do nothing else
        raise ToolError("PARSE_ERROR", "Failed to parse HTML: Invalid document structure") from None


def _clean(text: str) -> str:
    return _CONTROLS.sub("", text)


def _shortened(title: str) -> str:
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"
