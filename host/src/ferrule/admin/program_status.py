"""Whether the programs that tools need are installed: which one was found, and which version it says it is.

A plugin declares them in `programs.json`, in the folder of its module or of a package around that; for a plain module
NAME.py it is `NAME.programs.json`. Nothing of the plugin is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ferrule.schema import schema_file
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

FOUND, MISSING, BROKEN = "found", "missing", "broken"
_VERSION_SECONDS = 5.0  # that a program may take to say its version
_MAX_VERSION_CHARS = 100
_FILE = "programs.json"


class Need(NamedTuple):
    """What a plugin declares.

    names: of programs, any one of which will do, the best first. version: the arguments with which it prints its
    version. output: a pattern of what it prints then; one that prints something else is another program of that name.
    variable, setting: what names the program instead of PATH. install: how to get it.
    """

    names: tuple[str, ...]
    version: tuple[str, ...] = ("--version",)
    output: str = ""
    variable: str = ""
    setting: str = ""
    install: str = ""


class ProgramStatus(NamedTuple):
    """A program that tools need.

    names: any one of which will do. state: `found`, `missing` or `broken`. tools, sources: who needs it. path: where it
    is. version: the first line that it prints. problem: why it cannot be used. install: how to get it.
    """

    names: tuple[str, ...]
    state: str
    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    path: str | None = None
    version: str | None = None
    problem: str | None = None
    install: str = ""

    def as_dict(self) -> JSONObject:
        """The status as JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._asdict().items()}

    def describe(self) -> str:
        """Where it is and which version it says it is, or why it cannot be used."""
        if self.state == FOUND:
            return f"{self.version} at {self.path}"
        return self.problem or f"not found on PATH; {self.install}".rstrip("; ")


def statuses(tools: Iterable[InstalledTool], settings: Configuration) -> list[ProgramStatus]:
    """The programs that tools need, each once, in the order of the tools. Every one is asked for its version.

    A declaration that cannot be read is a program without a name that is `broken`.
    """
    needed: dict[tuple[Need | str, str], list[InstalledTool]] = {}
    for tool in tools:
        try:
            for need in read_needs(tool.module):
                needed.setdefault((need, _named(need, settings.tool(tool.name))), []).append(tool)
        except (OSError, ValueError) as error:
            needed.setdefault((str(error), ""), []).append(tool)
    return [_examine(need, named, users) for (need, named), users in needed.items()]


def read_needs(module: str) -> list[Need]:
    """What the plugin of a module declares; nothing where it has no such file. Raises OSError and ValueError."""
    path = _find_declaration(module)
    if path is None:
        return []
    try:
        declared = strict_json.loads(schema_file.read_file(path))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if not isinstance(declared, list):
        raise ValueError(f"{path} holds no list")
    return [_parse(each, path) for each in declared]


def _parse(declared: object, path: str) -> Need:
    if not isinstance(declared, dict) or not declared.get("names") or set(declared) - set(Need._fields):
        raise ValueError(f"an entry of {path} has no names, or another field than {', '.join(Need._fields)}")
    values: dict[str, tuple[str, ...] | str] = {}
    for name, value in declared.items():
        is_list = name in ("names", "version")
        texts = value if is_list and isinstance(value, list) else [value]
        if is_list is not isinstance(value, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{name} in {path} is no {'list of texts' if is_list else 'text'}")
        values[name] = tuple(texts) if is_list else texts[0]
    try:
        re.compile(str(values.get("output", "")))
    except re.error as error:
        raise ValueError(f"output in {path} is no pattern: {error}") from None
    return Need(**values)  # type: ignore[arg-type]  # each value has the type of its field, which was checked


def _find_declaration(module: str) -> str | None:
    file = schema_file.find_module_file(module)
    if file is None:
        return None
    folder, name = os.path.split(file)
    is_package = name == "__init__.py"
    candidates = [] if is_package else [os.path.join(folder, f"{name.removesuffix('.py')}.{_FILE}")]
    for _ in range(module.count(".") + is_package):
        candidates.append(os.path.join(folder, _FILE))
        folder = os.path.dirname(folder)
    return next(filter(os.path.isfile, candidates), None)


def _named(need: Need, table: object) -> str:
    """The program that the admin names; "" where none is named."""
    by_variable = os.environ.get(need.variable, "").strip() if need.variable else ""
    by_setting = table.get(need.setting, "") if need.setting and isinstance(table, dict) else ""
    return by_variable or str(by_setting)


def _examine(need: Need | str, named: str, users: list[InstalledTool]) -> ProgramStatus:
    tools = tuple(tool.name for tool in users)
    sources = tuple(dict.fromkeys(tool.source for tool in users))
    if isinstance(need, str):
        return ProgramStatus((), BROKEN, tools, sources, problem=f"Its declaration cannot be read: {need}.")
    status = ProgramStatus(need.names, MISSING, tools, sources, install=need.install)
    broken = None
    for path in _find(need.names, named):
        version, problem = _ask_version(path, need)
        if version is not None:
            return status._replace(state=FOUND, path=path, version=version)
        broken = broken or (status._replace(state=BROKEN, path=path, problem=f"{path} {problem}") if problem else None)
    missing = status._replace(problem=f"{named} is not found, which the configuration names") if named else status
    return broken or missing


def _find(names: tuple[str, ...], named: str) -> Iterator[str]:
    """The executables of these names, in absolute folders of PATH; or those that the admin names."""
    if named:
        named = os.path.expanduser(named)
        if os.path.isabs(named):
            yield from [named] if _is_executable(named) else []
            return
        names = (named,) if os.sep not in named else ()
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    for name in names:
        yield from filter(_is_executable, (os.path.join(folder, name) for folder in dict.fromkeys(folders)))


def _is_executable(path: str) -> bool:
    return "\0" not in path and os.path.isfile(path) and os.access(path, os.X_OK)


def _ask_version(path: str, need: Need) -> tuple[str | None, str | None]:
    """The version, or why there is none; neither for another program."""
    from ferrule.admin import executable_probe  # most machines have no plugin that needs a program

    probe = executable_probe.ask(path, need.version, _VERSION_SECONDS)
    command = " ".join(need.version)
    if probe.problem:
        return None, f"cannot be started: {probe.problem}"
    if probe.exit_code is None:
        return None, f"did not answer `{command}` within {_VERSION_SECONDS:.0f} s"
    text = probe.output.decode(errors="replace").strip()
    if probe.exit_code:
        return None, f"answers `{command}` with exit code {probe.exit_code}"
    return (text.partition("\n")[0][:_MAX_VERSION_CHARS], None) if re.search(need.output, text) else (None, None)
