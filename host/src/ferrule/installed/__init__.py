"""Public: the tools that are installed, for programs that call them.

**Which there are.** `InventorySnapshot(patterns).document(seconds)` gives a `Snapshot`: for each tool its `ToolFacts`,
and what they depend on (`Watched`). `ALL` is the pattern of all. A tool that can be called has the state `OK`, a name
that nothing has `UNKNOWN`. Loading one plugin may take `LOAD_SECONDS`. `take_fingerprint(folders, files)` gives a
`Fingerprint`, which is another one as soon as something has changed. `InstalledTool(**facts["tool"])` is one tool
without its plugin, and `unknown_tool(name, known)` the error for a name that none has, with those that were meant.

**Calling one as a client does.** `await execute(tool, arguments, seconds, environ)` runs it as its executable does, in
processes of its own, and gives a `ProcessResult`; a keeper makes the call where one runs that keeps the tool. `await
call_keeper(tool, arguments, seconds, environ)` asks that alone, and gives a `KeptAnswer`, or None; `join_environ` makes
the variables for it of a program that has set some itself.

**Calling one from a plugin.** `run_tool(name, arguments, deadline=…)` has the host run a tool and gives its `Outcome`;
with `operation=…` it runs a function that the tool's `tool.json` names for that, which gets the arguments and a
`CalledTool`: its plugin is loaded, and can be asked for its credentials and its results. `has_operation(tool, name)`
says whether there is one, `find_configured(tools)` whether what tools need is set. `entry_points(group)` yields name,
value and distribution of what is installed for a plugin, and `resolve(value)` imports one.

**Tools that are data.** `SourceTools(source, name)` writes, reads and removes the tools that a source of the group
`ferrule.sources` has under one name; `find_sources(source)` has all of them.

**Other processes.** `python_command("module:function")` starts an interpreter that has this one's path and ends with
it; `await run_process(command, data, seconds)` gives a `ProcessResult` of any command.

Every name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool, entry_points
    from ferrule.installed.called_tools import find_configured, has_operation, run_tool
    from ferrule.installed.fingerprint import Fingerprint, take_fingerprint
    from ferrule.installed.inventory import OK
    from ferrule.installed.kept_call import KeptAnswer, call_keeper, join_environ
    from ferrule.installed.process_output import ProcessResult, run_process
    from ferrule.installed.snapshot import ALL, UNKNOWN, InventorySnapshot, Snapshot, ToolFacts, Watched
    from ferrule.installed.source_tools import SourceTools, find_sources
    from ferrule.installed.suggestions import unknown_tool
    from ferrule.installed.supervised_work import LOAD_SECONDS
    from ferrule.installed.tool_process import execute
    from ferrule.plugin.called_tool import CalledTool
    from ferrule.plugin.loader import resolve
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.python_process import python_command

_MODULES = {
    "ferrule.installed.inventory": ("OK",),
    "ferrule.installed.source_tools": ("SourceTools", "find_sources"),
    "ferrule.installed.suggestions": ("unknown_tool",),
    "ferrule.installed.supervised_work": ("LOAD_SECONDS",),
    "ferrule.discovery": ("InstalledTool", "entry_points"),
    "ferrule.installed.fingerprint": ("Fingerprint", "take_fingerprint"),
    "ferrule.installed.called_tools": ("find_configured", "has_operation", "run_tool"),
    "ferrule.installed.snapshot": ("ALL", "InventorySnapshot", "Snapshot", "ToolFacts", "UNKNOWN", "Watched"),
    "ferrule.installed.tool_process": ("execute",),
    "ferrule.installed.kept_call": ("KeptAnswer", "call_keeper", "join_environ"),
    "ferrule.installed.process_output": ("ProcessResult", "run_process"),
    "ferrule.supervision.python_process": ("python_command",),
    "ferrule.supervision.channel.outcome": ("Outcome",),
    "ferrule.plugin.called_tool": ("CalledTool",),
    "ferrule.plugin.loader": ("resolve",),
}

__all__ = [
    "ALL", "LOAD_SECONDS", "OK", "UNKNOWN", "CalledTool", "Fingerprint", "InstalledTool", "InventorySnapshot",
    "KeptAnswer", "Outcome", "ProcessResult", "Snapshot", "SourceTools", "ToolFacts", "Watched", "call_keeper",
    "entry_points", "execute", "find_configured", "find_sources", "has_operation", "join_environ", "python_command",
    "resolve", "run_process", "run_tool", "take_fingerprint", "unknown_tool",
]  # fmt: skip

__getattr__ = attach(__name__, {name: module for module, names in _MODULES.items() for name in names})
