"""Keeping credentials out of whatever leaves the host."""

from __future__ import annotations

from ferrule.text import strict_json
from ferrule.text.occurrences import Occurrences

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from ferrule.text.occurrences import Span

    T = TypeVar("T")
    _Holder = dict[str, object] | list[object]

REDACTED = b"[redacted]"
SHORTEST = 4  # characters; a shorter value would blot out ordinary words, and no provider hands out such a key

_SHORT_MASK = b"****"
_BETWEEN = b"\xff"  # texts that are looked at together; no text has this byte
_FIRST_OF_FOUR = 100  # with a sign; the smallest number that is written with SHORTEST characters
_LEAVES_BETWEEN_CALLS = 4096
_MIN_PIECE_CHARS = 6  # characters of base64 that are taken for a part of a secret


def redact(data: bytes, secrets: Iterable[str]) -> bytes:
    """Replace every secret in UTF-8 text, in each spelling that it may have taken on its way there.

    The spellings are: as it is, inside a string of JSON or Python, percent-encoded for a URL, and in base64, alone or
    as part of something longer such as HTTP basic authentication. A secret of fewer than four characters is left alone.
    The text never gets longer.
    """
    return Redaction(secrets).of_text(data)


def redact_json(document: bytes, secrets: Iterable[str]) -> bytes:
    """Replace every secret in one JSON document as the host writes it, which stays one, and never gets longer.

    Texts and keys are treated as by `redact`; a number that has a secret in it becomes null. Raises MalformedJSON.
    """
    return Redaction(secrets).of_json(document)


def redact_value(value: T, secrets: Iterable[str]) -> T:
    """A JSON value with every secret replaced as by `redact_json`; the value itself where there are no secrets."""
    redaction = Redaction(secrets)
    if not redaction.secrets:
        return value
    return strict_json.loads(redaction.of_json(strict_json.dumps(value)))  # type: ignore[return-value] # the same shape, with other texts


class Redaction:
    """The spellings of some secrets, worked out once for all the texts that they are looked for in, each in one pass.

    Its time depends on the size of the text and the longest secret, not on how many secrets there are.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self.secrets = [secret for secret in dict.fromkeys(secrets) if len(secret) >= SHORTEST]
        self._has_blank = any(" " in secret for secret in self.secrets)
        self._spellings = Occurrences(spelling for secret in self.secrets for spelling in _spellings(secret))
        plain = {form for secret in self.secrets for form in _decoded_forms(secret.encode())}
        self._decoded = Occurrences(plain)
        self._with_blanks = Occurrences(form.replace(b"+", b" ") for form in plain if b" " in form)

    def of_text(self, data: bytes) -> bytes:
        """See `redact`."""
        if not self.secrets:
            return data
        data = _masked(data, self._spellings.find(data))
        if b"%" in data:
            data = _masked(data, _in_encoded(data, self._decoded))
        if self._has_blank and b"+" in data:
            data = _masked(data, _in_encoded(data, self._with_blanks, is_form=True))
        return data

    def of_json(self, document: bytes, go_on: Callable[[], None] = lambda: None) -> bytes:
        """See `redact_json`. go_on: called every few milliseconds; may raise, if there is no time left."""
        if not self.secrets:
            return document
        whole = [strict_json.loads(document)]
        holders, texts = _leaves(whole, go_on)
        joined = _BETWEEN.join(texts)
        clean = self.of_text(joined)
        if clean == joined:
            return document
        go_on()
        parts = clean.split(_BETWEEN)
        if len(parts) != len(texts):  # there are too many places to tell them apart
            parts = [_mask(text) for text in texts]
        leaves = _paired(texts, parts, go_on)
        for holder in holders:
            if isinstance(holder, dict):
                members = [(_cleaned(key, leaves), _cleaned(value, leaves)) for key, value in holder.items()]
                holder.clear()
                holder.update(members)
            else:
                holder[:] = [_cleaned(value, leaves) for value in holder]
        return strict_json.dumps(whole[0])


def _leaves(whole: list[object], go_on: Callable[[], None]) -> tuple[list[_Holder], list[bytes]]:
    """All objects and arrays, and the text of each leaf in them, in one order."""
    holders: list[_Holder] = [whole]
    texts: list[bytes] = []
    count = 0
    for holder in holders:  # which grows meanwhile
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            count += 1
            if count % _LEAVES_BETWEEN_CALLS == 0:
                go_on()
            if isinstance(key, str) and len(key) >= SHORTEST:
                texts.append(key.encode())
            if isinstance(value, dict | list):
                if value:
                    holders.append(value)
            elif _is_leaf(value):
                texts.append(_text_of(value))
    return holders, texts


def _paired(texts: list[bytes], parts: list[bytes], go_on: Callable[[], None]) -> Iterator[tuple[bytes, bytes]]:
    for count, pair in enumerate(zip(texts, parts, strict=True)):
        if count % _LEAVES_BETWEEN_CALLS == 0:
            go_on()
        yield pair


def _is_leaf(value: object) -> bool:
    """Whether it is a text or a number that has room for a secret."""
    if isinstance(value, str):
        return len(value) >= SHORTEST
    return isinstance(value, float) or (isinstance(value, int) and not -_FIRST_OF_FOUR < value < _FIRST_OF_FOUR)


def _text_of(leaf: object) -> bytes:
    return leaf.encode() if isinstance(leaf, str) else strict_json.dumps(leaf)


def _cleaned(member: T, leaves: Iterator[tuple[bytes, bytes]]) -> T:
    """A key or a value without secrets; holders are cleaned by themselves."""
    if not _is_leaf(member):
        return member
    text, clean = next(leaves)
    if isinstance(member, str):
        return clean.decode()  # type: ignore[return-value] # T is str here
    return member if clean == text else None  # type: ignore[return-value] # a number with a secret becomes null


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


def _masked(data: bytes, spans: Sequence[Span]) -> bytes:
    if not spans:
        return data
    kept, at = bytearray(), 0
    for start, end in spans:
        kept += data[at:start] + _mask(data[start:end])
        at = end
    return bytes(kept + data[at:])


def _decoded_forms(secret: bytes) -> Iterable[bytes]:
    """The secret, and what remains of one that looks encoded itself, where an encoder has left its signs alone."""
    yield secret
    if b"%" in secret:
        form, _ = _without_encoding(secret)
        if len(form) >= SHORTEST:
            yield form


def _without_encoding(data: bytes) -> tuple[bytes, list[int]]:
    """The text that percent-encoding stands for, and where the letters that were encoded stand in it."""
    digits = "0123456789abcdefABCDEF"
    letters = {(high + low).encode(): bytes.fromhex(high + low) for high in digits for low in digits}
    first, *rest = data.split(b"%")
    pieces, places, at = [first], [], len(first)
    for piece in rest:
        letter = letters.get(piece[:2])
        if letter is None:
            pieces += b"%", piece
            at += len(piece) + 1
        else:
            places.append(at)
            pieces += letter, piece[2:]
            at += len(piece) - 1
    return b"".join(pieces), places


def _in_encoded(data: bytes, secrets: Occurrences, *, is_form: bool = False) -> list[Span]:
    """Where secrets stand in percent-encoded text.

    Which characters an encoder leaves alone differs, letters too, so what counts is the text without the encoding.
    is_form: a blank may be a plus sign, too.
    """
    from bisect import bisect_left

    plain, letters = _without_encoding(data)
    found = secrets.find(plain.replace(b"+", b" ") if is_form else plain)

    def place_in_data(place: int) -> int:
        return place + 2 * bisect_left(letters, place)  # each letter before it is two bytes longer where it is encoded

    return [(place_in_data(start), place_in_data(end)) for start, end in found]
