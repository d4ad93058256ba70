"""The fields of a note's frontmatter, as YAML has them: what is carried over from one block to another stays as it was.

They are kept as nodes rather than as values, since a value does not say how it was written: `2026-01-01` would become
a text, a block of lines one long line, and an anchor a copy. Comments are lost.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.notebook import frontmatter

if TYPE_CHECKING:
    import yaml

    from ferrule import JSONObject

    Fields = dict[str, tuple[yaml.Node, yaml.Node]]  # the nodes of a key and of its value, by the key's text

_TAG = "tag:yaml.org,2002:"
# Starts with a letter, and holds nothing that means anything in YAML; in a list of one line, too.
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()'-]*[\w./()'-])?")
# What the one or the other version of YAML takes for a truth value, for nothing or for a number.
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"})


def parse(block: str) -> Fields | None:
    """The fields of a block; None where it is no YAML mapping that a note can be read with."""
    import yaml

    if frontmatter.load(block) is None:
        return None
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = yaml.compose(block, Loader=loader)
    except (yaml.YAMLError, RecursionError):
        return None
    return {_key(key): (key, value) for key, value in root.value} if isinstance(root, yaml.MappingNode) else {}


def represent(values: JSONObject) -> Fields:
    """Values of JSON as fields: text, a number, true or false, or a list of text."""
    return {key: (_text(key), _value(value)) for key, value in values.items()}


def write(fields: Fields) -> str:
    """The fields as YAML, in their order; ends with a line feed."""
    import yaml

    root = yaml.MappingNode(f"{_TAG}map", list(fields.values()), flow_style=False)
    text: str = yaml.serialize(root, Dumper=_make_dumper(), allow_unicode=True, width=1 << 30)
    # The end of the document, written after a block of lines that keeps its last ones, is the end of the frontmatter.
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text


def replace(fields: Fields, word: str, text: str) -> Fields:
    """The same fields with a text for a word, wherever it stands in them, and quoted where it has to be.

    The nodes are changed, not copied.
    """
    import yaml

    waiting: list[yaml.Node] = [node for pair in fields.values() for node in pair]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            waiting += [each for pair in node.value for each in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.ScalarNode) and word in node.value:
            node.value = node.value.replace(word, text)
            node.style = node.style or _style(node.value)
    return {_key(key): (key, value) for key, value in fields.values()}


def _key(node: yaml.Node) -> str:
    """The text of a key. One that is a list or a mapping is like no other."""
    return node.value if isinstance(node.value, str) else f"\0{id(node)}"


def _value(value: object) -> yaml.Node:
    import yaml

    if isinstance(value, list):
        # In one line, which is the only kind of list that the first generation of the CLI reads.
        return yaml.SequenceNode(f"{_TAG}seq", [_value(item) for item in value], flow_style=True)
    if isinstance(value, bool):
        return yaml.ScalarNode(f"{_TAG}bool", "true" if value else "false")
    if isinstance(value, int):
        return yaml.ScalarNode(f"{_TAG}int", str(value))
    if isinstance(value, float):
        return yaml.ScalarNode(f"{_TAG}float", _float(value))
    return _text(str(value))


def _text(text: str) -> yaml.Node:
    import yaml

    return yaml.ScalarNode(f"{_TAG}str", text, style=_style(text))


def _style(text: str) -> str | None:
    """Plain where no reader can take the text for anything else, and double-quoted, hence in one line, elsewhere.

    Of the two kinds of quotes the first generation of the CLI only takes the double ones off.
    """
    return None if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED else '"'


def _float(number: float) -> str:
    """A number that YAML 1.1 takes for one as well: it asks for a point, and for the exponent's sign."""
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


@cache
def _make_dumper() -> type[yaml.SafeDumper]:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes lists of several lines with their items to the right of the key, and emoji as such."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            return super().increase_indent(flow, False)

        def write_double_quoted(self, text: str, split: bool = True) -> None:
            self.write_indicator(frontmatter.quote(text), True)

    return Dumper
