"""The measure of losses: which words that a browser shows of a page stand nowhere in its markdown.

The pages are those of the measure of articles. Chromium opens each of them without its scripts and without a network,
so what scripts would show is shown by neither side.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markdown.articles import URL, VARIABLE, text
from markdown.reading.rendering import renderer
from markdown.reading.shown import words
from markdown.sources.pages import decoded
from markdown.tables import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from playwright.sync_api import Browser, Route

    from markdown.options import Options

COLUMNS = ("words", "lost", "% lost")
_MOST_KINDS = 14  # that are listed
_FEW = 2  # blanks in a phrase that can be counted
_MOST_PARTS = 12  # of what is one word in a browser
_SECONDS = 60  # for a page to be opened
# What docs/reference/markdown.md says is left out, by the elements in which it stands.
_LEFT_OUT = {
    "navigation": "nav,[role=navigation]",
    "search": "search,[role=search]",
    "fields and buttons": "button,select,option,textarea,input,form label",
    "dialogs": "dialog,[role=dialog],[role=alertdialog],[class*=cookie],[id*=cookie]",
    "for screen readers": "[class~=sr-only],[class*=visually-hidden],[class~=screen-reader-text]",
    "sharing": "a[href^='mailto:?'],a[href*='/intent/tweet'],a[href*='sharer'],a[href*='/share'],a[href*='pin/create']"
    ",a[href*='reddit.com/submit'],a[href*='linkedin.com/sharing'],a[href*='facebook.com/dialog']",
    "edits of a wiki": ".mw-editsection",
}
_SHOWN = r"""(leftOut) => {
  const nodes = [], range = document.createRange();
  const isUnseen = (element) => {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    const isCut = style.overflow !== "visible" && (box.width <= 1 || box.height <= 1);
    return isCut || style.opacity < 0.03 || parseFloat(style.fontSize) <= 2 || (style.clip !== "auto" &&
      style.position === "absolute") || box.right < 0 || box.bottom + scrollY < 0 || style.clipPath === "inset(50%)";
  };
  const kindOf = (element) => {
    for (let around = element, step = 0; around && step < 8; around = around.parentElement, step++)
      if (isUnseen(around)) return "what nobody sees";
    return Object.keys(leftOut).find(name => element.closest(leftOut[name])) || "";
  };
  const links = new Set(), again = new Set();
  for (const link of document.querySelectorAll("a[href]")) {
    const name = `${link.getAttribute("href")} ${link.textContent.trim()}`;
    (links.has(name) ? again : links).add(links.has(name) ? link : name);
  }
  const kindOfLink = (element) => {
    const link = element.closest("a[href]");
    if (!link) return "";
    if (again.has(link)) return "links that were there before";
    const skips = /^\W*((skip|jump) to|(go )?(back )?(to )?(the )?top\W*$)/i.test(link.textContent.trim());
    return skips && link.hash ? "links that skip" : "";
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const around = node.parentElement, above = around.parentElement;
    range.selectNodeContents(node);
    const isShown = range.getClientRects().length && around.checkVisibility({visibilityProperty: true});
    if (node.data.trim() && (isShown || around.closest("select")))
      nodes.push([node.data, kindOf(around) || kindOfLink(around),
        `${above ? above.localName : ""} > ${around.localName}`]);
  }
  return [nodes.length ? document.body.innerText : "", nodes];
}"""


class Piece(NamedTuple):
    """A piece of text that a browser shows. left_out: as what it may be left out, "" for nothing. inside: its place."""

    text: str
    left_out: str
    inside: str


class Shown(NamedTuple):
    """What a browser shows of a page."""

    text: str
    pieces: Sequence[Piece]


def losses(options: Options) -> Iterator[Table]:
    """Pages in Chromium and as markdown; nothing where no folder of pages is named."""
    folder = os.environ.get(VARIABLE)
    pages = sorted(Path(folder).rglob("source.html")) if folder else []
    if not pages:
        print(f"losses are not measured: {VARIABLE} names no folder with pages", file=sys.stderr)
        return
    from ferrule_testkit.serve.browser import chromium

    shown, kinds = Counter[str](), Counter[str]()
    with chromium() as browser:
        for page in pages:
            html = decoded(page.read_bytes())
            seen = show(browser, html)
            told = tell(html)
            lost = find_lost(seen, told)
            shown.update(all=len(words(seen.text.casefold())), lost=lost.total())
            kinds.update(lost)
            if options.failures and lost:
                print(f"{page.parent.name}: {dict(lost.most_common(options.failures))}", file=sys.stderr)
    yield Table("losses", _note(len(pages)), COLUMNS, list(_rows(shown, kinds)), decimals=3)


def show(browser: Browser, html: str) -> Shown:
    """What Chromium shows of a page without scripts and network."""
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        page.route("**/*", lambda route: _answer(route, html))
        page.goto(URL, wait_until="domcontentloaded", timeout=1000 * _SECONDS)
        text, pieces = page.evaluate(_SHOWN, _LEFT_OUT)
        return Shown(text, [Piece(*piece) for piece in pieces])
    finally:
        context.close()


def tell(html: str) -> str:
    """The text of a page's markdown, all of it."""
    from ferrule_fetch.markdown import convert

    return text(renderer().render(convert(html, URL).markdown))


def find_lost(shown: Shown, told: str) -> Counter[str]:
    """How many words are lost, by where they stand. A word is lost as often as it is shown more often than told.

    A piece that stands nowhere as it is shown is lost first. Then what is left out accounts for words, as far as it is
    told less often than it is shown: it may be told elsewhere, and its words are missing all the same.
    """
    told_words, shown_words = words(told.casefold()), words(shown.text.casefold())
    lost = Counter(shown_words) - Counter(told_words)
    _part(lost, shown.pieces, Counter(told_words) - Counter(shown_words))
    kinds = Counter[str]()
    for piece in sorted(shown.pieces, key=_Order(shown.pieces, told_words)):
        _take(piece, lost, kinds)
    kinds["elsewhere"] += lost.total()
    return +kinds


class _Order:
    """When a piece is asked for its words, among all."""

    def __init__(self, pieces: Sequence[Piece], told: Sequence[str]) -> None:
        self._told = " ".join(told)
        self._shown = Counter(map(_phrase, pieces))

    def __call__(self, piece: Piece) -> int:
        phrase = _phrase(piece)  # perhaps it is told as the end of a word, behind the first letter
        told = self._told.count(phrase) if phrase else 1
        if not told and not piece.left_out:
            return 0
        if told >= self._shown[phrase] and phrase.count(" ") >= _FEW:  # fewer words stand within other phrases, too
            return 3
        return 1 if piece.left_out else 2


def _phrase(piece: Piece) -> str:
    return " ".join(words(piece.text.casefold()))


def _part(lost: Counter[str], pieces: Sequence[Piece], spare: Counter[str]) -> None:
    """Take words apart that are several in the page, and that a browser puts side by side. spare: what else is told."""
    apart = [found for piece in pieces if (found := words(piece.text.casefold()))]
    for at, first in enumerate(apart):
        parts = [first[-1]]
        for behind in apart[at + 1 : at + _MOST_PARTS]:
            parts.append(behind[0])
            if lost["".join(parts)] > 0:
                lost["".join(parts)] -= 1
                lost.update(parts)
                told = Counter(parts) & spare
                lost.subtract(told)
                spare.subtract(told)
                break
            if len(behind) > 1:
                break


def _take(piece: Piece, lost: Counter[str], kinds: Counter[str]) -> None:
    for word in words(piece.text.casefold()):
        if lost[word] > 0:
            lost[word] -= 1
            kinds[f"left out: {piece.left_out}" if piece.left_out else piece.inside] += 1


def _answer(route: Route, html: str) -> None:
    if route.request.url == URL:
        headers = {"content-security-policy": "script-src 'none'", "content-type": "text/html; charset=utf-8"}
        route.fulfill(body=html, headers=headers)
    else:
        route.abort()


def _note(pages: int) -> str:
    return f"words of {pages} pages that Chromium shows and the markdown lacks, in all, and by where they stand"


def _rows(shown: Counter[str], kinds: Counter[str]) -> Iterable[Row]:
    left_out = sum(count for kind, count in kinds.items() if kind.startswith("left out: "))
    for name, count in (("all", shown["lost"]), ("but for what is left out", shown["lost"] - left_out)):
        yield Row(name, (shown["all"], count, 100 * count / max(1, shown["all"])))
    for name, count in kinds.most_common(_MOST_KINDS):
        yield Row(name, (None, count, 100 * count / max(1, shown["all"])))
