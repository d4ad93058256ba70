"""Keeping credentials out of whatever leaves the host."""

from __future__ import annotations

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    T = TypeVar("T")

REDACTED = b"[redacted]"
SHORTEST = 4  # characters; a shorter value would blot out ordinary words, and no provider hands out such a key

_SHORT_MASK = b"****"
_MIN_PIECE_CHARS = 6  # characters of base64 that are taken for a part of a secret


def redact(data: bytes, secrets: Iterable[str]) -> bytes:
    """Replace every secret in UTF-8 text, in each spelling that it may have taken on its way there.

    The spellings are: as it is, inside a string of JSON or Python, percent-encoded for a URL, and in base64, alone or
    as part of something longer such as HTTP basic authentication. A secret of fewer than four characters is left alone.
    The text never gets longer.
    """
    return _Redaction(secrets).of_text(data)


def redact_json(document: bytes, secrets: Iterable[str]) -> bytes:
    """Replace every secret in one JSON document as the host writes it, which stays one, and never gets longer.

    Texts and keys are treated as by `redact`; a number that has a secret in it becomes null. Raises MalformedJSON.
    """
    redaction = _Redaction(secrets)
    if not redaction.secrets:
        return document
    whole = [strict_json.loads(document)]
    waiting: list[dict[str, object] | list[object]] = [whole]
    has_changed = False
    while waiting:
        holder = waiting.pop()
        members = list(holder.items() if isinstance(holder, dict) else enumerate(holder))
        clean = [(redaction.of_leaf(key), redaction.of_leaf(value)) for key, value in members]
        if clean != members:
            has_changed = True
            _refill(holder, clean)
        waiting.extend(value for _, value in clean if isinstance(value, dict | list))
    return strict_json.dumps(whole[0]) if has_changed else document


def redact_value(value: T, secrets: Iterable[str]) -> T:
    """A JSON value with every secret replaced as by `redact_json`; the value itself where there are no secrets."""
    secrets = list(secrets)
    if not secrets:
        return value
    return strict_json.loads(redact_json(strict_json.dumps(value), secrets))  # type: ignore[return-value]


class _Redaction:
    """The spellings of some secrets, worked out once for all the texts that they are looked for in."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self.secrets = [secret for secret in secrets if len(secret) >= SHORTEST]
        self._has_blank = any(" " in secret for secret in self.secrets)
        # The longest first: where one secret is a part of another, no rest of that must stay.
        unique = {spelling for secret in self.secrets for spelling in _spellings(secret)}
        self._spellings = sorted(unique, key=len, reverse=True)

    def of_text(self, data: bytes) -> bytes:
        for spelling in self._spellings:
            data = data.replace(spelling, _mask(spelling))
        return (
            _redact_percent_encoded(data, self.secrets) if b"%" in data or (self._has_blank and b"+" in data) else data
        )

    def of_leaf(self, leaf: object) -> object:
        if isinstance(leaf, str):
            return self.of_text(leaf.encode()).decode()
        if isinstance(leaf, int | float) and not isinstance(leaf, bool):
            number = strict_json.dumps(leaf).decode()
            return None if any(secret in number for secret in self.secrets) else leaf
        return leaf


def _refill(holder: dict[str, object] | list[object], members: list[tuple[object, object]]) -> None:
    if isinstance(holder, dict):
        holder.clear()
        holder.update(members)  # type: ignore[arg-type]
    else:
        holder[:] = [value for _, value in members]


def _mask(spelling: bytes) -> bytes:
    return REDACTED if len(spelling) >= len(REDACTED) else _SHORT_MASK


def _spellings(secret: str) -> Iterable[bytes]:
    escaped = strict_json.dumps(secret)[1:-1].decode()
    ascii_only = "".join(letter if letter.isascii() else _code_units(letter) for letter in escaped)
    texts = {secret, escaped, ascii_only, repr(secret)[1:-1]}
    texts |= {strict_json.dumps(text)[1:-1].decode() for text in (escaped, ascii_only)}
    return [*(text.encode() for text in texts), *_in_base64(secret.encode())]


def _code_units(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[index : index + 2].hex()}" for index in range(0, len(units), 2))


def _in_base64(plain: bytes) -> Iterable[bytes]:
    """What base64 makes of the bytes, wherever they begin in a group of three: the letters that they alone decide."""
    from binascii import b2a_base64

    yield b2a_base64(plain, newline=False)
    for before in range(3):
        letters = b2a_base64(bytes(before) + plain, newline=False)
        piece = letters[(before * 8 + 5) // 6 : (before + len(plain)) * 8 // 6]
        if len(piece) >= _MIN_PIECE_CHARS:
            yield piece
            yield piece.translate(bytes.maketrans(b"+/", b"-_"))


def _redact_percent_encoded(data: bytes, secrets: Iterable[str]) -> bytes:
    """Which characters an encoder leaves alone differs, so each of a secret's may be encoded or not, letters too."""
    import re

    for secret in secrets:
        pattern = b"".join(map(_either_way, secret.encode()))
        data = re.sub(pattern, lambda found: _mask(found.group()), data)
    return data


def _either_way(byte: int) -> bytes:
    letter = b"\\x%02x" % byte
    return b"(?:%s|%%(?i:%02x)%s)" % (letter, byte, b"|\\+" * (byte == 0x20))
