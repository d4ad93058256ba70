"""A call of nothing, made before any plugin is there.

The interpreter rewrites code while it runs it for the first times. A copy of a process would do so on pages that it
shares with the others, and pay for a page of its own each time: two thirds of what the first call in a copy costs.
"""

from __future__ import annotations

import gc
import os
import pickle
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ferrule.calls.execution import Execution
from ferrule.calls.fork_server.child.imports import import_ahead
from ferrule.calls.fork_server.child.state_check import StateCheck
from ferrule.discovery import InstalledTool
from ferrule.plugin.loader import LoadedTool, new_manager
from ferrule.supervision.channel.channel import Channel
from ferrule.supervision.child import run_work

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_TIMES = 24  # after which the interpreter leaves its code as it is
_HOSTS_OWN, _MODULES = "artifacts", ("ferrule.wrappers.guard", "ferrule.wrappers.artifacts.wrapper")


def rehearse(wrappers: JSONMapping) -> None:
    """Make some calls of a tool that answers with nothing. wrappers: that are on; the host's own is rehearsed, too."""
    from ferrule import hookimpl

    tool = InstalledTool("rehearsal", "rehearsal", "rehearsal", "", "")
    manager = new_manager()
    manager.register(SimpleNamespace(execute=hookimpl(_execute), schema=hookimpl(_schema)), name=tool.name)
    loaded = LoadedTool(tool, manager)
    on: dict[str, JSONMapping] = {}
    if _HOSTS_OWN in wrappers:
        on[_HOSTS_OWN] = {}
        import_ahead(_MODULES)
    execution = Execution(
        tool, {"a": "b"}, {}, time.monotonic() + 60, settings={}, wrappers=on, wrapper_tables={}, has_been_checked=True
    )
    file = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    check = StateCheck(tool.module)
    try:
        check.begin()
        for _ in range(_TIMES):
            made = pickle.loads(pickle.dumps((0, execution)))[1]  # noqa: S301 - it was written in the line itself
            run_work(partial(_make, made, loaded, check), Channel(file, 1 << 16))
    finally:
        os.close(file)
    gc.collect()


def _make(execution: Execution, loaded: LoadedTool, check: StateCheck, channel: Channel) -> None:
    execution.run_loaded(loaded, channel)
    check.find_changes()


def _execute(arguments: JSONMapping) -> dict[str, object]:
    return {"success": True, "arguments": dict(arguments)}


def _schema() -> dict[str, object]:
    return {}
