"""Where the scripts of a page keep data: elements of JSON, variables that are set, and the streams of frameworks."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.embedded_data.literals import NotALiteral, read_literal
from ferrule_fetch.embedded_data.references import link_values

if TYPE_CHECKING:
    from ferrule_fetch.tree import nodes

MAX_CHARS = 4 << 20
"""Of all scripts of a page together."""

_MAX_VALUES = 64  # of all scripts together
_MIN_CHARS = 20  # of a script that says anything
_JSON_TYPES = ("application/json", "text/json")
_LINKED_DATA_TYPE = "application/ld+json"
_ATTRIBUTES = ("data-page", "data-props", "data-preloaded", "data-react-props", "data-initial-state", "props")
_CODE_TYPES = ("", "text/javascript", "application/javascript", "module")

_SET = re.compile(
    r"(?:\b(?:window|self|globalThis)(?:\.([A-Za-z_$][\w$]{0,99})|\[[\"']([\w$-]{1,99})[\"']\])|\b(?:var|let|const)\s([A-Za-z_$][\w$]{0,99}))"
    r"\s{0,9}=\s{0,9}(?=[\[{(\"']|JSON\.parse|function|decodeURI)"
)
_FLIGHT = re.compile(r"__next_f\s{0,9}=?[^;]{0,60}?\.push\((?=\[)")
_TURBO_STREAM = re.compile(r"streamController\.enqueue\((?=[\"'])")
_TURBO_LINE = re.compile(r"(?:P\d{1,9}:)?(?=[\[{])")
_SVELTE_START = re.compile(
    r"\.start\((?:\s{0,9}\w{1,40},){1,2}\s{0,9}(?=\{)|__sveltekit_\w{1,40}\.resolve\(\s{0,9}(?:\d{1,9},\s{0,9}\(\)\s{0,9}=>\s{0,9})?(?=[\[{])"
)
_NOT_STATE = re.compile(
    r"(?:translations?|i18n|locale|config|env|analytics|dataLayer|features?|manifest)$", re.IGNORECASE
)


class Found(NamedTuple):
    """What scripts hold.

    linked: blocks of JSON-LD. states: trees of data by what they are called. flight: the stream of React, "" for none.
    """

    linked: list[object]
    states: list[tuple[str, object]]
    flight: str


def find_data(tree: nodes.Document) -> Found:
    """The data in the scripts of a page, as far as they are data alone."""
    reader = _Reader()
    for script in tree.select("script"):
        reader.take(script)
    for name in _ATTRIBUTES:
        for element in tree.select(f"[{name}]"):
            reader.take_attribute(element.attr(name) or "")
    return reader.collect()


class _Reader:
    """Takes one script after the other."""

    def __init__(self) -> None:
        self._linked: list[object] = []
        self._states: list[tuple[str, object]] = []
        self._flight: list[str] = []
        self._turbo: list[object] = []
        self._turbo_roots: list[int] = []  # where its lines begin
        self._room = MAX_CHARS
        self._values = _MAX_VALUES

    def collect(self) -> Found:
        """What was read."""
        linked = link_values(self._turbo, self._turbo_roots)
        turbo: list[tuple[str, object]] = [("react-router", linked)] if linked else []
        return Found(self._linked, turbo + self._states, "".join(self._flight))

    def take(self, script: nodes.Element) -> None:
        """Read one script, as long as the room for all of them lasts."""
        text = script.text
        kind = (script.attr("type") or "").partition(";")[0].strip().lower()
        if not _MIN_CHARS <= len(text) <= self._room:
            return
        self._room -= len(text)
        if kind == _LINKED_DATA_TYPE:
            self._linked.extend(_read_json(text))
        elif kind in _JSON_TYPES:
            self._take_json(script, text)
        elif kind in _CODE_TYPES:
            self._take_code(text)

    def take_attribute(self, text: str) -> None:
        """Read an attribute that may hold JSON, as Inertia has it."""
        if text.startswith(("{", "[")) and _MIN_CHARS <= len(text) <= self._room:
            self._room -= len(text)
            for value in _read_json(text):
                self._keep("", value)

    def _take_json(self, script: nodes.Element, text: str) -> None:
        name = script.attr("id") or ""
        for value in _read_json(text):
            if name == "__NUXT_DATA__" or script.attr("data-nuxt-data") is not None:
                value = link_values(value) if isinstance(value, list) else value
            self._keep(name, value)

    def _take_code(self, text: str) -> None:
        if "__next_f" in text:
            for value in self._read_all(_FLIGHT, text):
                if isinstance(value, list) and value[:1] == [1] and isinstance(value[-1], str):
                    self._flight.append(value[-1])
            return
        if "streamController" in text:
            for value in self._read_all(_TURBO_STREAM, text):
                self._take_stream(value)
        if "sveltekit" in text:
            for value in self._read_all(_SVELTE_START, text):
                self._keep("sveltekit", value.get("data") if isinstance(value, dict) and "node_ids" in value else value)
        for found, value in self._read_set(text):
            self._keep(found, value)

    def _take_stream(self, text: object) -> None:
        """The lines of turbo-stream, the places of which are counted over all of them."""
        for line in text.splitlines() if isinstance(text, str) else []:
            begin = _TURBO_LINE.match(line)
            for value in _read_json(line[begin.end() :]) if begin else []:
                self._turbo_roots.append(len(self._turbo))
                self._turbo.extend(value if isinstance(value, list) else [])

    def _read_all(self, place: re.Pattern[str], text: str) -> list[object]:
        return [value for _, value in self._read_from(place, text)]

    def _read_set(self, text: str) -> list[tuple[str, object]]:
        return [(name, value) for name, value in self._read_from(_SET, text) if isinstance(value, dict | list)]

    def _read_from(self, place: re.Pattern[str], text: str) -> list[tuple[str, object]]:
        """The values that stand behind what a pattern finds, each with a name where the pattern has one."""
        values: list[tuple[str, object]] = []
        at = 0
        is_stream = place is _FLIGHT or place is _TURBO_STREAM
        while self._values > 0 and (found := place.search(text, at)):
            self._values -= not is_stream
            at = found.end()
            try:
                value, at = read_literal(text, at)
            except NotALiteral:
                self._values -= is_stream
                continue
            values.append((next(filter(None, found.groups()), ""), value))
        return values

    def _keep(self, name: str, value: object) -> None:
        if value and isinstance(value, dict | list) and not _NOT_STATE.search(name):
            self._states.append((name, value))


def _read_json(text: str) -> list[object]:
    """The value of a JSON text, in a list that is empty where it is none."""
    text = text.strip().removeprefix("<!--").removesuffix("-->").removeprefix("//<![CDATA[").removesuffix("//]]>")
    try:
        return [json.loads(text, strict=False)]
    except (json.JSONDecodeError, RecursionError):
        return []
    except ValueError:  # an integer of more digits than Python reads
        return [json.loads(text, strict=False, parse_int=float)]
