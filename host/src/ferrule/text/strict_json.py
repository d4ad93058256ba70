"""JSON as the client reads it: strict on the way in, strict on the way out, and cheap to start.

The standard library's `json` compiles regular expressions when it is imported, which takes as long as two thirds of an
interpreter's start. Its C scanner and encoder need none of them, so they are used directly, with `json` itself where
they are missing. What `json` lets through and the client refuses (duplicate keys, NaN, numbers out of range, lone
surrogates, NUL) is refused here, in both directions. The C module is looked up once: a plugin may take it away.
"""

from __future__ import annotations

try:
    import _json
except ImportError:
    _json = None  # type: ignore[assignment] # an interpreter without the C module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.text.json_types import JSONObject

    _Scanner = Callable[[str, int], tuple[object, int]]

_SPACE = " \t\n\r"
_MAX_NUMBER = 1.7976931348623157e308  # the client holds an integer that takes more than 64 bits as a double
_SURELY_FINITE_DIGITS = 308  # digits
_INFINITE = (float("inf"), float("-inf"))
_MAX_NESTING = 500  # objects and lists in one another; about half of what Python's stack has room for
_HOLDERS = (dict, list, tuple)


class MalformedJSON(ValueError):
    """The text is not JSON that the client would read. The message says what is wrong, and where if that is known.

    discreet: the message without anything that stands in the text.
    """

    def __init__(self, message: str, discreet: str | None = None) -> None:
        super().__init__(message)
        self.discreet = discreet or message


class Unrepresentable(ValueError):
    """The value cannot be written as JSON that the client would read. The message starts with the place in it."""


def loads(data: bytes | str) -> object:
    """Read one JSON document.

    Raises MalformedJSON for everything that is not exactly one document of strict JSON.
    """
    text = _decode(data)
    start = _after_space(text, 0) if text[:1] in _SPACE else 0
    if start == len(text):
        raise MalformedJSON("it is empty")
    try:
        value, end = _scan(text, start)
    except StopIteration as stop:
        raise MalformedJSON(f"a value was expected at {_position(text, int(stop.value))}") from None
    except RecursionError:
        raise MalformedJSON("it is nested too deeply") from None
    except MalformedJSON:
        raise
    except ValueError as error:
        raise MalformedJSON(_reason(error)) from None
    end = end if end == len(text) else _after_space(text, end)
    if end != len(text):
        raise MalformedJSON(f"the document ends, and something follows at {_position(text, end)}")
    if "\\u" in text:
        _refuse_unstorable(value)
    return value


def dumps(value: object) -> bytes:
    """Write a value as one line of compact UTF-8 that the client reads back unchanged.

    Raises Unrepresentable for what JSON or the client cannot hold: NaN, an infinity, a lone surrogate, NUL, a key that
    is not a string, an object of another type, a circle, or nesting too deep to write.
    """
    try:
        text = _encode(value)
        data = None if "\\u0000" in text else text.encode()
    except (TypeError, ValueError, RecursionError):
        data = text = None
    if data is None:
        from ferrule.text.json_diagnosis import diagnose

        reason = diagnose(value)
        if reason or text is None:
            raise Unrepresentable(reason or "it is circular or nested too deeply")
        data = text.encode()
    return data


def loads_object(data: bytes | str) -> JSONObject:
    """`loads` for a document that is an object. Raises MalformedJSON for any other, too."""
    value = loads(data)
    if not isinstance(value, dict):
        raise MalformedJSON(f"it is {type(value).__name__}, an object was expected")
    return value


def canonical(value: object) -> bytes:
    """The one way to write a JSON value: sorted keys, no blanks, UTF-8. Raises Unrepresentable.

    Texts are compared by their characters, without normalisation. 1 and 1.0 are told apart, since a tool can tell them
    apart. 1.0 and 1e0 are one.
    """
    return dumps(_sorted(value))


def is_nested_too_deeply(document: bytes, value: object) -> bool:
    """Whether more objects and lists are in one another than a message may have. document: the value as JSON.

    Python reads and writes JSON by recursion, as deeply as its stack leaves room for: what can just be read in one
    place could not be written where more functions are being called.
    """
    if document.count(b"[") + document.count(b"{") <= _MAX_NESTING or not isinstance(value, _HOLDERS):
        return False
    level = [value]
    for _ in range(_MAX_NESTING):
        members = (one.values() if isinstance(one, dict) else one for one in level)
        level = [inner for those in members for inner in those if isinstance(inner, _HOLDERS)]
        if not level:
            return False
    return True


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value


def _decode(data: bytes | str) -> str:
    try:
        # Text has come through the file system's encoding, which leaves a surrogate where a byte was no UTF-8.
        text = (data.encode(errors="surrogateescape") if isinstance(data, str) else data).decode()
    except UnicodeDecodeError as error:
        raise MalformedJSON(f"byte {error.start + 1} is not UTF-8") from None
    except UnicodeEncodeError as error:
        raise MalformedJSON(f"character {error.start + 1} is a lone surrogate") from None
    if text.startswith("\ufeff"):
        raise MalformedJSON("it starts with a byte order mark")
    return text


def _after_space(text: str, index: int) -> int:
    while index < len(text) and text[index] in _SPACE:
        index += 1
    return index


def _position(text: str, index: int) -> str:
    line = text.count("\n", 0, index) + 1
    return f"line {line} column {index - text.rfind(chr(10), 0, index)}"


def _reason(error: ValueError) -> str:
    message = str(getattr(error, "msg", "it holds a number that is out of range")).removesuffix(" at")
    where = f" at line {getattr(error, 'lineno', 1)} column {getattr(error, 'colno', 1)}"
    return f"{message[:1].lower()}{message[1:]}{where}"


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                where = "stands twice in one object"
                raise MalformedJSON(f"the key {key[:60]!r} {where}", f"a key {where}")
            seen.add(key)
    return value


def _finite(text: str) -> float:
    number = float(text)
    if number in _INFINITE:
        raise MalformedJSON(f"the number {text[:40]} is out of range", "a number is out of range")
    return number


def _parse_integer(text: str) -> int:
    if len(text) > _SURELY_FINITE_DIGITS:
        _finite(text)
    return int(text)


def _no_constant(text: str) -> object:
    raise MalformedJSON(f"{text} is not JSON")


class _Reading:
    """What the C scanner reads its settings from; the same names as on `json.JSONDecoder`."""

    strict = True
    object_hook = None
    object_pairs_hook = staticmethod(_unique)
    parse_float = staticmethod(_finite)
    parse_int = staticmethod(_parse_integer)
    parse_constant = staticmethod(_no_constant)
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner wants to find it here, and empties it itself


def _scan(text: str, start: int) -> tuple[object, int]:
    try:
        return _scanner()(text, start)
    except SystemError:
        # The scanner raises json's own error class, and fails like this as long as json has not been imported.
        import json.decoder  # noqa: F401 - the import is what helps

        return _scanner()(text, start)


_made: _Scanner | None = None if _json is None else _json.make_scanner(_Reading())  # type: ignore[arg-type] # it takes what has these names


def _scanner() -> _Scanner:
    if _made is not None:
        return _made
    from json import JSONDecoder

    hooks = {name: getattr(_Reading, name) for name in ("object_pairs_hook", "parse_float", "parse_int")}
    scanner: _Scanner = JSONDecoder(parse_constant=_no_constant, **hooks).scan_once  # type: ignore[attr-defined] # typeshed lacks it
    return scanner


def _refuse_unstorable(value: object) -> None:
    from ferrule.text.json_diagnosis import find_fault, has_nul, is_surrogate

    for name, is_wrong in (("lone surrogate", is_surrogate), ("NUL character", has_nul)):
        place = find_fault(value, is_wrong)
        if place is not None:
            raise MalformedJSON(f"a {name} stands at {place or 'the top'}", f"a {name} stands in it")


def _not_json(value: object) -> object:
    raise TypeError(type(value).__name__)


def _encode(value: object) -> str:
    if not _is_plain(value):
        raise TypeError("a key is not a string, or an integer is out of range")
    if _json is None:
        import json

        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    markers: dict[int, object] = {}
    encoder = _json.make_encoder(markers, _not_json, _json.encode_basestring, None, ":", ",", False, False, False)
    return "".join(encoder(value, 0))


def _is_plain(value: object) -> bool:
    """The encoder would turn a number into a key, and write an integer of any size, without a word."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if type(item) is str:  # most are, and none of what follows
            continue
        if isinstance(item, int) and not -_MAX_NUMBER <= item <= _MAX_NUMBER:
            return False
        if not isinstance(item, dict | list | tuple) or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            if not all(isinstance(key, str) for key in item):
                return False
            waiting.extend(item.values())
        else:
            waiting.extend(item)
    return True
