"""What a page says of itself for machines: JSON-LD, OpenGraph, Highwire and other meta elements, within bounds."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.library import TooMuch, bounded, elements_of, without_invisible

if TYPE_CHECKING:
    from ferrule import JSONObject

MAX_BLOCKS = 16
MAX_BLOCK_BYTES = 32 << 10
MAX_TOTAL_BLOCK_BYTES = 64 << 10
MAX_PROPERTIES = 64
MAX_VALUE_BYTES = 2 << 10
MAX_FRAMES = 2

_MAX_DEPTH = 40
_MAX_NUMBER = sys.float_info.max
_MAX_SECONDS = 3.0
_NAMES = ("meta", "script", "iframe", "time", "link", "html")
_OPEN_GRAPH = ("og:", "article:")
_HIGHWIRE = "citation_"
_SEPARATOR = re.compile("[/#:]")  # what stands between a vocabulary and a name of it
_MORE_THAN_ONCE = ("citation_author", "citation_editor", "citation_keywords")


class EmbeddedData(NamedTuple):
    """What was found. All of it is the page's own word, and text of one line, but for the JSON.

    json_ld: blocks, each any JSON. open_graph, highwire: values by names in small letters, several authors with "; "
    between them. others: of further meta elements. frames: addresses of iframes. language: of the page.
    """

    json_ld: list[object]
    open_graph: dict[str, str]
    highwire: dict[str, str]
    others: dict[str, str]
    frames: list[str]
    language: str

    def as_json(self) -> JSONObject:
        """The parts that there are, as the answer has them."""
        parts = {"jsonLd": self.json_ld, "openGraph": self.open_graph, "citation": self.highwire}
        return {name: part for name, part in parts.items() if part}


NO_DATA = EmbeddedData([], {}, {}, {}, [], "")


def read_embedded(html: str, deadline: float) -> EmbeddedData:
    """Read the HTML of a page, in a process that is ended where it takes too much; NO_DATA where it does."""
    try:
        found = bounded(lambda: json.dumps(_read(html)), seconds=_MAX_SECONDS, deadline=deadline)
    except TooMuch:
        return NO_DATA
    return EmbeddedData(**json.loads(found))


def cut(text: str, max_bytes: int) -> str:
    """The beginning of a text, `max_bytes` in UTF-8 at most, without a part of a character."""
    data = text.encode()
    return text if len(data) <= max_bytes else data[:max_bytes].decode(errors="ignore")


def _read(html: str) -> JSONObject:
    reader = _Reader()
    for element in elements_of(html, _NAMES):
        reader.take(element.name, element.attributes, element.text)
    return reader.found._asdict()


class _Reader:
    """Takes one element after the other. found: what they hold."""

    def __init__(self) -> None:
        self.found = EmbeddedData([], {}, {}, {}, [], "")
        self._room = MAX_TOTAL_BLOCK_BYTES

    def take(self, name: str, attributes: Mapping[str, str], text: str) -> None:
        if name == "meta":
            self._meta(attributes)
        elif name == "script":
            if attributes.get("type", "").partition(";")[0].strip().lower() == "application/ld+json":
                self._block(text)
        elif name == "iframe":
            self._frame(attributes.get("src", ""))
        elif name == "html":
            found = self.found.language or attributes.get("lang", "")[:35]
            self.found = self.found._replace(language=one_line(found))
        elif name == "time" and "datetime" in attributes:
            self._put(self.found.others, "time", attributes["datetime"])

    def _meta(self, attributes: Mapping[str, str]) -> None:
        name = (attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or "").strip()
        value = attributes.get("content", "")
        key = name.lower()
        if key.startswith(_OPEN_GRAPH):
            self._put(self.found.open_graph, key, value)
        elif key.startswith(_HIGHWIRE):
            self._put(self.found.highwire, key, value, again=key in _MORE_THAN_ONCE)
        elif key:
            self._put(self.found.others, key, value)

    def _put(self, values: dict[str, str], key: str, value: str, *, again: bool = False) -> None:
        """Keep a value; the first one where a name comes twice, unless the name is one that may."""
        value, key = one_line(value), cut(one_line(key), 100)
        if not value or not key:
            return
        if key in values and again:
            values[key] = cut(f"{values[key]}; {value}", MAX_VALUE_BYTES)
        elif key not in values and len(values) < MAX_PROPERTIES:
            values[key] = cut(value, MAX_VALUE_BYTES)

    def _block(self, text: str) -> None:
        size = len(text.encode(errors="replace"))
        if size > min(MAX_BLOCK_BYTES, self._room) or len(self.found.json_ld) == MAX_BLOCKS:
            return
        try:
            value = clean(json.loads(text, parse_constant=_refuse))
        except (ValueError, RecursionError):
            return
        self._room -= size
        self.found.json_ld.append(value)

    def _frame(self, address: str) -> None:
        if len(self.found.frames) < MAX_FRAMES and address.startswith(("http://", "https://", "/")):
            self.found.frames.append(address)


def one_line(text: str) -> str:
    """A text without line ends, and without what is invisible."""
    return " ".join(without_invisible(text).split())


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def clean(value: object, depth: int = 0) -> object:
    """JSON that any client can read: nothing invisible, no infinity, not too deep. Raises ValueError."""
    if depth > _MAX_DEPTH:
        raise ValueError("too deep")
    if isinstance(value, str):
        return without_invisible(value)
    if isinstance(value, int) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        return str(value)  # which some clients' numbers cannot hold, and the rest of the block can still be read
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not finite")
    if isinstance(value, list):
        return [clean(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {without_invisible(key): clean(one, depth + 1) for key, one in value.items()}
    return value


def nodes_of(json_ld: list[object]) -> Iterator[JSONObject]:
    """The objects of JSON-LD that a page is described by: those of the blocks, of their lists and `@graph`s."""
    waiting = list(reversed(json_ld))
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            yield value
            waiting.extend(value[name] for name in ("mainEntity", "@graph") if isinstance(value.get(name), dict | list))


def types_of(node: Mapping[str, object]) -> list[str]:
    """The names of an object's types, without the vocabulary they are from."""
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    return [_SEPARATOR.split(name.rstrip("/"))[-1] for name in names if isinstance(name, str)]
