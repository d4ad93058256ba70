"""For a server that runs calls itself, in processes of its own making. Its version goes with the host's.

A server takes what it needs of the calls and the supervision of the host from here. It changes whenever the host does.

**A call.** `ToolCall(name, source, runner, deadline).run()` gives an `Outcome`. The server hands in an `ArgumentSource`
and a `Runner`, whose `run(execution, tool, memory_mib, deadline)` is where an `Execution` gets its process. `parse`
reads the arguments, of `INPUT_BYTES` at the most. `render` makes the `Output` of an outcome, and `render_printed`
gives what the call has printed. `failures` renders a failure that no call has seen. `discovery` finds an
`InstalledTool`.

**Its supervisor.** `Signals` says what stops a call, a signal or a descriptor. `supervise` forks, runs and watches a
child; `ChildWatch` watches one that was forked elsewhere. `Messages` takes what such a child sends, and hands its
events on as they come. The first `CAPTURED` bytes of what it prints are kept. `processes` asks the kernel about
processes, and ends them.

**Its process.** Before a plugin is there, `import_for_calls`. Then `take_standard_streams`, `close_all_but`,
`stay_within` and `limit_memory`. `load` makes a `LoadedTool`, and `import_ahead` imports what its calls will.
`run_work` does a piece of work that answers on a `Channel`, with `ANSWER_BYTES` at the most. `NO_ANSWER` is what is
left to write where even that fails.

**Large results.** `handles` are the names and URIs of artifacts, and `read_artifact` reads one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule import discovery
    from ferrule.calls import failures
    from ferrule.calls.call import ToolCall, parse
    from ferrule.calls.execution import Execution
    from ferrule.calls.interfaces import ArgumentSource, Runner
    from ferrule.calls.output import Output, render, render_printed
    from ferrule.calls.streams import INPUT_BYTES
    from ferrule.discovery import InstalledTool
    from ferrule.supervision import processes
    from ferrule.supervision.channel import Channel, Messages
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.supervisor import (
        CAPTURED,
        NO_ANSWER,
        ChildWatch,
        Outcome,
        close_all_but,
        limit_memory,
        run_work,
        stay_within,
        supervise,
        take_standard_streams,
    )
    from ferrule.tool.context import ANSWER_BYTES
    from ferrule.tool.loader import LoadedTool, load
    from ferrule.wrappers.artifacts import handles

__all__ = (
    "ANSWER_BYTES", "CAPTURED", "INPUT_BYTES", "NO_ANSWER", "ArgumentSource", "Channel", "ChildWatch", "Execution",
    "InstalledTool", "LoadedTool", "Messages", "Outcome", "Output", "Runner", "Signals", "ToolCall", "close_all_but",
    "discovery", "failures", "handles", "import_ahead", "import_for_calls", "limit_memory", "load", "parse",
    "processes", "read_artifact", "render", "render_printed", "run_work", "stay_within", "supervise",
    "take_standard_streams",
)  # fmt: skip

_NAMES = {
    "ferrule": "discovery",
    "ferrule.calls": "failures",
    "ferrule.calls.call": "ToolCall parse",
    "ferrule.calls.execution": "Execution",
    "ferrule.calls.interfaces": "ArgumentSource Runner",
    "ferrule.calls.output": "Output render render_printed",
    "ferrule.calls.streams": "INPUT_BYTES",
    "ferrule.discovery": "InstalledTool",
    "ferrule.supervision": "processes",
    "ferrule.supervision.channel": "Channel Messages",
    "ferrule.supervision.signals": "Signals",
    "ferrule.supervision.supervisor": "CAPTURED ChildWatch NO_ANSWER Outcome close_all_but limit_memory run_work "
    "stay_within supervise take_standard_streams",
    "ferrule.tool.context": "ANSWER_BYTES",
    "ferrule.tool.loader": "LoadedTool load",
    "ferrule.wrappers.artifacts": "handles",
}
__getattr__ = attach(__name__, {name: module for module, names in _NAMES.items() for name in names.split()})

_FOR_CALLS = (
    "ferrule.calls.execution",
    "ferrule.config.credentials_file",
    "ferrule.schema.arguments",
    "ferrule.schema.schema_file",
    "ferrule.supervision.exception_text",
    "ferrule.supervision.processes",
    "ferrule.text.json_diagnosis",
    "ferrule.text.redaction",
    "ferrule.text.strict_json",
    "ferrule.tool.context",
    "resource",
)
_WRAPPERS = "ferrule.wrappers.guard"


def import_for_calls() -> None:
    """Import what every call needs, before a plugin is loaded that may replace some of it."""
    for module in _FOR_CALLS:
        importlib.import_module(module)


def import_ahead(modules: Iterable[str]) -> None:
    """Import modules that calls will need, and load the wrappers among them. What fails is left to the call."""
    names = set()
    for module in modules:
        names.add(module)
        try:
            importlib.import_module(module)
        except BaseException:  # noqa: BLE001, S112 - the call that needs it imports it itself, or fails over it
            continue
    if _WRAPPERS in names:
        from ferrule.wrappers.loader import load_ahead

        load_ahead()


def read_artifact(name: str) -> tuple[str, float] | None:
    """The text of the artifact of that name, and when it expires (seconds since 1970); None where there is none.

    Raises FerruleError where the store does not answer, or config.toml cannot be read.
    """
    from ferrule.config import configuration
    from ferrule.errors import FerruleError
    from ferrule.storage import StorageError
    from ferrule.wrappers.artifacts.settings import Settings
    from ferrule.wrappers.artifacts.store import ArtifactStore

    store = ArtifactStore(Settings.of(configuration.read()))
    try:
        body, expires = store.get(name), store.expires(name)
    except StorageError as failure:
        raise FerruleError(str(failure)) from None
    if body is None or expires is None:
        return None
    try:
        return body.decode(), expires
    except UnicodeDecodeError:
        return None  # it was not the wrapper that stored this
