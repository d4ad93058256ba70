"""The frontmatter at the start of a note: YAML, and TOML and JSON, as generators of websites have it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from ferrule_opennotes.notebook import frontmatter
from ferrule_opennotes.notebook.frontmatter import MAX_CHARS, Reading

if TYPE_CHECKING:
    from ferrule import JSONObject

_STARTS = ("---", "+++", "{")
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_JSON_START = re.compile(r'\{\s*(?:"|\})')
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_MAX_FAULT_CHARS = 200

Form = Literal["YAML", "TOML", "JSON"]


class Block(NamedTuple):
    """A block of frontmatter. source: what stands between its marks; of JSON, the whole object."""

    form: Form
    source: str


def may_begin(text: str) -> bool:
    """Whether a text could begin with frontmatter."""
    return text.removeprefix("\ufeff").startswith(_STARTS)


def split(text: str) -> tuple[Block | None, str]:
    """The block at the start of a text, None if there is none, and what follows it.

    YAML stands between lines `---`, TOML between lines `+++`. JSON is one object; what is none is text.
    """
    plain = text.removeprefix("\ufeff")
    if plain.startswith("+++"):
        found = _TOML.match(plain, 0, MAX_CHARS)
        return (Block("TOML", found[1]), plain[found.end() :]) if found else (None, text)
    if plain.startswith("{"):
        return _split_json(plain, text)
    source, rest = frontmatter.split(text)
    return (None if source is None else Block("YAML", source)), rest


def read(block: Block) -> Reading:
    """The block's fields with JSON's types."""
    if block.form == "YAML":
        return frontmatter.read(block.source)
    parse = _parse_toml if block.form == "TOML" else json.loads
    try:
        return Reading(frontmatter.convert(parse(block.source)))
    except ValueError as error:
        return Reading(None, str(error)[:_MAX_FAULT_CHARS])
    except frontmatter.FAILURES:
        return Reading(None)


def _parse_toml(source: str) -> JSONObject:
    import tomllib

    return tomllib.loads(source.replace("\r\n", "\n"))


def _split_json(plain: str, text: str) -> tuple[Block | None, str]:
    if not _JSON_START.match(plain):
        return None, text
    try:
        _, end = json.JSONDecoder().raw_decode(plain[:MAX_CHARS])
    except (ValueError, RecursionError):
        return None, text
    closing = _LINE_END.match(plain, end)
    return (Block("JSON", plain[:end]), plain[closing.end() :]) if closing else (None, text)
