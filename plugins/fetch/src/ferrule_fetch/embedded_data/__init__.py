"""What a page says in its data, for one that has hardly a word in its HTML: a script would write its words from them.

`scripts` finds data, `literals` and `references` read the forms in which they are written, `linked_data`, `state` and
`rich_text` write them as HTML, and the page's converter makes markdown of that. Nothing is executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document

MAX_OWN_CHARS = 500
"""Of the text of a page that may have its words elsewhere."""

_SECONDS = 3.0
_MIN_GAIN = 3  # times the words of the page itself
_MIN_WORDS = 8
_FEW_OWN_WORDS = 15
_MANY_WORDS = 50
_MIN_SHOWN_WORDS = 25  # of what is shown without scripts, which is a wish for scripts more often than a page
_BODY_CHARS = 1_000  # of an article in JSON-LD, next to which nothing else is read
_MARKS = ("<script", "<noscript", "<meta")

_NOTE = "[The HTML of this page has {own} words. What follows was read from {place}; {extent}.]"
_PLACES = {
    "json-ld": "its linked data (JSON-LD)",
    "next-data": "its data (__NEXT_DATA__)",
    "next-stream": "its data (Next.js)",
    "nuxt-data": "its data (__NUXT__)",
    "sveltekit": "its data (SvelteKit)",
    "react-router": "its data (React Router)",
    "apollo": "its data (Apollo)",
    "page-state": "its data",
    "noscript": "what it shows without scripts",
    "description": "its description",
}


class EmbeddedText(NamedTuple):
    """What a page says in its data. source: which of them, such as "json-ld". markdown: it, and a note before it."""

    source: str
    markdown: str


def read_embedded(html: str, url: str, own: str, deadline: float) -> EmbeddedText | None:
    """The text of a page's own data, where its HTML has hardly any words; None where it has, or the data say no more.

    Args:
        html: the page. It is read in a process that is ended where it takes too much.
        url: where it was found.
        own: the text of its HTML, as markdown.
        deadline: an instant of `time.monotonic()`. No other thread may be importing anything.
    """
    if len(own) > MAX_OWN_CHARS and len(_words_alone(own)) > MAX_OWN_CHARS:
        return None
    beginning = html.lower()
    if not any(mark in beginning for mark in _MARKS):
        return None
    from ferrule.text.invisible import without_invisible, without_invisible_in_html
    from ferrule_fetch.limits.reader import TooMuch, bounded_reading

    own = _words_alone(own)
    try:
        source, text = bounded_reading(
            lambda: find_text(without_invisible_in_html(html), url, own), deadline=deadline, seconds=_SECONDS
        )
    except TooMuch:
        return None
    return EmbeddedText(source, without_invisible(text, "\N{REPLACEMENT CHARACTER}")) if text else None


def _words_alone(own: str) -> str:
    """A text without the addresses of its links."""
    return "](".join(part.partition(")")[2] if number else part for number, part in enumerate(own.split("](")))


def find_text(html: str, url: str, own: str) -> tuple[str, str]:
    """The source and the text of a page's data, without limits; empty where they say no more than its `own` words."""
    from ferrule_fetch import markdown
    from ferrule_fetch.embedded_data.prose import count_words
    from ferrule_fetch.tree import parsers

    tree = parsers.parse(html)
    own_words = count_words(own)
    source, found, is_body = _find_data(tree)
    text = markdown.convert(f"<body>{found}", url).markdown if found else ""
    if (words := count_words(_words_alone(text))) < _MANY_WORDS and own_words <= _FEW_OWN_WORDS:
        source, text = _add_fallback(tree, url, source, text)
        words = count_words(_words_alone(text))
    if words < max(_MIN_WORDS, _MIN_GAIN * own_words):
        return "", ""
    said, extent = "hardly any" if own_words else "no", _extent_of(source, words, is_body)
    note = _NOTE.format(own=said, place=_PLACES[source], extent=extent)
    return source, f"{note}\n\n{text}"


def _add_fallback(tree: Document, url: str, source: str, text: str) -> tuple[str, str]:
    """What a page shows without scripts, where that is more than its data; else its description, and its data."""
    from ferrule_fetch import markdown
    from ferrule_fetch.embedded_data import fallbacks
    from ferrule_fetch.embedded_data.prose import count_words

    shown = markdown.convert(fallbacks.find_shown(tree), url).markdown
    if count_words(_words_alone(shown)) >= max(_MIN_SHOWN_WORDS, count_words(text)):
        return "noscript", shown
    summary = markdown.convert(fallbacks.find_description(tree), url).markdown
    if not text or count_words(text) < _MIN_WORDS:
        return "description", summary
    new = [part for part in summary.split("\n\n") if part not in text]
    return source, "\n\n".join(filter(None, [*new, text]))


def _extent_of(source: str, words: int, is_body: bool) -> str:
    if source == "description":
        return "it is a summary, and the page itself needs scripts"
    if is_body:
        return "it seems to be the main text"
    return "it seems to be most of the page" if words >= _MANY_WORDS else "it may be a small part of the page"


def _find_data(tree: Document) -> tuple[str, str, bool]:
    """Where the data of a page are from, they as HTML, and whether they are the body of an article."""
    from ferrule_fetch.embedded_data import flight
    from ferrule_fetch.embedded_data.linked_data import LinkedDataWriter
    from ferrule_fetch.embedded_data.scripts import find_data
    from ferrule_fetch.embedded_data.state import StateWriter

    found = find_data(tree)
    linked = LinkedDataWriter()
    linked.write(found.linked)
    if linked.body_chars >= _BODY_CHARS:
        return "json-ld", linked.html(), True
    state = StateWriter(linked.said)
    sizes = {"json-ld": len(linked.html())}
    for name, value in found.states:
        before = state.chars
        state.write(value)
        sizes[_source_of(name)] = sizes.get(_source_of(name), 0) + state.chars - before
    if found.flight:
        before = state.chars
        state.write_rows(flight.read_rows(found.flight))
        sizes["next-stream"] = state.chars - before
    source = max(sizes, key=lambda name: sizes[name])
    return source, linked.html() + state.html(), source == "json-ld" and linked.body_chars > 0


def _source_of(name: str) -> str:
    if name in ("sveltekit", "react-router"):
        return name
    marks = {"__NEXT_DATA__": "next-data", "NUXT": "nuxt-data", "APOLLO": "apollo", "remixContext": "react-router"}
    return next((source for mark, source in marks.items() if mark in name), "page-state")
