"""Walks the schemas inside a schema, without recursion, so that no depth ends the process."""

from __future__ import annotations

from ferrule.schema.rules.findings import pointer_to

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_LEVELS = 64
"""Levels of JSON below which nothing is looked at. A document with more breaks a rule of its own."""

_SINGLE = (
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not", "propertyNames"),
    *("then", "unevaluatedItems", "unevaluatedProperties"),
)
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties")


class Node:
    """One schema inside `parameters`, or what stands instead of one.

    Args:
        schema: the value; a schema only where it is a dict.
        depth: 1 for `parameters`, and 1 more for each schema around it.
        levels: how many objects and arrays of JSON are open there, its own included. name: the key in `properties`;
            None for `parameters`, for `items`, and elsewhere. plain: reached through `properties` and `items` alone, so
            that it describes an argument.
    """

    __slots__ = ("_around", "_tokens", "depth", "levels", "name", "plain", "schema")

    def __init__(
        self, tokens: tuple[object, ...], schema: object, depth: int, levels: int, around: Node | None = None
    ) -> None:
        self._around = around
        self._tokens = tokens
        self.schema = schema
        self.depth = depth
        self.levels = levels
        self.name: object = None
        self.plain = True

    @property
    def pointer(self) -> str:
        """Where it is in the document. It is put together when it is asked for: most schemas have no finding."""
        return pointer_to("" if self._around is None else self._around.pointer, *self._tokens)

    def child(self, schema: object, *tokens: object, plain: bool = True, name: object = None) -> Node:
        """The schema that the tokens lead to from this one."""
        node = Node(tokens, schema, self.depth + 1, self.levels + len(tokens), around=self)
        node.plain = self.plain and plain
        node.name = name
        return node


def plain_nodes(document: object) -> list[Node]:
    """Every schema that describes an argument, `parameters` first, in the document's order."""
    return _walk(document, _plain_children)


def all_schemas(document: object) -> Iterator[tuple[Node, dict[object, object]]]:
    """The plain ones that are schemas, and those in compositions, conditions, definitions and the like."""
    for node in _walk(document, lambda node, schema: _plain_children(node, schema) + _other_children(node, schema)):
        if isinstance(node.schema, dict):
            yield node, node.schema


def _walk(document: object, children: Callable[[Node, dict[object, object]], list[Node]]) -> list[Node]:
    parameters = document.get("parameters") if isinstance(document, dict) else None
    waiting = [Node(("parameters",), parameters, depth=1, levels=2)] if isinstance(parameters, dict) else []
    found = []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node.schema, dict) and node.levels < MAX_LEVELS:
            waiting.extend(reversed(children(node, node.schema)))
    return found


def _plain_children(node: Node, schema: dict[object, object]) -> list[Node]:
    found = []
    properties = schema.get("properties")
    if isinstance(properties, dict):
        found = [node.child(inner, "properties", name, name=name) for name, inner in properties.items()]
    if "items" in schema:
        found.append(node.child(schema["items"], "items"))
    return found


def _other_children(node: Node, schema: dict[object, object]) -> list[Node]:
    found = [node.child(schema[key], key, plain=False) for key in _SINGLE if key in schema]
    for key in _LISTED:
        branches = schema.get(key)
        if isinstance(branches, list | tuple):
            found += [node.child(inner, key, index, plain=False) for index, inner in enumerate(branches)]
    for key in _NAMED:
        named = schema.get(key)
        if isinstance(named, dict):
            found += [node.child(inner, key, name, plain=False) for name, inner in named.items()]
    return found
