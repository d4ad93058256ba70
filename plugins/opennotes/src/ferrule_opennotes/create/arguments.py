"""What no note can have, and the schema cannot say."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ferrule_opennotes.create.file_name import MAX_NAME_BYTES

if TYPE_CHECKING:
    from ferrule import JSONObject

_MAX_TITLE_BYTES = 65_535  # bytes; written with escapes, it is still read back, and one argument for the CLI
_MAX_INTEGER = (1 << 63) - 1
_CONTROLS = ("Cc", "Zl", "Zp")  # general categories of Unicode
_INVISIBLE = (*_CONTROLS, "Cf", "Zs")
_NO_CHARACTERS = "\ufffe\uffff"  # which YAML does not have


def find_problems(arguments: JSONObject) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    return [
        *_check_title(arguments["title"]),
        *_check_path(arguments.get("path", "")),
        *_check_data(arguments.get("data", {}), arguments["title"]),
    ]


def _check_title(title: str) -> Iterator[str]:
    if not title.strip():
        yield "title: it is blank"
    elif all(unicodedata.category(character) in _INVISIBLE for character in title):
        yield "title: it has no visible character"
    if problem := _find_control(title):
        yield f"title: it holds {problem}; a title is one line of text"
    elif (length := len(title.encode())) > _MAX_TITLE_BYTES:
        yield f"title: it is {length:,} bytes long; a title has {_MAX_TITLE_BYTES:,} at most"


def _check_path(path: str) -> Iterator[str]:
    """Nothing about what leads out of the notebook, which has a code of its own."""
    if problem := _find_control(path):
        yield f"path: it holds {problem}"
        return
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for part in parts:
        if len(part.encode()) > MAX_NAME_BYTES:
            yield f"path: the name {part[:40]!r}… is longer than {MAX_NAME_BYTES} bytes"
            return
        if part != part.strip() or part.endswith("."):
            yield f"path: the name {part!r} starts or ends with a blank, or ends with a dot, which some systems drop"
            return
    if path.endswith(".md") and not parts[-1].removesuffix(".md").strip(". "):
        yield f"path: {parts[-1]!r} is no name for a note"


def _check_data(data: JSONObject, title: str) -> Iterator[str]:
    if data.get("title", title) != title:
        yield "data.title: it is another one than 'title', which is the note's title"
    for key, value in data.items():
        if not key.strip():
            yield "data: a field has no name"
        elif problem := _find_control(key):
            yield f"data: the name of the field {key[:40]!r} holds {problem}"
        else:
            yield from _check_value(f"data.{key[:100]}", value)


def _check_value(place: str, value: object) -> Iterator[str]:
    if isinstance(value, list):
        others = [(index, item) for index, item in enumerate(value) if not isinstance(item, str)]
        yield from (f"{place}[{index}]: {_show(item)} is not text; a list holds text only" for index, item in others)
    elif not isinstance(value, str | int | float):
        yield f"{place}: {_show(value)} is neither text, nor a number, nor true or false, nor a list of text"
    elif isinstance(value, int) and abs(value) > _MAX_INTEGER:
        yield f"{place}: it is a whole number of more than 64 bits; give it as text"


def _show(value: object) -> str:
    return json.dumps(value)[:40]


def _find_control(text: str) -> str | None:
    """The first character that ends a line or controls a terminal, in words; None if there is none."""
    for index, character in enumerate(text):
        if unicodedata.category(character) in _CONTROLS or character in _NO_CHARACTERS:
            return f"the control character U+{ord(character):04X} at position {index + 1}"
    return None
