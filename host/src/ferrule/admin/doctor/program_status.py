"""Whether the programs that tools need are installed: which one was found, and which version it says it is.

Plugins declare them in `tool.json`. Nothing of the plugin is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ferrule.errors import CallInterrupted, FerruleError
from ferrule.plugin.declaration import Program, read_if_well

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject

FOUND, MISSING, BROKEN = "found", "missing", "broken"
_VERSION_SECONDS = 4.0  # that a program may take to say its version: less than its child has
_MAX_VERSION_CHARS = 100
_MAX_COMMAND_CHARS = 60
_MAX_PROCESSES = 8  # that it may start for that


class ProgramStatus(NamedTuple):
    """A program that tools need.

    names: any one of which will do. state: `found`, `missing` or `broken`. tools, sources: who needs it. path: where it
    is. version: the first line that it prints, or the first group of the pattern. problem: why it cannot be used.
    install: how to get it.
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

    A tool whose declaration cannot be read needs none that is known; the inventory has a warning of it.
    """
    needed: dict[tuple[Program, str], list[InstalledTool]] = {}
    for tool in tools:
        for need in read_if_well(tool).programs:
            named = _named(need, settings.tool(tool.name))
            if need.names or named:
                needed.setdefault((need, named), []).append(tool)
    return [_examine(need, named, users) for (need, named), users in needed.items()]


def _named(need: Program, table: object) -> str:
    """The program that the admin names; "" where none is named."""
    by_variable = os.environ.get(need.variable, "").strip() if need.variable else ""
    by_setting = table.get(need.setting, "") if need.setting and isinstance(table, dict) else ""
    return by_variable or str(by_setting)


def _examine(need: Program, named: str, users: list[InstalledTool]) -> ProgramStatus:
    tools = tuple(tool.name for tool in users)
    sources = tuple(dict.fromkeys(tool.source for tool in users))
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
    for name in names:
        yield from filter(_is_executable, (os.path.join(folder, name) for folder in _folders()))


def _folders() -> list[str]:
    """The absolute folders of PATH."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    return list(dict.fromkeys(folders))


def _is_executable(path: str) -> bool:
    return "\0" not in path and os.path.isfile(path) and os.access(path, os.X_OK)


def _ask_held(path: str, arguments: Sequence[str]) -> tuple[str | None, int | None, str]:
    """Why it cannot be started, its exit code (None: it was late), and what it prints.

    A plugin says which program that is, and with which arguments: so it runs in a child that may run programs, which
    scripts do, and that has no network, no file of the user's, and nothing to write to. Raises CallInterrupted.
    """
    from ferrule.installed import executable_probe
    from ferrule.installed.supervised_work import run_supervised
    from ferrule.trust.load_policy import policy_for_code

    def ask(channel: Channel) -> None:
        probe = executable_probe.ask(path, arguments, _VERSION_SECONDS)
        channel.result(probe._asdict() | {"output": probe.output.decode(errors="replace")})

    policy = policy_for_code(os.path.basename(path)).replaced(programs=(path, *_folders()), processes=_MAX_PROCESSES)
    try:
        found = cast("dict[str, Any]", run_supervised(ask, policy))
    except CallInterrupted:
        raise
    except FerruleError as error:
        return error.message, None, ""
    return found["problem"], found["exit_code"], found["output"]


def _ask_version(path: str, need: Program) -> tuple[str | None, str | None]:
    """The version, or why there is none; neither for another program."""
    problem, exit_code, output = _ask_held(path, need.version)
    command = shorten(" ".join(need.version), _MAX_COMMAND_CHARS, placeholder=" …")
    if problem:
        return None, f"cannot be started: {problem}"
    if exit_code is None:
        return None, f"did not answer `{command}` within {_VERSION_SECONDS:.0f} s"
    text = output.strip()
    if exit_code:
        return None, f"answers `{command}` with exit code {exit_code}"
    found = re.search(need.output, text)
    if found is None:
        return None, None if need.names else f"answers `{command}` with something else than is expected"
    version = found[1] if found.re.groups and found[1] else text.partition("\n")[0]
    return version[:_MAX_VERSION_CHARS], None
