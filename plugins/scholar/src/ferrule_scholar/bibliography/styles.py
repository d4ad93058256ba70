"""References in a style of the Citation Style Language, written by the processor that typst brings.

It reads its own format, hayagriva, as YAML, of which JSON is a part, and writes HTML, of which the text is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import unescape
from typing import TYPE_CHECKING

from ferrule.errors import ToolError

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_research.library import Name
    from ferrule_scholar.works.reference import Reference

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
_TAG = re.compile(r"<[^>]*>")
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
    """Each reference as a line, in the order of the style. style: a key of `STYLES`. Raises ToolError."""
    import typst

    items = {f"r{number}": _describe(one) for number, one in enumerate(references, start=1)}
    inputs = {"references": json.dumps(items, ensure_ascii=False), "style": STYLES[style]}
    try:
        page = typst.compile(_SOURCE, format="html", sys_inputs=inputs, ignore_system_fonts=True)
    except typst.TypstError as error:
        raise ToolError("API_ERROR", "The references cannot be written in this style.") from error
    lines = [_plain(item) for item in _ITEM.findall((page or b"").decode())]
    if len(lines) != len(references):
        raise ToolError("API_ERROR", "The processor of styles left out references.")
    return lines


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
