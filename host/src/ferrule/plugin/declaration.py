"""What a tool says of itself as data, in `tool.json`: read without importing anything of the plugin.

A file holds for the tools of the folder that it is in, and of the folders below it; of two that name the same key, the
nearer one counts. `ferrule.schema.schema_file.find_beside` says which files those are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule.plugin.hooks.credentials import Credential
from ferrule.schema import schema_file
from ferrule.schema.rules.hidden_text import hidden_characters
from ferrule.text import strict_json
from ferrule.trust.declaration import MalformedPermissions, Permissions, parse_own

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

HINTS = ("read_only", "destructive", "idempotent", "open_world")
"""What a client of MCP is told of a tool, each as true or false."""


class Program(NamedTuple):
    """A program of the system that a tool needs.

    names: of programs, any one of which will do, the best first; none where the tool needs none but one that the
    admin names. version: the arguments with which it prints its
    version. output: a pattern of what it prints then; one that prints something else is another program of that name.
    variable, setting: what names the program instead of PATH. install: how to get it.
    """

    names: tuple[str, ...]
    version: tuple[str, ...] = ("--version",)
    output: str = ""
    variable: str = ""
    setting: str = ""
    install: str = ""


class Extra(NamedTuple):
    """A Python module that a tool needs for a part of its work.

    module: as it is imported, such as `pypdf`. install: the requirement that brings it, such as `ferrule-fetch[pdf]`.
    purpose: what the tool cannot do without it.
    """

    module: str
    install: str
    purpose: str = ""


class Setting(NamedTuple):
    """What the user has to set before the tool can do anything, and what is no secret.

    variable: of the environment. setting: the key in the tool's table of config.toml that will do as well. purpose:
    what it is, such as `the URL of your server`.
    """

    variable: str
    setting: str = ""
    purpose: str = ""


class Declaration(NamedTuple):
    """What a tool declares. What it does not declare is None, or empty.

    title: its name for people. read_only, destructive, idempotent, open_world: as the annotations of MCP.
    result_schema: JSON Schema of its result. examples: good arguments. credentials: what it may be told; None where its
    hook says that. operations: what other tools may have run besides `execute`, as pairs of name and
    `module:function`. programs, extras, settings: what it needs besides its dependencies. requires_ferrule: a version
    specifier of the host, such as `>=0.2`. reusable: what its modules keep between calls is a cache, so that one
    process may make several calls. lasting: what its processes hold between calls is the next call's, so that a keeper
    makes all calls of its distribution's tools in one process. permissions: what it may touch;
    `ferrule.trust.declaration` adds what follows from the other keys, and what is usual.
    unknown: the keys that this host does not know, such as `permission` or `programs[0].sha256`. files: that were
    read, the nearest first.
    """

    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    result_schema: JSONObject | None = None
    examples: tuple[JSONObject, ...] = ()
    credentials: tuple[Credential, ...] | None = None
    operations: tuple[tuple[str, str], ...] = ()
    programs: tuple[Program, ...] = ()
    extras: tuple[Extra, ...] = ()
    settings: tuple[Setting, ...] = ()
    requires_ferrule: str | None = None
    reusable: bool | None = None
    lasting: bool | None = None
    permissions: Permissions | None = None
    unknown: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def as_dict(self) -> JSONObject:
        """The keys that are declared, as in the file, without those that are unknown."""
        values = {key: getattr(self, key) for key in _READERS}
        return {key: _as_json(value, key) for key, value in values.items() if value not in (None, ())}


class MalformedDeclaration(ValueError):
    """A `tool.json` that cannot be read. The message says which, and why."""


class HiddenText(MalformedDeclaration):
    """A `tool.json` with characters that nobody sees, and that a client or a model would read."""


def read_declaration(value: str) -> Declaration:
    """What the tool of an entry point declares; nothing where it has no file.

    value: of the entry point, `module` or `module:attribute`. Raises MalformedDeclaration, which is a ValueError, with
    the path of the file that cannot be read, is no JSON object, or has a key with a value of another type.
    """
    declared: dict[str, object] = {}
    unknown: dict[str, None] = {}
    files = schema_file.find_beside(value, schema_file.DECLARATION)
    for path in files:
        content = _read(path)
        for key in content:
            if key not in _READERS:
                unknown[key] = None
            elif key not in declared:
                declared[key] = _READERS[key](content[key], _Place(path, key, unknown))
    return Declaration(**declared, unknown=tuple(unknown), files=tuple(files))  # type: ignore[arg-type] # by _READERS


def read_if_well(tool: InstalledTool) -> Declaration:
    """What a tool declares; nothing where that cannot be read."""
    try:
        return read_declaration(tool.value)
    except MalformedDeclaration:
        return Declaration()


class _Place:
    """Where a value stands. unknown: collects the keys that this host does not know."""

    def __init__(self, path: str, key: str, unknown: dict[str, None]) -> None:
        self.path = path
        self.key = key
        self.unknown = unknown

    def wrong(self, expected: str) -> MalformedDeclaration:
        return MalformedDeclaration(f"{self.key} in {self.path} is no {expected}")

    def inside(self, key: str) -> _Place:
        return _Place(self.path, f"{self.key}{key}", self.unknown)


def _read(path: str) -> Mapping[str, object]:
    try:
        content = strict_json.loads(schema_file.read_file(path))
    except OSError as error:
        raise MalformedDeclaration(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise MalformedDeclaration(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise MalformedDeclaration(f"{path} holds no JSON object")
    for finding in hidden_characters(content):
        raise HiddenText(f"{path} hides something at {finding.pointer}: {finding.message.rstrip('.')}")
    return content


def _read_text(value: object, place: _Place) -> str:
    """A text on one line; `_read` has refused what hides something."""
    if not isinstance(value, str) or not value.strip() or not {"\n", "\r", "\t"}.isdisjoint(value):
        raise place.wrong("text of one printable line")
    return value


def _read_boolean(value: object, place: _Place) -> bool:
    if not isinstance(value, bool):
        raise place.wrong("boolean")
    return value


def _read_object(value: object, place: _Place) -> JSONObject:
    if not isinstance(value, dict):
        raise place.wrong("object")
    return value


def _read_texts(value: object, place: _Place) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise place.wrong("list of texts")
    return tuple(_read_text(text, place.inside(f"[{number}]")) for number, text in enumerate(value))


def _read_operations(value: object, place: _Place) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise place.wrong("object of texts")
    return tuple((name, _read_text(named, place.inside(f".{name}"))) for name, named in value.items())


def _read_pattern(value: object, place: _Place) -> str:
    try:
        re.compile(_read_text(value, place))
    except re.error as error:
        raise MalformedDeclaration(f"{place.key} in {place.path} is no pattern: {error}") from None
    return str(value)


def _read_specifier(value: object, place: _Place) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        SpecifierSet(_read_text(value, place))
    except InvalidSpecifier:
        raise place.wrong("version specifier, such as >=0.2") from None
    return str(value)


def _read_examples(value: object, place: _Place) -> tuple[JSONObject, ...]:
    if not isinstance(value, list):
        raise place.wrong("list of objects")
    return tuple(_read_object(one, place.inside(f"[{number}]")) for number, one in enumerate(value))


def _read_programs(value: object, place: _Place) -> tuple[Program, ...]:
    readers = {**dict.fromkeys(Program._fields, _read_text), "output": _read_pattern}
    of_lists = {"names": _read_texts, "version": _read_texts}
    programs = [Program(**fields) for fields in _read_entries(value, place, {**readers, **of_lists}, ("names",))]
    if not all(program.names or program.variable or program.setting for program in programs):
        raise place.inside("[].names").wrong("list with a name in it, where neither variable nor setting names one")
    return tuple(programs)


def _read_extras(value: object, place: _Place) -> tuple[Extra, ...]:
    readers = dict.fromkeys(Extra._fields, _read_text)
    return tuple(Extra(**fields) for fields in _read_entries(value, place, readers, ("module", "install")))


def _read_settings(value: object, place: _Place) -> tuple[Setting, ...]:
    readers = dict.fromkeys(Setting._fields, _read_text)
    return tuple(Setting(**fields) for fields in _read_entries(value, place, readers, ("variable",)))


def _read_credentials(value: object, place: _Place) -> tuple[Credential, ...]:
    readers: dict[str, _Reader] = {
        **dict.fromkeys(Credential.__slots__, _read_text),
        "secret": _read_boolean,
        "required": _read_boolean,
    }
    return tuple(
        Credential(**fields) for fields in _read_entries(value, place, readers, ("name", "environment", "path"))
    )


def _read_permissions(value: object, place: _Place) -> Permissions:
    try:
        return Permissions().replace(parse_own(value, lambda key: place.unknown.update({f"{place.key}.{key}": None})))
    except MalformedPermissions as error:
        raise MalformedDeclaration(f"{place.key} in {place.path} cannot be used: {error}") from None


_Reader = Callable[[object, _Place], object]


def _read_entries(
    value: object, place: _Place, readers: Mapping[str, _Reader], required: tuple[str, ...]
) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise place.wrong("list of objects")
    return [_read_entry(one, place.inside(f"[{number}]"), readers, required) for number, one in enumerate(value)]


def _read_entry(
    value: object, place: _Place, readers: Mapping[str, _Reader], required: tuple[str, ...]
) -> dict[str, Any]:
    entry = _read_object(value, place)
    missing = [key for key in required if key not in entry]
    if missing:
        raise MalformedDeclaration(f"{place.key} in {place.path} has no {' and no '.join(missing)}")
    place.unknown.update((f"{place.key}.{key}", None) for key in entry if key not in readers)
    return {key: readers[key](entry[key], place.inside(f".{key}")) for key in entry if key in readers}


def _as_json(value: object, key: str = "") -> object:
    """The value with entries as objects, and without those of their fields that are empty."""
    if isinstance(value, Program | Extra | Setting):
        return {key: _as_json(one) for key, one in value._asdict().items() if one}
    if isinstance(value, Credential):
        return {key: one for key, one in value.as_dict().items() if one not in ("", True)}
    if isinstance(value, Permissions):
        return value.as_dict()
    if key == "operations" and isinstance(value, tuple):
        return dict(value)
    return [_as_json(one) for one in value] if isinstance(value, tuple) else value


_READERS: Mapping[str, _Reader] = {
    "title": _read_text,
    **dict.fromkeys(HINTS, _read_boolean),
    "result_schema": _read_object,
    "examples": _read_examples,
    "credentials": _read_credentials,
    "operations": _read_operations,
    "programs": _read_programs,
    "extras": _read_extras,
    "settings": _read_settings,
    "requires_ferrule": _read_specifier,
    "reusable": _read_boolean,
    "lasting": _read_boolean,
    "permissions": _read_permissions,
}

KEYS = tuple(_READERS)
"""The keys that this host knows."""
