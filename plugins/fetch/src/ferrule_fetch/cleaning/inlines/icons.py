"""Icons that say something: yes or no in a cell, a rating, a state. What else they say is chrome."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_STATE = compile_late(
    r"yes|no|true|false|(?:not |un)?(?:included|available|supported|verified|accepted|checked)|excluded"
    r"|(?:full|partial|no|limited) support|accepted answer|check ?mark|tick|cross|pass(?:ed)?|fail(?:ed|ure)?|success"
    r"|(?:en|dis)abled|sold out|(?:in|out of) stock"
    r"|(?:rated |rating:? )?[0-9][0-9.,]* ?(?:(?:out )?of|/) ?[0-9]+(?: stars?)?"
    r"|[0-9][0-9.,]* stars?(?: out of [0-9]+)?(?: rating)?",
    re.I,
)
_ANSWER = compile_late("yes|no|true|false|tick|cross|check ?mark", re.I)  # to what only an item or a cell asks
# By a word of the class of an icon without a name: what it draws.
_DRAWN = {
    **dict.fromkeys(["check", "checkmark", "tick", "yes", "check-circle", "circle-check", "check-square"], "✓"),
    **dict.fromkeys(["times", "cross", "xmark", "x", "close", "no", "times-circle", "x-circle", "circle-xmark"], "✗"),
}
_KIND = compile_late(r"^(?:fa[srlb]?|icon|bi|mdi|lucide|ri|ti|glyphicon|ico|i|svg|octicon|feather|ph|tabler-icon)[-_]+")
_CELLS = "td,th,[role=cell],[role=gridcell]"
_MAX_NAME_CHARS = 80
_MANY_TEXTS = 20  # of a cell, which is then no icon's alone
_MAX_ICONS = 3_000
_NAMED = ":is([title],[aria-label])"

SELECTORS = ("svg", "i", f"span{_NAMED}:empty", f"div{_NAMED}:empty", "meter", "progress", "time:empty")


def clean(found: Found, roles: Found) -> None:
    """Write what icons say where it is content; what is left of them is removed later."""
    icons = [*found["svg"], *found["i"], *found[SELECTORS[2]], *found[SELECTORS[3]], *roles.get("img", ())]
    for icon in icons[:_MAX_ICONS]:
        if icon.parent is not None and icon.tag != "img" and (said := _read(icon)):
            replace(icon, Text(said))
    for gauge in (*found["meter"], *found["progress"]):
        if gauge.attr("value") and not gauge.text.strip():
            most = gauge.attr("max") or "1"
            gauge.set_text(f"{gauge.attr('value')} of {most}")
    for moment in found["time:empty"]:
        if moment.attr("datetime"):
            moment.set_text(moment.attr("datetime") or "")


def _read(icon: Element) -> str:
    """What an icon says; empty where it says nothing to a reader."""
    if icon.tag == "svg":
        if icon.select_one("text,foreignObject") is not None:
            return ""
    elif icon.text.strip():
        return ""
    name = _find_name(icon)
    is_state = _STATE.fullmatch(name) is not None
    cell = icon.closest(_CELLS)
    if cell is None or not _is_alone(icon, cell) or icon.closest("a,button") is not None:
        is_answer = _ANSWER.fullmatch(name) is not None and icon.closest("li,dd,dt") is None
        return name if is_state and not is_answer and icon.closest("a,button,nav,pre") is None else ""
    return name or _find_sign(icon)


def _is_alone(icon: Element, cell: Element) -> bool:
    """Whether a cell holds no text but the title of an icon."""
    title = _read_title(icon)
    texts = list(islice(cell.strings, _MANY_TEXTS))
    return len(texts) < _MANY_TEXTS and all(text.strip() in ("", title) for text in texts)


def _find_name(icon: Element) -> str:
    name = icon.attr("aria-label") or _read_title(icon) or icon.attr("title") or ""
    name = " ".join(name.split())
    return name if len(name) <= _MAX_NAME_CHARS else ""


def _read_title(icon: Element) -> str:
    title = icon.select_one("title") if icon.tag == "svg" else None
    return title.text.strip() if title is not None else ""


def _find_sign(icon: Element) -> str:
    use = icon.select_one("use") if icon.tag == "svg" else None
    reference = (use.attr("href") or use.attr("xlink:href") or "").rpartition("#")[2] if use is not None else ""
    names = f"{icon.attr('class') or ''} {icon.attr('data-icon') or ''} {reference}".lower().split()
    return next((sign for name in names if (sign := _DRAWN.get(_KIND.sub("", name)))), "")
