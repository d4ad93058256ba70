"""Values as scripts write them: JSON, and the forms of JavaScript that hold data alone. Nothing is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import unquote

MAX_DEPTH = 64

_BLANKS = re.compile(r"(?:\s++|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|//[^\n]*+)*+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+)*+")
_NUMBER = re.compile(r"[+-]?(?:0[xX][\da-fA-F]++|(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?)n?")
_STRINGS = {
    '"': re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.S),
    "'": re.compile(r"'([^'\\]*+(?:\\.[^'\\]*+)*+)'", re.S),
    "`": re.compile(r"`([^`\\$]*+(?:(?:\\.|\$(?!\{))[^`\\$]*+)*+)`", re.S),
}
_ESCAPE = re.compile(r"\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|.))", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_FUNCTION = re.compile(r"\(?\s*+function\s*+\(([\w$,\s]*+)\)\s*+\{")
_DECLARED = re.compile(r"(?:let|var|const)\s++([A-Za-z_$][\w$]*+)\s*+=")
_ASSIGNED = re.compile(r"([A-Za-z_$][\w$]*+)(?:\.([A-Za-z_$][\w$]*+)|\[)")
_CONSTANTS: dict[str, object] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": None,
    "NaN": None,
    "Infinity": None,
}
_MAX_DIGITS = 300
_JSON = json.JSONDecoder()


class NotALiteral(Exception):
    """What stands there is more than data."""


class Literal(NamedTuple):
    """A value as JSON has them. end: where the text goes on behind it."""

    value: object
    end: int


def read_literal(source: str, at: int = 0) -> Literal:
    """The value that begins at a place of a script.

    A call, such as `new Date(0)`, is its first argument, and `JSON.parse("…")` what the text holds. A function that is
    called at once, by which Nuxt and devalue write a value that comes twice, is what it returns. Raises NotALiteral.
    """
    at = _skip(source, at)
    try:
        return Literal(*_JSON.raw_decode(source, at))
    except (ValueError, RecursionError):
        pass
    try:
        return Literal(*_Reader(source, {}).read(at, 0))
    except (ValueError, LookupError, RecursionError) as error:
        raise NotALiteral from error


def _skip(source: str, at: int) -> int:
    found = _BLANKS.match(source, at)
    return found.end() if found else at


class _Reader:
    """Reads JavaScript at places of a source. names: what names stand for. Raises ValueError and LookupError."""

    def __init__(self, source: str, names: dict[str, object]) -> None:
        self._source, self._names = source, names

    def read(self, at: int, depth: int) -> tuple[object, int]:
        """The value at a place, and where it ends."""
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        at = _skip(self._source, at)
        sign = self._source[at]
        if sign in _STRINGS:
            return self._read_text(at)
        if sign == "{":
            return self._read_object(at + 1, depth + 1)
        if sign == "[":
            return self.read_list(at, "]", depth + 1)
        if sign in "(f" and (function := _FUNCTION.match(self._source, at)):
            return self._read_function(function)
        if sign == "(":
            value, at = self.read(at + 1, depth + 1)
            return value, self._pass(at, ")")
        if sign == "!":
            value, at = self.read(at + 1, depth + 1)
            return not value, at
        return self._read_word(at, depth)

    def _read_function(self, function: re.Match[str]) -> tuple[object, int]:
        """`(function(a,b){a.x=1;return {"y":b}}({},2))`: read once to find the arguments, then with them."""
        names = [name.strip() for name in function[1].split(",") if name.strip()]
        if self._names:
            raise ValueError("a function in a function")
        value, end = self._read_body(function.end(), dict.fromkeys(names, None))
        end = _skip(self._source, end)
        while self._source[end] in "};)":
            end = _skip(self._source, end + 1)
        values, end = self.read_list(end, ")", 0)
        if names:
            value, _ = self._read_body(function.end(), dict(zip(names, values, strict=False)))
        end = _skip(self._source, end)
        return value, end + 1 if function[0].startswith("(") and self._source.startswith(")", end) else end

    def _read_body(self, at: int, names: dict[str, object]) -> tuple[object, int]:
        """What a function returns, after statements such as `a.x=1;` and `let b=[];`."""
        reader = _Reader(self._source, {**names, "": None})
        while not self._source.startswith("return", at := _skip(self._source, at)):
            at = reader.assign(at)
        return reader.read(at + len("return"), 0)

    def read_list(self, at: int, end: str, depth: int) -> tuple[list[object], int]:
        """The values between brackets, the first of which stands at the place."""
        values: list[object] = []
        at = _skip(self._source, at + 1)
        while self._source[at] != end:
            if self._source[at] == ",":  # a hole
                values.append(None)
            else:
                value, at = self.read(at, depth)
                values.append(value)
            at = _skip(self._source, at)
            if self._source[at] != end:
                at = _skip(self._source, self._pass(at, ","))
        return values, at + 1

    def _read_object(self, at: int, depth: int) -> tuple[dict[str, object], int]:
        values: dict[str, object] = {}
        at = _skip(self._source, at)
        while self._source[at] != "}":
            key, at = self._read_key(at)
            values[key], at = self.read(self._pass(at, ":"), depth)
            at = _skip(self._source, at)
            if self._source[at] != "}":
                at = _skip(self._source, self._pass(at, ","))
        return values, at + 1

    def _read_key(self, at: int) -> tuple[str, int]:
        if self._source[at] in _STRINGS:
            return self._read_text(at)
        found = _NAME.match(self._source, at) or _NUMBER.match(self._source, at)
        if not found:
            raise ValueError("no key")
        return found[0], found.end()

    def _read_text(self, at: int) -> tuple[str, int]:
        found = _STRINGS[self._source[at]].match(self._source, at)
        if not found:
            raise ValueError("a text without an end")
        return _unescape(found[1]), found.end()

    def _read_word(self, at: int, depth: int) -> tuple[object, int]:
        if found := _NUMBER.match(self._source, at):
            return _as_number(found[0]), found.end()
        name = _NAME.match(self._source, at)
        if not name:
            raise ValueError("no value")
        if name[0] in ("new", "void"):
            value, end = self.read(name.end(), depth + 1)
            return (value if name[0] == "new" else None), end
        end = name.end()
        if self._source[end : end + 1] == "(":
            values, end = self.read_list(end, ")", depth + 1)
            return _call(name[0], values), end
        if name[0] in self._names:
            return self._names[name[0]], end
        return _CONSTANTS[name[0]], end

    def assign(self, at: int) -> int:
        """Read a statement that gives a name, or a part of what it stands for, a value; returns where it ends."""
        if declared := _DECLARED.match(self._source, at):
            self._names[declared[1]], at = self.read(declared.end(), 0)
            return self._pass(at, ";")
        found = _ASSIGNED.match(self._source, at)
        if not found:
            raise ValueError("no assignment")
        key: object = found[2]
        at = found.end()
        if key is None:
            key, at = self.read(at, 0)
            at = self._pass(at, "]")
        value, at = self.read(self._pass(at, "="), 0)
        _put(self._names.get(found[1]), key, value)
        return self._pass(at, ";")

    def _pass(self, at: int, sign: str) -> int:
        at = _skip(self._source, at)
        if self._source[at] != sign:
            raise ValueError(f"no {sign}")
        return at + 1


def _put(holder: object, key: object, value: object) -> None:
    """Put a value into an object or a list; a list is filled in order."""
    if isinstance(holder, dict):
        holder[str(key)] = value
    elif isinstance(holder, list):
        holder.append(value)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    done = _ESCAPE.sub(_unescape_one, text)
    return done.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves of a letter become one


def _unescape_one(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3]
    return chr(min(int(number, 16), 0x10FFFF)) if number else _ESCAPED.get(found[4], found[4])


def _as_number(text: str) -> object:
    text = text.rstrip("n")
    if len(text) > _MAX_DIGITS:
        return text
    if "x" in text.lower():
        return int(text, 16)
    return float(text) if set(text) & set(".eE") else int(text)


def _call(name: str, values: list[object]) -> object:
    first = values[0] if values else None
    if name == "Array":
        return [] if isinstance(first, int) else values
    function = _FUNCTIONS.get(name)
    return function(first) if function and isinstance(first, str) else first


_FUNCTIONS: dict[str, Callable[[str], object]] = {
    "JSON.parse": json.loads,
    "decodeURIComponent": unquote,
    "unescape": unquote,
}
