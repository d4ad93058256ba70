"""What the functions of a project or of an installed tool say, and whether their files say the same."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

from ferrule.discovery import TOOLS, InstalledTool
from ferrule.errors import FerruleError
from ferrule.installed.supervised_work import run_supervised
from ferrule.schema.schema_file import find_module_file
from ferrule.trust.load_policy import policy_for_code, policy_for_loading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule.plugin.function.signature import Definition
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject


class FileFacts(TypedDict):
    """A file of a function: its path, the path in a wheel, `same`, `missing` or `stale`, and what it should have."""

    path: str
    wheel_path: str
    state: str
    difference: str
    content: JSONObject


class FunctionFacts(TypedDict):
    """A function tool: its name, its schema as it is made from the function, and that of its result.

    files: that it should have. written: the paths of those that were written now.
    """

    name: str
    schema: JSONObject
    result_schema: JSONObject | None
    files: list[FileFacts]
    written: list[str]


class Target(NamedTuple):
    """Where function tools are looked for: the folders to import from, and tools by entry point, or a whole module."""

    folders: Sequence[str]
    tools: Sequence[InstalledTool] = ()
    module: str = ""


def find_target(path: str) -> Target:
    """The function tools of a project's folder, as its pyproject.toml declares them, or of a Python file.

    Raises FerruleError where the path is neither, or the project declares no tools.
    """
    path = os.path.abspath(os.path.expanduser(path))
    if path.endswith(".py") and os.path.isfile(path):
        return _target_of_file(path)
    return _target_of_project(path)


def examine(target: Target, *, write: bool = False) -> list[FunctionFacts]:
    """Load the functions in a supervised child, and say what they are. write: the files that are not the same.

    Raises the error with which a plugin failed, SchemaInvalid for what a signature cannot say, and FerruleError for a
    tool that is no function.
    """

    def work(channel: Channel) -> None:
        sys.path[:0] = target.folders
        channel.result({"tools": [_examine(one, write=write) for one in _load(target)]})

    folders, names = _folders_of(target), [tool.name for tool in target.tools]
    policy = policy_for_code("the project", read=folders, write=folders if write else ())
    return cast("list[FunctionFacts]", cast("JSONObject", run_supervised(work, policy, tools=names))["tools"])


def _folders_of(target: Target) -> list[str]:
    """Where its modules are, and beside them their files."""
    files = (find_module_file(tool.module) for tool in target.tools)
    return [*target.folders, *(os.path.dirname(os.path.realpath(file)) for file in files if file)]


def find_disagreement(tool: InstalledTool) -> str | None:
    """Where the files of an installed function tool differ from its function; None where they agree.

    None also for a tool that is no function. Raises as `examine`.
    """

    def work(channel: Channel) -> None:
        from ferrule.plugin.function.files import find_disagreement

        found = _function_of(tool)
        channel.result({"difference": found and find_disagreement(found)})

    return cast("str | None", cast("JSONObject", run_supervised(work, policy_for_loading(tool)))["difference"])


def _load(target: Target) -> Iterator[Definition]:
    from ferrule.plugin.function.signature import definitions_in
    from ferrule.plugin.loader import resolve

    if target.module:
        found = definitions_in(resolve(target.module))
        if not found:
            raise FerruleError(f"{target.module} has no function with @tool.")
        yield from found
    for tool in target.tools:
        function = _function_of(tool)
        if function is None:
            raise FerruleError(
                f"{tool.name} is no function with @tool: its hooks say what its schema is.",
                hint=f"`ferrule show {tool.name} --json` prints it.",
            )
        _require_findable(function, tool)
        yield function


def _require_findable(definition: Definition, tool: InstalledTool) -> None:
    """The host looks for the files by the entry point alone, so that has to name the tool and its place."""
    if definition.name != tool.name:
        raise FerruleError(
            f"The entry point {tool.name!r} names the function of a tool {definition.name!r}.",
            hint=f'Write @tool(name="{tool.name}"), or call the entry point {definition.name!r}.',
        )
    folder = os.path.dirname(os.path.abspath(sys.modules[tool.module].__file__ or ""))
    if folder != definition.folder or tool.value.partition(":")[2] != definition.attribute:
        place = f"{definition.module.__name__}:{definition.attribute}"
        raise FerruleError(
            f"The entry point {tool.value!r} of {tool.name} does not name the function where it is defined.",
            hint=f'Write {tool.name} = "{place}" in pyproject.toml, and install the project again.',
        )


def _function_of(tool: InstalledTool) -> Definition | None:
    from ferrule.plugin.function.decorator import FunctionTool
    from ferrule.plugin.loader import resolve, tool_broken

    try:
        found = resolve(tool.value)
    except BaseException as error:
        raise tool_broken(tool, error) from error
    return found.definition if isinstance(found, FunctionTool) else None


def _examine(definition: Definition, *, write: bool) -> FunctionFacts:
    from ferrule.plugin.function import files

    made = files.make(definition)
    try:
        states = files.examine(definition, made)
        states = files.with_permissions(definition, states) if write else states
        written = files.write(states) if write else []
    except (OSError, ValueError) as error:
        raise FerruleError(f"The files of {definition.name} cannot be compared or written: {error}.") from None
    facts: list[FileFacts] = [
        {
            "path": one.path,
            "wheel_path": _wheel_path(definition, one.path),
            "state": one.state,
            "difference": one.difference,
            "content": one.content,
        }
        for one in states
    ]
    schemas = {"schema": made.schema, "result_schema": made.result_schema}
    return cast("FunctionFacts", {"name": definition.name, **schemas, "files": facts, "written": written})


def _wheel_path(definition: Definition, path: str) -> str:
    """Where the file is looked for once it is installed: beside the module, by the module's own name."""
    parts = definition.module.__name__.split(".")
    folder = parts if hasattr(definition.module, "__path__") else parts[:-1]
    return "/".join([*folder, os.path.basename(path)])


def _target_of_file(path: str) -> Target:
    folder, name = os.path.split(path)
    parts = [] if name == "__init__.py" else [name.removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return Target([folder], module=".".join(parts))


def _target_of_project(folder: str) -> Target:
    import tomllib

    file = os.path.join(folder, "pyproject.toml")
    try:
        with open(file, "rb") as source:
            content = tomllib.load(source)
    except OSError:
        hint = "Name an installed tool, a Python file, or the folder of a project."
        raise FerruleError(f"{folder} has no pyproject.toml.", hint=hint) from None
    except ValueError as error:
        raise FerruleError(f"{file} is no TOML: {error}.") from None
    project = content.get("project", {})
    points: dict[str, str] = project.get("entry-points", {}).get(TOOLS, {})
    name, version = str(project.get("name", "")), str(project.get("version", ""))
    tools = [InstalledTool(tool, value, name, version, "") for tool, value in points.items() if ":" in value]
    if not tools:
        raise FerruleError(
            f"{file} declares no function as a tool.",
            hint=f'Write `NAME = "MODULE:FUNCTION"` into [project.entry-points."{TOOLS}"].',
        )
    return Target(_source_folders(folder, content), tools)


def _source_folders(folder: str, content: JSONObject) -> list[str]:
    """Where the modules of a project are: the folders of its wheel's packages, `src`, and the project's own."""
    hatch = content.get("tool", {}).get("hatch", {}).get("build", {})
    packages = hatch.get("targets", {}).get("wheel", {}).get("packages", [])
    parents = [os.path.join(folder, os.path.dirname(str(package))) for package in packages]
    return [found for found in dict.fromkeys([*parents, os.path.join(folder, "src"), folder]) if os.path.isdir(found)]
