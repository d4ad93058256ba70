"""The files of a function tool: its schema, and the schema of its result as a key of a declaration.

The schema of the only function tool of a package is `schema.json` in its folder. One of several, and one in a plain
module, has `FUNCTION.schema.json` beside the module. The schema of a result is in `FUNCTION.tool.json`, since
`tool.json` holds for every tool in the folder and below; a `tool.json` that has the key already is kept.

Where no declaration says what the tool may touch, it gets the line that says so: no network.
"""

from __future__ import annotations

import os
import typing

from ferrule.plugin.function.signature import definitions_in
from ferrule.schema import schema_file
from ferrule.text import strict_json

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.plugin.function.signature import Definition
    from ferrule.text.json_types import JSONObject

SCHEMA, DECLARATION, RESULT = "schema.json", schema_file.DECLARATION, "result_schema"
PERMISSIONS = "permissions"
NO_NETWORK: typing.Mapping[str, typing.Sequence[str]] = {"network": []}
"""What a tool has that declares nothing, for the author to see, and to change."""

SAME, MISSING, STALE = "same", "missing", "stale"


class Made(typing.NamedTuple):
    """What is made of a function: its schema, and that of its result where it has one."""

    schema: JSONObject
    result_schema: JSONObject | None


class FileState(typing.NamedTuple):
    """A file of a tool. content: what it should have; other keys of a declaration stay.

    state: `same`, `missing` or `stale`. difference: as a sentence; empty where it is the same.
    """

    path: str
    content: JSONObject
    state: str
    difference: str


def read_schema(definition: Definition) -> JSONObject | None:
    """The schema in the tool's file; None if there is none that can be read."""
    try:
        found = strict_json.loads(schema_file.read_file(find_schema_file(definition)))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def find_schema_file(definition: Definition) -> str:
    """The path of the tool's schema file, whether it is there or not."""
    module, own = definition.module, _own_file(definition, SCHEMA)
    if not hasattr(module, "__path__") or os.path.exists(own):
        return own
    shared = os.path.join(definition.folder, SCHEMA)
    return shared if len(definitions_in(module)) == 1 or _has(shared, "name", definition.name) else own


def find_declaration_file(definition: Definition) -> str:
    """The path of the file for the schema of its result, whether it is there or not."""
    own, shared = _own_file(definition, DECLARATION), os.path.join(definition.folder, DECLARATION)
    is_shared = hasattr(definition.module, "__path__") and len(definitions_in(definition.module)) == 1
    return shared if is_shared and not os.path.exists(own) and _has(shared, RESULT) else own


def make(definition: Definition) -> Made:
    """Make the schemas from the signature.

    Raises SchemaInvalid for what they cannot say, and FerruleError where msgspec is not installed.
    """
    try:
        from ferrule.plugin.function import schema
    except ModuleNotFoundError as error:
        if error.name != "msgspec":
            raise
        from ferrule.errors import FerruleError

        raise FerruleError(
            f"To make the schema of {definition.name} from its function, msgspec is needed.",
            hint="Install ferrule[schema]. A tool with the file of `ferrule schema --write` needs it no more.",
        ) from None
    return Made(schema.make_schema(definition), schema.make_result_schema(definition))


def examine(definition: Definition, made: Made) -> list[FileState]:
    """The files that the tool should have, and the state of each. Raises ValueError for one that cannot be read."""
    states = [_compare(definition, find_schema_file(definition), made.schema, None)]
    if made.result_schema is not None:
        states.append(_compare(definition, find_declaration_file(definition), made.result_schema, RESULT))
    return states


def find_disagreement(definition: Definition) -> str | None:
    """Where the files and the function differ, as a sentence; None where they agree. Raises as `make` and `examine`."""
    return next((one.difference for one in examine(definition, make(definition)) if one.difference), None)


def with_permissions(definition: Definition, states: Iterable[FileState]) -> list[FileState]:
    """The same, with the key `permissions` where no declaration of the tool has it. Raises ValueError as `examine`.

    Only who writes files gets it: a tool without the key means the same, so nothing is missing where it is not there.
    """
    found, path = list(states), find_declaration_file(definition)
    value = f"{definition.module.__name__}:{definition.attribute}"
    declared = (_read(one) or {} for one in schema_file.find_beside(value, DECLARATION))
    if any(PERMISSIONS in content for content in declared):
        return found
    own = next((one for one in found if one.path == path), FileState(path, _read(path) or {}, SAME, ""))
    said = FileState(path, {**own.content, PERMISSIONS: dict(NO_NETWORK)}, own.state, own.difference)
    if own.state == SAME:
        said = said._replace(state=STALE, difference=f"{definition.name} does not say what it touches.")
    return [*(one for one in found if one.path != path), said]


def write(states: Iterable[FileState]) -> list[str]:
    """Write the files that are missing or stale, and return their paths. Raises OSError."""
    written = [one for one in states if one.state != SAME]
    for one in written:
        with open(one.path, "w", encoding="utf-8") as file:
            file.write(to_text(one.content))
    return [one.path for one in written]


def to_text(content: JSONObject) -> str:
    """A file's content as people read it."""
    import json

    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _compare(definition: Definition, path: str, expected: JSONObject, key: str | None) -> FileState:
    there = _read(path)
    content = expected if key is None else {**(there or {}), key: expected}
    found = there if key is None or there is None else there.get(key)
    shown = os.path.basename(path)
    if found is None:
        what = f"{shown} with {key}" if key else shown
        return FileState(path, content, MISSING, f"{definition.name} has no {what}.")
    place = _find_difference(found, expected)
    if place is None:
        return FileState(path, content, SAME, "")
    return FileState(path, content, STALE, f"{shown} of {definition.name} is not that of its function: {place}.")


def _own_file(definition: Definition, name: str) -> str:
    return os.path.join(definition.folder, f"{definition.attribute}.{name}")


def _has(path: str, key: str, value: object = None) -> bool:
    """Whether a file has a key, with this value where one is given."""
    there = _read(path) or {}
    return key in there and value in (None, there[key])


def _read(path: str) -> JSONObject | None:
    """The object in a file, None if there is none. Raises ValueError with the path for anything else."""
    try:
        content = strict_json.loads(schema_file.read_file(path))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no JSON object")
    return content


def _find_difference(there: object, expected: object, pointer: str = "") -> str | None:
    """The first place where two values differ, and how; the order of keys does not count."""
    if isinstance(there, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in there if key not in expected)]:
            inner = f"{pointer}/{key}"
            if key not in there:
                return f"{inner} is missing in the file"
            if key not in expected:
                return f"{inner} is only in the file"
            if (found := _find_difference(there[key], expected[key], inner)) is not None:
                return found
        return None
    if there == expected and isinstance(there, bool) == isinstance(expected, bool):
        return None
    one, other = (strict_json.dumps(value).decode()[:80] for value in (there, expected))
    return f"{pointer or '/'} is {one} in the file, {other} by the function"
