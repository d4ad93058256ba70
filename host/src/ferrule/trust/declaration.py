"""The key `permissions` of `tool.json`, read without importing anything of the plugin, and cheaply: each call does it.

`ferrule.plugin.declaration` reads the whole file for the admin's commands, and takes `parse` for this key.
"""

from __future__ import annotations

from ferrule.text import strict_json
from ferrule.trust import entries

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping, JSONObject

LISTS = ("network", "read", "write", "programs", "environment", "state", "tools")
KEYS = (*LISTS, "processes")
MAX_PROCESSES = 1024
PUBLIC = "public"


class MalformedPermissions(ValueError):
    """The value of `permissions` is none. The message begins with the place in it, such as `network[0]`."""


class Permissions:
    """What a tool may touch, in the words of the declaration; nothing of it is resolved.

    Args:
        network: `public`, `loopback`, `private`, `HOST:PORT`, `*.HOST:PORT`.
        read, write: paths, `~`, `~/*`, `.`.
        programs: names or absolute paths.
        environment: names of variables, or what they begin with and a `*`.
        processes: that the tool may fork.
        state: folders of the state folder that it shares.
        tools: names of tools, or what they begin with and a `*`, that it has run, each by its own permissions. The
            first four lists may hold `setting:KEY` and `variable:NAME`, for what these name.
    """

    __slots__ = KEYS

    def __init__(
        self,
        network: Iterable[str] = (),
        read: Iterable[str] = (),
        write: Iterable[str] = (),
        programs: Iterable[str] = (),
        environment: Iterable[str] = (),
        processes: int = 0,
        state: Iterable[str] = (),
        tools: Iterable[str] = (),
    ) -> None:
        self.network = tuple(dict.fromkeys(network))
        self.read = tuple(dict.fromkeys(read))
        self.write = tuple(dict.fromkeys(write))
        self.programs = tuple(dict.fromkeys(programs))
        self.environment = tuple(dict.fromkeys(environment))
        self.processes = processes
        self.state = tuple(dict.fromkeys(state))
        self.tools = tuple(dict.fromkeys(tools))

    def as_dict(self) -> JSONObject:
        """All keys, as they stand in a declaration."""
        return {**{key: list(getattr(self, key)) for key in LISTS}, "processes": self.processes}

    def replace(self, changes: JSONMapping) -> Permissions:
        """The same with other values, as `parse` returns them."""
        if not changes:
            return self
        return Permissions(**{key: changes.get(key, getattr(self, key)) for key in KEYS})

    def plus(self, more: JSONMapping) -> Permissions:
        """The same and more, as `parse` returns it: entries beside those that are here, the larger of both numbers."""
        if not more:
            return self
        both = {key: (*getattr(self, key), *more[key]) for key in LISTS if key in more}
        return self.replace({**both, "processes": max(self.processes, more.get("processes", 0))})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Permissions) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, key) for key in KEYS))

    def __repr__(self) -> str:
        return f"Permissions({self.as_dict()})"


def nothing() -> Permissions:
    """What a tool may whose declaration cannot be read: no network, and nothing but its own."""
    return Permissions(network=())


def parse(value: object, unknown: Callable[[str], object] | None = None) -> JSONObject:
    """The keys that an object of permissions holds: lists as tuples, `processes` as a number.

    unknown: is told each key that this host does not know. Raises MalformedPermissions, for an unknown key, too, where
    nobody is to be told.
    """
    if not isinstance(value, dict):
        raise MalformedPermissions("it is no object")
    found: JSONObject = {}
    for key, content in value.items():
        if key in LISTS:
            found[key] = _parse_list(key, content)
        elif key == "processes":
            found[key] = _parse_processes(content)
        elif unknown:
            unknown(key)
        else:
            raise MalformedPermissions(f"{key!r} is no kind of permission, which are {', '.join(KEYS)}")
    return found


def parse_own(value: object, unknown: Callable[[str], object] | None = None) -> JSONObject:
    """As `parse`, for what a tool says of itself: it names no variable that may be a secret, as an admin may.

    Such a variable is a credential, which another tool may have declared before.
    """
    found = parse(value, unknown)
    for number, name in enumerate(found.get("environment", ())):
        if entries.may_be_secret(name):
            raise MalformedPermissions(f"environment[{number}], {name!r}, may be a secret: declare it as a credential")
    return found


def declared(tool: InstalledTool) -> Permissions:
    """What a tool asks for, by the nearest `tool.json` that has the key; what is usual where none has.

    The programs that it needs, and the variables with which they and its settings are named, count as asked for. Where
    the key or a file cannot be read, it gets nothing at all.
    """
    from ferrule.schema import schema_file

    contents = []
    for path in schema_file.find_beside(tool.value, schema_file.DECLARATION):
        try:
            content = strict_json.loads(schema_file.read_file(path))
        except (OSError, ValueError):
            return nothing()
        if not isinstance(content, dict):
            return nothing()
        contents.append(content)
    own: object = next((content["permissions"] for content in contents if "permissions" in content), {})
    try:
        return with_needs(Permissions().replace(parse_own(own, lambda key: None)), contents)
    except MalformedPermissions:
        return nothing()


def with_needs(permissions: Permissions, contents: Iterable[JSONObject]) -> Permissions:
    """The same, and what the keys `programs` and `settings` of the declaration name. contents: of files, nearest first.

    What is no list of objects with texts is passed over: the reader of the whole declaration reports it.
    """
    programs, variables = list(permissions.programs), list(permissions.environment)
    for need in _nearest(contents, "programs"):
        named = [f"{kind}:{need[kind]}" for kind in ("setting", "variable") if _is_text(need.get(kind))]
        names = need.get("names")
        listed = [name for name in names if _is_text(name)] if isinstance(names, list) else []
        programs += [*named, *listed]
        variables += _variable(need)
    for need in _nearest(contents, "settings"):
        variables += _variable(need)
    if (len(programs), len(variables)) == (len(permissions.programs), len(permissions.environment)):
        return permissions
    return permissions.replace({"programs": tuple(programs), "environment": tuple(variables)})


def _nearest(contents: Iterable[JSONObject], key: str) -> list[JSONObject]:
    value: object = next((content[key] for content in contents if key in content), [])
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _variable(need: JSONObject) -> list[str]:
    name = need.get("variable")
    return [str(name)] if _is_text(name) and not entries.may_be_secret(str(name)) else []


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _parse_list(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise MalformedPermissions(f"{key} is no list of texts")
    for number, one in enumerate(value):
        if not isinstance(one, str) or not one or not one.isprintable() or one != one.strip():
            raise MalformedPermissions(f"{key}[{number}] is no text of one printable line")
        wrong = entries.problem(key, one)
        if wrong:
            raise MalformedPermissions(f"{key}[{number}], {one!r}, {wrong}")
    return tuple(value)


def _parse_processes(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_PROCESSES:
        raise MalformedPermissions(f"processes is no number from 0 to {MAX_PROCESSES}")
    return value
