"""The files that a plugin ships beside its module, found and read without importing it: its schema, above all."""

from __future__ import annotations

import os
import sys

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule.discovery import InstalledTool
    from ferrule.errors import SchemaInvalid
    from ferrule.schema.rules import Finding
    from ferrule.text.json_types import JSONObject

DECLARATION = "tool.json"
"""The file with what a tool declares besides its schema; `ferrule.plugin.declaration` reads it."""

_CHUNK_BYTES = 1 << 16
_MAX_SCHEMA_BYTES = 1 << 20  # bytes of a schema that are looked at
_remembered: dict[str, str | None] | None = None  # files of modules, see `RememberedModules`


def read_static(tool: InstalledTool) -> JSONObject | None:
    """The schema of a plugin that ships it as a file; None where it computes it.

    Raises SchemaInvalid where the file breaks a rule that the client enforces.
    """
    path = find_for_tool(tool)
    if path is None:
        return None
    try:
        schema = strict_json.loads(read_file(path))
    except (OSError, ValueError) as error:
        from ferrule.errors import SchemaInvalid

        raise SchemaInvalid(f"The schema of {tool.name} ({tool.source}) is not valid JSON: {error}.") from None
    return require_valid(schema, tool)


def find_for_tool(tool: InstalledTool) -> str | None:
    """The schema file of a tool that is not imported, or None.

    For `module` it is the module's, see `find_schema_file`. For `module:attribute` it is `ATTRIBUTE.schema.json` in
    the module's folder, else the module's where that has the tool's name.
    """
    module, _, attribute = tool.value.partition(":")
    if not attribute:
        return find_schema_file(module)
    file = find_module_file(module)
    own = _path_if_file(os.path.join(os.path.dirname(file), f"{attribute}.schema.json")) if file else None
    if own:
        return own
    path = find_schema_file(module)
    return path if path and _name_in(path) == tool.name else None


def require_valid(schema: object, tool: InstalledTool) -> JSONObject:
    """The schema itself, once it has been held against the rules whose breach makes a client or provider fail.

    Raises SchemaInvalid with the findings.
    """
    from ferrule.schema.rules.contract import contract_errors

    try:
        printed = strict_json.dumps(schema)
    except strict_json.Unrepresentable as error:
        from ferrule.errors import SchemaInvalid

        raise SchemaInvalid(f"The schema of {tool.name} ({tool.source}) cannot be printed: {error}.") from None
    findings = contract_errors(schema, name=tool.name, size=len(printed) + 1, printed=printed)
    if findings or not isinstance(schema, dict):
        raise invalid_schema(tool, findings)
    return schema


def invalid_schema(tool: InstalledTool, findings: Sequence[Finding]) -> SchemaInvalid:
    """The error that tells what is wrong with a schema, and who ships it."""
    from ferrule.errors import SchemaInvalid

    first = f"{findings[0].message} {findings[0].fix}" if findings else "It is not a JSON object."
    return SchemaInvalid(
        f"The schema of {tool.name} ({tool.source}) is not valid: {first}",
        hint=f"Run `ferrule validate {tool.name}` for all findings.",
        details={"findings": [finding.as_dict() for finding in findings]},
    )


def static_schema(module_file: str) -> JSONObject:
    """Read the schema that a plugin ships beside its module; call it as `static_schema(__file__)`.

    For a package that is `schema.json` in the package's folder, for a plain module NAME.py it is `NAME.schema.json`.
    Raises FileNotFoundError if there is none, and ValueError where it is not strict JSON or not an object.
    """
    path = _beside(module_file)
    if _path_if_file(path) is None:
        raise FileNotFoundError(f"{path} is not there; add it to the package's data if it was left out of a wheel")
    schema = strict_json.loads(read_file(path))
    if not isinstance(schema, dict):
        raise ValueError(f"{path} holds no JSON object")
    return schema


def find_schema_file(module: str, search: Iterable[str] | None = None) -> str | None:
    """The schema file of a module that is not imported: the path it has, or None where the module ships none.

    Looks where the import system would look, so an editable install through an import hook is not seen; such a plugin
    is asked for its schema in a child instead.
    """
    head, *rest = module.split(".")
    if not all(part.isidentifier() for part in (head, *rest)):
        return None
    without_init = []
    for folder in sys.path if search is None else search:
        found = os.path.join(folder, head)
        if os.path.isfile(os.path.join(found, "__init__.py")):
            return _inside(found, rest)
        if os.path.isfile(found + ".py"):
            return None if rest else _path_if_file(found + ".schema.json")
        if os.path.isdir(found):
            without_init.append(found)
    return next(filter(None, (_inside(found, rest) for found in without_init)), None)


def find_module_file(module: str, search: Iterable[str] | None = None) -> str | None:
    """The source file of a module that is not imported, found as `find_schema_file` finds its schema, or None."""
    if _remembered is None or search is not None:
        return _look_for_module_file(module, sys.path if search is None else search)
    if module not in _remembered:
        _remembered[module] = _look_for_module_file(module, sys.path)
    return _remembered[module]


class RememberedModules:
    """While it is entered, each module is looked for once: for work that ends before any package changes."""

    def __enter__(self) -> None:
        global _remembered
        _remembered = {}

    def __exit__(self, *_: object) -> None:
        global _remembered
        _remembered = None


def _look_for_module_file(module: str, search: Iterable[str]) -> str | None:
    inner = module.replace(".", "/")
    for folder in search:
        for file in (f"{inner}/__init__.py", f"{inner}.py"):
            if found := _path_if_file(os.path.join(folder, file)):
                return found
    return None


def find_beside(value: str, name: str, search: Iterable[str] | None = None) -> list[str]:
    """The files of this name that hold for the plugin of an entry point, which is not imported, the nearest first.

    value: `module` or `module:attribute`. They are `ATTRIBUTE.name` and, for a plain module, `MODULE.name` in the
    module's folder, then `name` in this folder and in each package around it.
    """
    module, _, attribute = value.partition(":")
    file = find_module_file(module, search)
    if file is None:
        return []
    folder, own = os.path.split(file)
    is_package = own == "__init__.py"
    stems = [attribute, "" if is_package else own.removesuffix(".py")]
    candidates = [os.path.join(folder, f"{stem}.{name}") for stem in stems if stem]
    for _ in range(module.count(".") + is_package):
        candidates.append(os.path.join(folder, name))
        folder = os.path.dirname(folder)
    return [path for path in dict.fromkeys(candidates) if os.path.isfile(path)]


def may_declare(tool: InstalledTool, key: str) -> bool:
    """Whether a declaration that holds for the tool names this key somewhere.

    On the path of a call and of `--schema` nothing is parsed or imported to find that out: it costs a look for the
    file, and reading its bytes if there is one.
    """
    return any(_holds(path, f'"{key}"'.encode()) for path in find_beside(tool.value, DECLARATION))


def _holds(path: str, data: bytes) -> bool:
    try:
        return data in read_file(path)
    except (OSError, ValueError):
        return False  # who reads the declaration for itself says why it cannot be read


def read_file(path: str) -> bytes:
    """The bytes of a schema file; one that is larger than 1 MiB raises ValueError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = bytearray()
        while chunk := os.read(file, _CHUNK_BYTES):
            data += chunk
            if len(data) > _MAX_SCHEMA_BYTES:
                raise ValueError(f"{path} is larger than {_MAX_SCHEMA_BYTES} bytes")
    finally:
        os.close(file)
    return bytes(data)


def _name_in(path: str) -> object:
    try:
        schema = strict_json.loads(read_file(path))
    except (OSError, ValueError):
        return None
    return schema.get("name") if isinstance(schema, dict) else None


def _beside(module_file: str) -> str:
    folder, name = os.path.split(module_file)
    stem = name.rpartition(".")[0] or name
    return os.path.join(folder, "schema.json" if stem == "__init__" else f"{stem}.schema.json")


def _inside(package: str, rest: Sequence[str]) -> str | None:
    inner = os.path.join(package, *rest)
    own = _path_if_file(os.path.join(inner, "schema.json"))
    return own or (_path_if_file(inner + ".schema.json") if rest else None)


def _path_if_file(path: str) -> str | None:
    return path if os.path.isfile(path) else None
