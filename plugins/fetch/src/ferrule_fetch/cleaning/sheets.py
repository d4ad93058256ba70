"""What the page's own style sheets hide: by rules for elements with a class or an id, bounded in number.

A parser of CSS in Python takes ten times as long as the whole conversion. So the sheets are parted at their braces, and
only declarations that may hide something are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.cleaning.colours import WHITE, Colour, is_in_ground, read_ground
from ferrule_fetch.cleaning.styles import COMMENT, Hiding, declarations, find_hiding, may_hide
from ferrule_fetch.patterns import compile_late

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Element

_MAX_CHARS = 1 << 17  # of all sheets of a page, the short ones first
_MAX_NAMES = 200  # of elements that rules may hide
_MAX_ELEMENTS = 400  # that may be hidden
_MAX_RULES = 50  # that may hide one of them
_MAX_GROUNDS = 8  # that the sheets paint, for the colour of the page to be looked for
_MAX_PARTS = 4  # of a selector
_MAX_SELECTOR_CHARS = 200
_MAX_BODY_CHARS = 2_000
_PART = compile_late(r"(?:[a-z][a-z0-9-]*)?(?:[.#][a-z_][\w-]*)*", re.I)
_NAME = compile_late(r"[.#]((?:[\w-]|\\.)+)")
_NO_LETTER = compile_late(r"[^\w-]")
_LAST = compile_late(r"(?![\w\\-])[^\s{}>+~;]*")  # what follows a name in the last part of a selector
_EVERY_SCREEN = compile_late(r"@media\s+(?:only\s+)?(?:screen|all)\s*|@layer\b.*", re.I | re.S)
# A browser takes such a section for one part in brackets, and throws it away with the rule behind it.
_CDATA = "<![CDATA["
_SECTION = compile_late(r"<!\[CDATA\[.*?(?:\]\]>[^}]*\}?|\Z)", re.S)
_PROPERTIES = {  # a rule that says one of them, and hides nothing by it, shows what another one hides
    Hiding.DISPLAY: ("display", "content-visibility"),
    Hiding.VISIBILITY: ("visibility",),
    Hiding.OPACITY: ("opacity", "filter", "animation"),
    Hiding.PLACE: (
        *("left", "right", "top", "bottom", "inset", "text-indent", "margin", "margin-left", "margin-top", "transform"),
        *("translate", "scale", "clip", "clip-path", "width", "height", "max-width", "max-height", "animation"),
    ),
    Hiding.INK: ("font", "font-size", "color", "-webkit-text-fill-color", "animation"),
}


class Rule(NamedTuple):
    """A rule with one selector. at: where it ends in the sheets."""

    selector: str
    body: str
    at: int


class Hidden(NamedTuple):
    """An element that a rule hides. hiding: how."""

    element: Element
    hiding: Hiding


class Sheets:
    """The style sheets of a page."""

    def __init__(self, styles: Iterable[Element]) -> None:
        texts = sorted((_read(each) for each in styles if "print" not in (each.attr("media") or "")), key=len)
        room = accumulate(len(text) for text in texts)  # half of a sheet may hide what its other half shows
        css = "\n".join(text for text, size in zip(texts, room, strict=True) if size <= _MAX_CHARS)
        self._css = COMMENT.sub("", css) if "/*" in css else css

    def find_ground(self) -> Colour | None:
        """The colour of the page, where its sheets paint nothing but that; None where it cannot be known."""
        if "url(" in self._css or self._css.count("background") > _MAX_GROUNDS:
            return None
        ground = WHITE
        for part in self._css.split("}") if "background" in self._css else ():
            begins, _, body = part.rpartition("{")
            if "background" in body:
                selectors = {one.strip() for one in begins.split(",")}
                found = read_ground(declarations(body[:_MAX_BODY_CHARS]))
                if not selectors <= {"html", "body"} or found is None:
                    return None
                ground = found
        return ground

    def find_hidden(
        self, tree: Document, is_wanted: Callable[[Element], bool], ground: Colour | None = None
    ) -> list[Hidden]:
        """The elements that a rule hides, and that no other rule and no style of their own shows at some time.

        is_wanted: which of the elements are looked at. ground: the colour of the page, None where it is not known.
        """
        by_name = self._find_hiding(is_coloured=ground is not None)
        found = islice(filter(is_wanted, _find_named(tree, by_name)), _MAX_ELEMENTS)
        styled = ((each, self._gather(each, by_name)) for each in found)
        hidden, pale = [], []
        for each, given in styled:
            if kind := find_hiding(given):
                hidden.append(Hidden(each, kind))
            elif is_in_ground(each, given, ground):
                pale.append(Hidden(each, Hiding.INK))
        return [*(self._keep_never_shown(hidden) if hidden else ()), *pale]

    def _find_hiding(self, *, is_coloured: bool) -> dict[str, list[Rule]]:
        """The rules that may hide something, by the last name in their selectors."""
        by_name: dict[str, list[Rule]] = {}
        at = -1
        for part in self._css.split("}"):
            at += len(part) + 1
            begins, _, body = part.rpartition("{")
            if len(body) > _MAX_BODY_CHARS or "animation" in body:
                continue
            if may_hide(body.lower()) or ("color" in body and (is_coloured or "background" in body)):
                for selector in _simple_selectors(begins.rpartition("{")[2].rpartition(";")[2]):
                    if key := _find_key(selector):
                        by_name.setdefault(key, []).append(Rule(selector, body, at))
        return by_name

    def _gather(self, element: Element, by_name: dict[str, list[Rule]]) -> dict[str, str]:
        """What the rules that hide something say of an element, and behind it what its own style says."""
        given: dict[str, str] = {}
        rules = (each for name in _list_names(element) for each in by_name.get(name, ()))
        for rule in islice(rules, _MAX_RULES):
            if element.matches(rule.selector) and self._is_for_every_screen(rule):
                given |= declarations(rule.body)
        return given | declarations(element.attr("style") or "") if given else given

    def _is_for_every_screen(self, rule: Rule) -> bool:
        """Whether a rule stands in no block that counts for some screens only."""
        blocks = self._css.count("{", 0, rule.at) - self._css.count("}", 0, rule.at)
        if blocks == 1:
            return True
        begins = self._css.rfind("@", 0, rule.at)
        return blocks == 2 and bool(_EVERY_SCREEN.fullmatch(self._css[begins : self._css.find("{", begins)]))

    def _keep_never_shown(self, hidden: Sequence[Hidden]) -> list[Hidden]:
        """Those that no rule shows: none that is about one of their classes or ids says something else of the same."""
        kinds = {each.hiding for each in hidden}
        names = {name for each in hidden for name in _list_names(each.element)}
        shown = {(kind, name) for name in islice(names, _MAX_NAMES) for kind in self._find_shown(name, kinds)}
        return [each for each in hidden if not any((each.hiding, name) in shown for name in _list_names(each.element))]

    def _find_shown(self, name: str, kinds: Iterable[Hiding]) -> Iterator[Hiding]:
        """The ways to hide that rules take back of elements with a class or an id."""
        css = self._css
        written = re.escape(_NO_LETTER.sub(r"\\\g<0>", name))
        places = islice((found for mark in ("[.]", "#") for found in re.finditer(mark + written, css)), _MAX_RULES)
        for place in places:
            begins = css.find("{", place.end())
            rest = css[place.end() : begins].partition(",")[0].rstrip()
            if begins < 0 or len(rest) > _MAX_SELECTOR_CHARS or not _LAST.fullmatch(rest):
                continue
            given = declarations(css[begins + 1 : begins + _MAX_BODY_CHARS].partition("}")[0])
            kind = find_hiding(given)
            yield from (each for each in kinds if each is not kind and any(name in given for name in _PROPERTIES[each]))


def _read(style: Element) -> str:
    """The text of a sheet that a browser reads."""
    css = style.text
    return _SECTION.sub("", COMMENT.sub("", css)) if _CDATA in css else css


def _simple_selectors(selectors: str) -> Iterator[str]:
    """The selectors of a rule that are made of elements, classes and ids alone."""
    for selector in selectors.split(","):
        parts = selector.replace(">", " > ").split()
        if parts and len(parts) <= _MAX_PARTS and len(selector) <= _MAX_SELECTOR_CHARS:
            names = [part for part in parts if part != ">"]
            if names and parts[0] != ">" != parts[-1] and all(_PART.fullmatch(name) for name in names):
                yield " ".join(parts)


def _find_named(tree: Document, names: Collection[str]) -> Iterator[Element]:
    """Yield the elements that have one of the names, as a class or as an id.

    One walk finds them all: a selector for each name would have to be compiled first. Most elements share their classes
    with others.
    """
    known: dict[str | None, bool] = {None: False}
    for each in tree.select("[class],[id]") if names else ():
        classes = each.attr("class")
        is_named = known.get(classes)
        if is_named is None:
            is_named = known[classes] = any(name in names for name in (classes or "").split())
        if is_named or each.attr("id") in names:
            yield each


def _list_names(element: Element) -> list[str]:
    return [element.attr("id") or "", *(element.attr("class") or "").split()]


def _find_key(selector: str) -> str:
    """The last class or id of a selector; "" where it has none."""
    names = _NAME.findall(selector.rpartition(" ")[2])
    return names[-1] if names else ""
