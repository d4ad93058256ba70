"""What is embedded (videos, frames, sounds, documents) as a link to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.cleaning.selection import is_deep
from ferrule_fetch.cleaning.text import make
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree import nodes
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Document

_KINDS = {
    "video": "Video",
    "audio": "Audio",
    "iframe": "Embedded page",
    "object": "Embedded object",
    "embed": "Embedded object",
}
# Parts of the addresses of what measures, sells, or asks to log in.
_NO_CONTENT = (
    "googletagmanager", "doubleclick", "googlesyndication", "recaptcha", "facebook.com/plugins", "facebook.com/tr",
    "platform.twitter.com/widgets", "accounts.google", "adservice", "amazon-adsystem", "criteo", "taboola", "outbrain",
    "addthis", "sharethis", "quantserve", "scorecardresearch", "demdex", "cookielaw", "onetrust", "/ads/", "/ad/",
    "about:blank",
)  # fmt: skip
_SMALL = compile_late(r"\s*[01](?:px)?\s*")
_YOUTUBE = compile_late(r"(?:https?:)?//(?:www\.)?youtube(?:-nocookie)?\.com/embed/([\w-]{6,})(?:[?#].*)?")
_MAX_HELD_CHARS = 200_000  # of a frame's own text
_MAX_NAMELESS_CHARS = 200  # of an address
_LAZY = ("data-src", "data-lazy-src", "data-litespeed-src", "data-cookieblock-src", "data-cmp-src")


SELECTORS = tuple(_KINDS)


def open_documents(tree: Document) -> None:
    """Put what a frame holds as its own text in its place."""
    for frame in tree.find_all("iframe"):
        held = frame.attr("srcdoc") or ""
        if not held.strip() or len(held) > _MAX_HELD_CHARS or _is_invisible(frame):
            continue
        inner = nodes.parse(held, positions=False, allow_declarative_shadow_roots=False)
        body = inner.find("body")
        if body is not None and not is_deep(inner):
            style = {name: frame.attr(name) or "" for name in ("style",) if name in frame.attrs}
            replace(frame, Element("div", style, list(body.children)))


def clean(found: Found) -> None:
    """Put a link instead of each embedded thing that a reader could open."""
    told: set[str] = set()
    for tag in _KINDS:
        for element in found[tag]:
            target = _target(element)
            if target and target not in told and not _is_invisible(element) and not _is_advertisement(element, target):
                told.add(target)
                replace(element, Element("p", {}, [make("a", _name(element, target), href=target)]))
            else:
                element.extract()


def _target(element: Element) -> str:
    candidates = [element.attr("src"), element.attr("data"), *map(element.attr, _LAZY)]
    if element.tag in ("video", "audio"):
        candidates += [source.attr("src") for source in element.select("source[src]")]
    for candidate in candidates:
        address = (candidate or "").strip()
        if address and not address.startswith(("data:", "blob:", "javascript:", "{", "#")):
            if any(part in address for part in _NO_CONTENT):
                return ""
            found = _YOUTUBE.fullmatch(address)
            return f"https://www.youtube.com/watch?v={found[1]}" if found else address
    return ""


def _is_invisible(element: Element) -> bool:
    sizes = (element.attr("width") or "", element.attr("height") or "")
    return "hidden" in element.attrs or any(_SMALL.fullmatch(size) for size in sizes)


def _is_advertisement(element: Element, target: str) -> bool:
    """Whether an embedded page has no name, and an address that only a machine has made."""
    name = f"{element.attr('title') or ''} {element.attr('aria-label') or ''}".lower()
    return "advert" in name or " ad " in f" {name} " or (not name.strip() and len(target) > _MAX_NAMELESS_CHARS)


def _name(element: Element, target: str) -> str:
    given = " ".join((element.attr("title") or element.attr("aria-label") or element.attr("playlabel") or "").split())
    kind = _KINDS.get(element.tag, "Video")
    if given:
        return given if kind.lower() in given.lower() else f"{kind}: {given}"
    host = target.partition("//")[2].partition("/")[0]
    return f"{kind}: {host.removeprefix('www.')}" if host else kind
