"""References in a style of the Citation Style Language, written by the processor that typst brings.

It reads its own format, hayagriva, as YAML, of which JSON is a part, and writes HTML, of which the text is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import TYPE_CHECKING
from uuid import uuid4

from ferrule.errors import ToolError

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.library import Name, Reference

STYLES = {  # by the names of the tool: those of the processor
    "apa": "apa",
    "mla": "mla",
    "chicago": "chicago-author-date",
    "ieee": "ieee",
    "vancouver": "public-library-of-science",  # it prints DOIs; "vancouver" leaves out all authors in this version
    "harvard": "harvard-cite-them-right",
}
_SOURCE = b"#bibliography(bytes(sys.inputs.references), style: sys.inputs.style, full: true, title: none)"
_ITEM = re.compile(r"<li>(.*?)</li>", re.S)
_TAG = re.compile(r'<(?:"[^"]*"|[^">])*>')
_REFUSED = re.compile(r"\(r(\d+)\.(\w+)")  # the entry and the field that the processor cannot read
_MARK = re.compile(r"(?:https://)?([0-9a-f]{32})\.invalid/?")
_SIGNS = "{}$\\`"  # which the processor takes for commands in a title
_TO_PRIVATE = {ord(sign): 0xE000 + number for number, sign in enumerate(_SIGNS)}
_FROM_PRIVATE = {private: chr(sign) for sign, private in _TO_PRIVATE.items()}
_FORGED = dict.fromkeys(_FROM_PRIVATE, None)  # private characters of the input are dropped
_KINDS = {  # of CSL: the type, and the type of what contains it
    "article-journal": ("article", "periodical"),
    "article": ("article", "periodical"),
    "paper-conference": ("chapter", "anthology"),
    "chapter": ("chapter", "book"),
    "book": ("book", "anthology"),
    "thesis": ("thesis", "anthology"),
    "report": ("report", "anthology"),
    "webpage": ("web", "web"),
}
_OTHERS = ("misc", "misc")


def write_style(references: Sequence[Reference], style: str) -> list[str]:
    """Each reference as a line, in the order of the style.

    Args:
        style: a key of `STYLES`.

    Raises:
        ToolError, which names the reference that cannot be written.
    """
    import typst

    items = {f"r{number}": _describe(one) for number, one in enumerate(references, start=1)}
    try:
        return _compile(items, style)
    except typst.TypstError as error:
        refused = _REFUSED.search(str(error))
        if refused is None or refused[2] != "url":
            raise _unwritten(references, refused) from error
    marks = _mark_addresses(items)
    try:
        lines = _compile(items, style)
    except typst.TypstError as error:
        raise _unwritten(references, _REFUSED.search(str(error))) from error
    return [_MARK.sub(lambda found: marks.get(found[1], found[0]), line) for line in lines]


def _compile(items: Mapping[str, JSONObject], style: str) -> list[str]:
    """The lines of entries. Raises TypstError where the processor refuses one, and ToolError where it loses one."""
    import typst

    inputs = {"references": json.dumps(items, ensure_ascii=False), "style": STYLES[style]}
    page = typst.compile(_SOURCE, format="html", sys_inputs=inputs, ignore_system_fonts=True)
    lines = [_plain(item) for item in _ITEM.findall((page or b"").decode())]
    if len(lines) != len(items):
        raise ToolError("API_ERROR", "The processor of styles left out references.")
    return lines


def _mark_addresses(items: Mapping[str, JSONObject]) -> dict[str, str]:
    """Put a mark in place of each address, since the processor refuses some that are in use; the addresses by marks."""
    marks = {}
    for entry in items.values():
        if "url" in entry:
            mark = uuid4().hex
            marks[mark] = entry["url"]["value"]
            entry["url"]["value"] = f"https://{mark}.invalid/"
    return marks


def _unwritten(references: Sequence[Reference], refused: re.Match[str] | None) -> ToolError:
    """The error of references that the processor cannot read. refused: what it says of one of them."""
    details = {"kind": "validation", "retryable": False, "suggestedAction": "correct_arguments"}
    if refused is None or not 0 < int(refused[1]) <= len(references):
        hint = "Ask for another style, or for csl-json."
        return ToolError("API_ERROR", "The references cannot be written in this style.", hint=hint, details=details)
    one = references[int(refused[1]) - 1]
    message = f"{refused[2]}: that of {one.title[:80]!r} ({one.address[:200]}) cannot be written in this style."
    hint = "Correct it, leave this source out, or ask for csl-json."
    return ToolError("API_ERROR", message, hint=hint, details=details)


def _plain(item: str) -> str:
    text = unescape(_TAG.sub("", item.replace("</span>", "</span> ")))
    return re.sub(r",\.", ".", re.sub(r" ([.,;])", r"\1", " ".join(text.split()))).translate(_FROM_PRIVATE)


def _describe(reference: Reference) -> JSONObject:
    """An entry of hayagriva."""
    kind, around = _KINDS.get(reference.kind, _OTHERS)
    entry: JSONObject = {"type": kind, "title": _safe(reference.title)}
    if reference.authors:
        entry["author"] = [_describe_name(name) for name in reference.authors]
    if reference.date:
        entry["date"] = reference.date.iso()
    place = {"volume": reference.volume, "issue": reference.issue}
    if reference.container:
        parts = {name: _safe(value) for name, value in place.items() if value}
        entry["parent"] = {"type": around, "title": _safe_container(reference.container), **parts}
    if reference.pages:
        entry["page-range"] = _safe(reference.pages)
    if reference.publisher and kind in ("book", "chapter", "report", "thesis"):
        entry["publisher"] = _safe(reference.publisher)
    if reference.doi:
        entry["serial-number"] = {"doi": reference.doi}
    elif reference.url:
        seen = {"date": reference.accessed.iso()} if reference.accessed else {}
        entry["url"] = {"value": reference.url, **seen}
    return entry


def _describe_name(name: Name) -> JSONObject:
    parts = {"name": name.family, "given-name": "" if name.literal else name.given, "suffix": name.suffix}
    return {part: _safe(value) for part, value in parts.items() if value}


def _safe_container(text: str) -> str:
    """A name of one word, such as arXiv, keeps its letters: the processor takes braces for that.

    It drops the blank after braces, so what has several words goes without them.
    """
    safe = _safe(text)
    return safe if " " in safe else f"{{{safe}}}"


def _safe(text: str) -> str:
    return " ".join(text.translate(_FORGED).split()).translate(_TO_PRIVATE)
