"""Links, images, formulas, and what is written around words."""

from __future__ import annotations

import re
from collections.abc import Callable

from ferrule_fetch.markdown import elements, escapes, mathematics, sentinels, tokens
from ferrule_fetch.markdown.attributes import attributes_of, one_line, unescape
from ferrule_fetch.markdown.blocks import Kind
from ferrule_fetch.markdown.layout import Flow, Meanings, meanings_of
from ferrule_fetch.markdown.links import Links, Target, write_target

_RAISED = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_HREF = re.compile(' href="([^"]*)"')  # which it is faster to look for than to read all attributes of a link
_INDEX = re.compile(r"[^\W_]{1,4}")  # what says something else when it is written on the line, as in 2^k
_ORDINALS = frozenset(
    ["st", "nd", "rd", "th", "er", "re", "e", "me", "ème", "eme", "o", "a", "ª", "º", "tm", "sm", "r", "c"]
)
_TEX_SCRIPT = "math/tex"
_LAZY = ("data-src", "data-original", "data-lazy-src")  # put into src by a script, once the image comes into view


class Spans:
    """What the elements mean that stand within running text."""

    def __init__(self, flow: Flow, links: Links) -> None:
        self._flow = flow
        self._links = links
        self._based = False
        self._anchors: list[bool] = []  # whether an open one is a link
        self._shifted: list[int] = []  # where the raised and lowered text begins that is open
        self._expansions: list[str] = []  # of the abbreviations that are open
        self._expanded: set[str] = set()

    def meanings(self) -> Meanings:
        """By the name of a tag."""
        meanings: Meanings = {"br": sentinels.BREAK}
        for names, begin, end in (
            (elements.EMPHASIS, sentinels.EMPHASIS, sentinels.END_EMPHASIS),
            (elements.STRONG, sentinels.STRONG, sentinels.END_STRONG),
            (elements.DELETED, sentinels.DELETED, sentinels.END_DELETED),
            (elements.CODE, sentinels.CODE, sentinels.END_CODE),
        ):
            meanings |= dict.fromkeys(names, begin) | {f"/{name}": end for name in names}
        meanings |= {"base": self._base, "img": self._image, "math": self._formula, "script": self._script}
        return meanings | meanings_of(
            ("a", self._link, self._end_link),
            ("abbr", self._abbreviation, self._end_abbreviation),
            ("acronym", self._abbreviation, self._end_abbreviation),
            ("q", self._literally('"'), self._literally('"')),
            ("rt", self._literally("("), self._literally(")")),
            ("sub", self._shift, self._end_shift(_LOWERED, "_")),
            ("sup", self._shift, self._end_shift(_RAISED, "^")),
        )

    def _literally(self, text: str) -> Callable[[str], None]:
        return lambda _: self._flow.put(text)

    def _base(self, spelt: str) -> None:
        href = attributes_of(spelt).get("href")
        if href is not None and not self._based:
            self._based = True
            self._links.use_base(href)

    def _link(self, spelt: str) -> None:
        target = self._target(spelt)
        self._anchors.append(target is not None)
        if target is not None:
            self._flow.put_mark(sentinels.LINK, target)

    def _target(self, spelt: str) -> Target | None:
        found = _HREF.search(spelt)
        href = unescape(found[1]) if found else None
        address = None if href is None else self._links.resolve(href)
        if href is None or address is None:
            return None
        here = not href or href.startswith("#")
        if " title=" not in spelt and " aria-label=" not in spelt:
            return Target(address, here=here)
        attributes = attributes_of(spelt)
        title, label = one_line(attributes.get("title", "")), one_line(attributes.get("aria-label", ""))
        return Target(address, title, label, here=here)

    def _end_link(self, _: str) -> None:
        if self._anchors.pop():
            self._flow.put_mark(sentinels.END_LINK)

    def _image(self, spelt: str) -> None:
        attributes = attributes_of(spelt)
        if attributes.get("class", "").startswith("mwe-math-fallback"):
            self._put_formula(mathematics.tidy(attributes.get("alt", "")), alone=False)
            return
        alt = one_line(attributes.get("alt", ""))
        src = _source(attributes)
        url = self._links.resolve(src) if src else None
        if url is None:
            self._flow.put_text(alt)
        else:
            title = one_line(attributes.get("title", ""))
            alt = escapes.part(alt, in_link=True)
            self._flow.put_mark(sentinels.ATOM, f"![{alt}]({write_target(url, title)})")

    def _formula(self, spelt: str) -> bool:
        tex, alone, behind = mathematics.formula(self._flow.rest, spelt)
        self._put_formula(tex, alone=alone)
        self._flow.put(behind)
        return True

    def _script(self, spelt: str) -> bool:
        """A script is left out, but for a formula that it would write."""
        text, behind = tokens.raw_text(self._flow.rest, "script", self._flow.behind)
        kind = attributes_of(spelt).get("type", "")
        if kind.startswith(_TEX_SCRIPT):
            self._put_formula(mathematics.tidy(text), alone="display" in kind)
        self._flow.put(behind)
        return True

    def _put_formula(self, tex: str, *, alone: bool) -> None:
        if not tex:
            return
        if alone and not self._flow.in_cell and not self._flow.heading:
            self._flow.complete()
            self._flow.add(Kind.CODE, escapes.code_block(tex, "math"))
        else:
            self._flow.put_mark(sentinels.ATOM, f"${escapes.code(tex)}$")

    def _abbreviation(self, spelt: str) -> None:
        self._expansions.append(attributes_of(spelt).get("title", ""))

    def _end_abbreviation(self, _: str) -> None:
        expansion = self._expansions.pop()
        if expansion and expansion not in self._expanded:
            self._expanded.add(expansion)
            self._flow.put_text(f" ({expansion})")

    def _shift(self, _: str) -> None:
        self._shifted.append(len(self._flow.collected))

    def _end_shift(self, digits: dict[int, int], mark: str) -> Callable[[str], None]:
        def end(_: str) -> None:
            collected, start = self._flow.collected, self._shifted.pop()
            text = "".join(collected[start:])
            if not text or not start or not collected[start - 1][-1:].isalnum():
                return
            if all(ord(letter) in digits for letter in text):
                collected[start:] = [text.translate(digits)]
            elif _INDEX.fullmatch(text) and text.lower() not in _ORDINALS:
                collected[start:] = [mark + text]

        return end


def _source(attributes: dict[str, str]) -> str:
    """The address of an image; empty where there is none, or only a picture within the page itself."""
    src = next(filter(None, map(attributes.get, _LAZY)), "") or attributes.get("src", "").strip()
    if not src or _is_data(src):
        candidates = (attributes.get("srcset") or attributes.get("data-srcset") or "").split()
        src = candidates[0].rstrip(",") if candidates else ""
    return "" if _is_data(src) else src


def _is_data(src: str) -> bool:
    return src[:5].lower() == "data:"
