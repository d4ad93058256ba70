"""The YAML block at the start of a note: found, read with its types, and written.

Read by the rules of YAML 1.2, as the CLI does: `no`, `on` and `12:30` are text, and so is a date, which JSON has no
type for. A number whose digits would not survive (`007`, or the identifier `1e99999`) stays text as well.
"""

from __future__ import annotations

import base64
import math
import re
from functools import cache
from typing import Any

from ferrule_opennotes.notebook.storable import storable

LONGEST = 1 << 18  # characters; a longer block is prose between two rules, or hostile
_DEEPEST = 30
_SURELY_SHALLOW = 500  # characters that open a level of nesting
_MOST_VALUES = 20_000  # after aliases are followed, of which a few can stand for billions
_BLOCK = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_NUMBERS_BEGIN = "-+0123456789."
_WHOLE = r"[-+]?(?:0|[1-9][0-9]*|0o[0-7]+|0x[0-9a-fA-F]+)"
_FLOAT = (
    r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_LARGEST = (1 << 63) - 1  # what readers of JSON and the CLI hold


class _TooMuch(Exception):
    """The block's values are too many or too deep to be answered with."""


def split(text: str) -> tuple[str | None, str]:
    """The YAML of the block, None where there is none, and what follows it.

    The block starts with the file, between a line `---` and a line `---` or `...`.
    """
    if not text.startswith(("---", "\ufeff---")):
        return None, text
    block = _BLOCK.match(text, 0, LONGEST)
    return (block[1], text[block.end() :]) if block else (None, text)


def load(block: str) -> dict[str, Any] | None:
    """The block's fields with JSON's types; None where it is no YAML, or no mapping, or absurdly large."""
    import yaml

    if not block.strip():
        return {}
    try:
        _refuse_depth(block)
        value = yaml.load(block, Loader=_loader())  # noqa: S506 - derived from the safe loader
        plain = _Plain().value(value)
    except (yaml.YAMLError, _TooMuch, ValueError, RecursionError, TypeError):
        return None
    if plain is None:  # nothing but comments
        return {}
    return plain if isinstance(plain, dict) else None


def dump(fields: dict[str, Any]) -> str:
    """The fields as YAML, a line for each in their order, which readers of YAML 1.1 and 1.2 understand alike.

    Ends with a line feed. Values are JSON's; text that could be taken for anything else is quoted.
    """
    import yaml

    return yaml.dump(
        fields, Dumper=_dumper(), sort_keys=False, allow_unicode=True, default_flow_style=False, width=1 << 30
    )


def _refuse_depth(block: str) -> None:
    """Raise _TooMuch for nesting that libyaml's recursive composer would crash the process with."""
    import yaml

    if sum(map(block.count, "[{-?:")) <= _SURELY_SHALLOW:  # no level of nesting does without one of these
        return
    depth = 0
    for event in yaml.parse(block, Loader=_loader()):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST + 1:
            raise _TooMuch


class _Plain:
    """Turns what YAML gave into what JSON has."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def value(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _TooMuch
        if isinstance(value, dict):
            return {_key(key): self.value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.value(item, depth + 1) for item in value]
        return _scalar(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return storable(key)
    return {True: "true", False: "false", None: "null"}[key] if key is None or isinstance(key, bool) else str(key)


def _scalar(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return storable(value)
    return value


@cache
def _loader() -> Any:
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
    loader.add_constructor("tag:yaml.org,2002:bool", _truth)
    loader.add_constructor("tag:yaml.org,2002:set", _members)
    loader.add_constructor("tag:yaml.org,2002:int", _number)
    loader.add_constructor("tag:yaml.org,2002:float", _number)
    loader.add_constructor("tag:yaml.org,2002:timestamp", _text)
    loader.add_constructor(None, _unknown)
    return loader


def _number(loader: Any, node: Any) -> Any:
    """The number, or the text that stands there where it would not survive as one."""
    text = str(loader.construct_scalar(node))
    digits = text.lstrip("+-")
    if digits.startswith(("0o", "0x")):
        whole = int(digits, 0)
        return (-whole if text.startswith("-") else whole) if whole <= _LARGEST else text
    if digits.isdigit():
        return int(text) if len(digits) < 20 and abs(int(text)) <= _LARGEST else text
    try:
        number = float(text)
    except ValueError:
        return text  # .inf and .nan, which JSON does not have
    return number if math.isfinite(number) else text


def _truth(loader: Any, node: Any) -> Any:
    """The truth value, or under a tag that says so wrongly the text."""
    text = str(loader.construct_scalar(node))
    return {"true": True, "false": False}.get(text.lower(), text)


def _members(loader: Any, node: Any) -> list[Any]:
    """The members of a set in the order that they are written in, which a set of Python's would lose."""
    return list(loader.construct_mapping(node, deep=True))


def _text(loader: Any, node: Any) -> str:
    return str(loader.construct_scalar(node))


def _unknown(loader: Any, node: Any) -> Any:
    """The value under a tag that nobody here knows, as if the tag were not there."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


@cache
def _dumper() -> Any:
    """A dumper that quotes what any reader could take for a number, a date or a truth value."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            return super().increase_indent(flow, False)

        def ignore_aliases(self, data: Any) -> bool:
            return True

    # In lists, since the dumper's own resolvers are those of 1.1; the rest is what 1.2 and Go's reader add to them.
    more = re.compile(rf"(?:{_WHOLE}|{_FLOAT}|[-+]?[0-9][0-9_]*|[0-9].*|[yYnN]|0b[01_]+)$")
    Dumper.add_implicit_resolver("tag:yaml.org,2002:int", more, [*_NUMBERS_BEGIN, *"yYnN"])
    return Dumper
