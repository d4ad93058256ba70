"""The YAML block at the start of a note: found, and read with its types.

Read by the rules of YAML 1.2, as the CLI does: `no`, `on` and `12:30` are text, and so is a date, which JSON has no
type for. A number whose digits would not survive (`007`, or the identifier `1e99999`) stays text as well.

A block that YAML refuses, for a colon or a quote in a title, is read line by line, as the older CLI reads every block.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterator
from datetime import date, time
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_opennotes.notebook.characters import make_storable

if TYPE_CHECKING:
    import yaml

    from ferrule import JSONObject

MAX_CHARS = 1 << 18  # characters; a longer block is prose between two rules, or hostile
_MAX_DEPTH = 30
_SHALLOW_MARKS = 500  # characters that open a level of nesting
_MAX_VALUES = 20_000  # after aliases are followed, of which a few can stand for billions
_BLOCK = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"\t*([^\s#:\[\]{}\"'-][^:\n]{0,199}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_MAX_ENTRIES = 1_000  # that are read line by line
# What YAML takes for text, whatever its version: it begins with a letter, and has no sign with a meaning.
_WORDS = r"[^\W\d_][\w./()'-]*(?: [\w./()'-]+)*"
_TEXT = r"[^\W\d_][\w./()',!?;&+=-]*(?: [\w./()',!?;&+=-]+)*"
_DATE = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?"
_LIST = rf"(?:{_WORDS}(?:, *{_WORDS})*)?"
_PLAIN_LINE = re.compile(rf"([A-Za-z_][\w-]*): +(?:({_TEXT}|{_DATE})|(0|[1-9][0-9]{{0,17}})|\[({_LIST})\]) *\r?")
_RESERVED = re.compile(r"\b(?:true|false|null)\b", re.IGNORECASE)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NUMBERS_BEGIN = "-+0123456789."
_WHOLE = r"[-+]?(?:0|[1-9][0-9]*|0o[0-7]+|0x[0-9a-fA-F]+)"
_FLOAT = (
    r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_MAX_INTEGER = (1 << 63) - 1  # what readers of JSON and the CLI hold


class _LimitError(Exception):
    """The block's values are too many or too deep to be answered with."""


FAILURES = (_LimitError, ValueError, RecursionError, TypeError)


def split(text: str) -> tuple[str | None, str]:
    """The YAML of the block, None if there is none, and what follows it.

    The block starts with the file, between a line `---` and a line `---` or `...`.
    """
    if not text.startswith(("---", "\ufeff---")):
        return None, text
    block = _BLOCK.match(text, 0, MAX_CHARS)
    return (block[1], text[block.end() :]) if block else (None, text)


def quote(text: str) -> str:
    """The text as YAML in double quotes, in one line.

    JSON is YAML but for the characters that YAML takes for line breaks, or for none at all.
    """
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


class Reading(NamedTuple):
    """What a block says. fields: None where it is no mapping, or absurdly large. fault: why YAML refused it."""

    fields: JSONObject | None
    fault: str | None = None


def read(block: str) -> Reading:
    """The block's fields with JSON's types: by YAML, and line by line where that refuses it."""
    plain = _read_plain(block)
    if plain is not None:
        return Reading(plain)
    import yaml

    try:
        return Reading(_parse(block))
    except yaml.MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        return Reading(_read_lines(block), f"{place}{error.problem}")
    except (yaml.YAMLError, *FAILURES):
        return Reading(None)


def load(block: str) -> JSONObject | None:
    """The block's fields with JSON's types; None where it is no YAML, or no mapping, or absurdly large."""
    found = read(block)
    return None if found.fault else found.fields


def _read_plain(block: str) -> JSONObject | None:
    """The fields of a block that any reader of YAML reads alike; None for any other.

    Most blocks are of this kind, and are read in a twentieth of the time, which a notebook of thousands is asked for.
    """
    lines = block.removesuffix("\n").split("\n")
    if len(lines) > _MAX_ENTRIES or _RESERVED.search(block):
        return None
    fields: JSONObject = {}
    for line in lines:
        found = _PLAIN_LINE.fullmatch(line)
        if found is None:
            return None
        name, text, number, items = found.groups()
        if items is None:
            fields[name] = text if number is None else int(number)
        else:
            fields[name] = [item.strip() for item in items.split(",")] if items else []
    return fields


def _parse(block: str) -> JSONObject | None:
    import yaml

    if not block.strip():
        return {}
    _refuse_depth(block)
    value = yaml.load(block, Loader=_make_loader())  # noqa: S506 - derived from the safe loader
    return {} if value is None else convert(value)  # nothing but comments


def convert(value: object) -> JSONObject | None:
    """A mapping that a parser gave, with JSON's types; None for anything else. Raises what `FAILURES` names."""
    plain = _convert(value, iter(range(_MAX_VALUES)))
    return plain if isinstance(plain, dict) else None


def _read_lines(block: str) -> JSONObject | None:
    """The entries `name: value`, each by YAML with the lines that belong to it, or else the rest of its line as text.

    None if there is no entry, or where something stands before the first.
    """
    entries: list[tuple[re.Match[str], list[str]]] = []
    for line in block.splitlines():
        if entry := _ENTRY.fullmatch(line):
            entries.append((entry, [line.lstrip("\t")]))
        elif entries:
            entries[-1][1].append(line)
        elif line.strip() and not line.startswith("#"):
            return None
    if not entries or len(entries) > _MAX_ENTRIES:
        return None
    return {make_storable(entry[1]): _read_entry(entry, "\n".join(lines)) for entry, lines in entries}


def _read_entry(entry: re.Match[str], text: str) -> object:
    import yaml

    try:
        value = _parse(text.expandtabs(2))
    except (yaml.YAMLError, *FAILURES):
        value = None
    if value and len(value) == 1:
        return next(iter(value.values()))
    return _read_items(make_storable((entry[2] or "").strip().strip('"')))


def _read_items(text: str) -> object:
    """What YAML refuses, as text, or as the texts between commas where it stands in the brackets of a list."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    items = [item.strip().strip("\"'") for item in text[1:-1].split(",", _MAX_ENTRIES)]
    return [item for item in items if item]


def _refuse_depth(block: str) -> None:
    """Raise _LimitError for nesting that libyaml's recursive composer would crash the process with."""
    import yaml

    if sum(map(block.count, "[{-?:")) <= _SHALLOW_MARKS:  # no level of nesting does without one of these
        return
    depth = 0
    for event in yaml.parse(block, Loader=_make_loader()):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH + 1:
            raise _LimitError


def _convert(value: object, places: Iterator[int], depth: int = 0) -> object:
    """What YAML gave as what JSON has. places: one for each value that there may still be."""
    if next(places, None) is None or depth > _MAX_DEPTH:
        raise _LimitError
    if isinstance(value, dict):
        return {_key(key): _convert(item, places, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_convert(item, places, depth + 1) for item in value]
    return _scalar(value)


def _key(key: object) -> str:
    if isinstance(key, str):
        return make_storable(key)
    return {True: "true", False: "false", None: "null"}[key] if key is None or isinstance(key, bool) else str(key)


def _scalar(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        return str(value)
    if isinstance(value, date | time):
        return value.isoformat().replace("+00:00", "Z")
    return make_storable(value) if isinstance(value, str) else value


@cache
def _make_loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("Loader", (base,), {"yaml_implicit_resolvers": {}})
    for tag, pattern, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("int", _WHOLE, _NUMBERS_BEGIN),
        ("float", _FLOAT, _NUMBERS_BEGIN),
        ("merge", "<<", "<"),
    ):
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), list(first))
    loader.add_constructor("tag:yaml.org,2002:bool", _construct_truth)
    loader.add_constructor("tag:yaml.org,2002:set", _construct_unknown)
    loader.add_constructor("tag:yaml.org,2002:int", _construct_number)
    loader.add_constructor("tag:yaml.org,2002:float", _construct_number)
    loader.add_constructor("tag:yaml.org,2002:timestamp", base.construct_yaml_str)
    loader.add_constructor(None, _construct_unknown)
    return loader


def _construct_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    """The number, or the text that stands there where it would not survive as one."""
    text = str(loader.construct_scalar(node))
    digits = text.lstrip("+-")
    if digits.startswith(("0o", "0x")):
        whole = int(digits, 0)
        return (-whole if text.startswith("-") else whole) if whole <= _MAX_INTEGER else text
    if digits.isdigit():
        return int(text) if len(digits) < 20 and abs(int(text)) <= _MAX_INTEGER else text
    try:
        number = float(text)
    except ValueError:
        return text  # .inf and .nan, which JSON does not have
    return number if math.isfinite(number) else text


def _construct_truth(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    """The truth value, or under a tag that says so wrongly the text."""
    text = str(loader.construct_scalar(node))
    return {"true": True, "false": False}.get(text.lower(), text)


def _construct_unknown(loader: yaml.SafeLoader, node: yaml.Node) -> object:
    """The value under a tag that is not known here, as if the tag were not there."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return node.value
