"""For a server that runs calls itself, in processes of its own making. Its version goes with the host's.

A server takes what it needs of the calls and the supervision of the host from here. It changes whenever the host does.

**A call.** `ToolCall(name, source, runner, deadline).run()` gives an `Outcome`. The server hands in an `ArgumentSource`
and a `Runner`, whose `run(execution, tool, memory_mib, deadline)` is where an `Execution` gets its process. `parse`
reads the arguments, of `INPUT_BYTES` at the most. A server that runs several at a time takes the `steps` of a call
instead, each of which is a `Job`, and may hand in a `Lookup` that remembers what it reads, by `read_schema`,
`find_schema_file` and `read_declaration`. `render` makes the `Output` of an outcome, and `render_printed` gives what
the call has printed; `advice_of` is what an administrator can do about a failure, which no client is told.
`ToolCall.write_journal` writes the call down. `failures` renders a failure that no call has seen, and `write_journal`
writes that down. `discovery` finds an `InstalledTool`, and `find_tool` one that may run. `all_schemas` walks the schemas
inside a schema, for what a client is told of a tool.

**Its supervisor.** `Signals` says what stops a call, a signal or a descriptor. `supervise` forks, runs and watches a
child; `ChildWatch` watches one that was forked elsewhere, whose end `explain_status` and `deadline_passed` put in
words. `Messages` takes what such a child sends, and hands its
events on as they come. The first `CAPTURED` bytes of what it prints are kept. `processes` asks the kernel about
processes, and ends them.

**What a call may touch.** An `Execution` has the `policy` of its call, a `Policy`, and its `surroundings`, of the type
`Surroundings`. `ConfinedWork(work, policy)` is entered and left by the process that watches the child; its `broker()`,
a `Broker`, goes to the `ChildWatch`, and is closed after it. The child calls its `hold(channel)` before any code of a
plugin is there. For a process that makes copies of itself there is `ConfinedCopies(policy)`: `hold` is for the process,
and `narrow` for each copy. Its one `SharedBroker` judges all of them; `add` makes the `CopyBroker` that goes to the
`ChildWatch` of a copy. Where the policy has programs, a `MemoryWatch` says when their processes use too much, or a
`MemoryGroup` holds them: `make_group` makes one where `prepare_groups`, called by the server when it starts, has found
or made room for it, and a process enters it by `enter_group`. What is left in the end goes by `remove_groups`. Where
the policy has `proxies`, `begin_relay` starts a `Relay` first, with whose policy the process is started, and which
`broker` is given.

**Its process.** First `go_on_below_guard`. Before a plugin is there, `import_for_calls`. Then
`take_standard_streams`, `close_all_but`,
`stay_within` and `limit_memory`, and `Replacement`, which the parent makes of the environment of the tool's policy. Its
`Channel` reads what is answered to its questions from an `AnswerPipe`; `Execution.surroundings().answer` gives the
answers, and `write_answer` writes them; `learnt_from` and `sort_learnt` are what a parent has to know of them.
`admit` gives the policy of a tool, and `unenforced` says what this system does not
hold of any. `load` makes a `LoadedTool`, `import_ahead` imports what its calls will, and
`register_ahead` puts the wrappers around it. `new_manager` is a manager of plugins without one. `run_work` does a piece
of work that answers on a `Channel`, with `ANSWER_BYTES` at the most. `NO_ANSWER` is what is left to write where even
that fails.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule import discovery
    from ferrule.calls.call import Job, ToolCall, parse
    from ferrule.calls.execution import Execution
    from ferrule.calls.interfaces import ArgumentSource, Runner
    from ferrule.calls.journal_line import write_journal
    from ferrule.calls.lookup import Lookup, find_tool
    from ferrule.calls.output import Output, advice_of, render, render_printed
    from ferrule.calls.streams import INPUT_BYTES
    from ferrule.confinement.broker.broker import Broker
    from ferrule.confinement.broker.shared_broker import CopyBroker, SharedBroker
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.discovery import InstalledTool
    from ferrule.plugin import failures
    from ferrule.plugin.declaration import Declaration
    from ferrule.plugin.hooks.context import ANSWER_BYTES
    from ferrule.plugin.loader import LoadedTool, load, new_manager
    from ferrule.plugin.surroundings import Surroundings
    from ferrule.schema.rules.nodes import all_schemas
    from ferrule.supervision import processes
    from ferrule.supervision.channel.channel import Channel, Messages
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.channel.questions import AnswerPipe, learnt_from, sort_learnt, write_answer
    from ferrule.supervision.child import (
        NO_ANSWER,
        limit_memory,
        run_work,
        stay_within,
        take_standard_streams,
    )
    from ferrule.supervision.confined_copies import ConfinedCopies
    from ferrule.supervision.confined_work import ConfinedWork
    from ferrule.supervision.environment import Replacement
    from ferrule.supervision.guard import go_on_below_guard
    from ferrule.supervision.memory.group import MemoryGroup, enter_group, make_group, prepare_groups, remove_groups
    from ferrule.supervision.memory.watch import MemoryWatch
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.standard_streams import close_all_but
    from ferrule.supervision.supervisor import CAPTURED, ChildWatch, supervise
    from ferrule.supervision.termination import deadline_passed, explain_status
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.enforcement import unenforced
    from ferrule.trust.admission import admit

__all__ = (
    "ANSWER_BYTES",
    "CAPTURED",
    "INPUT_BYTES",
    "NO_ANSWER",
    "AnswerPipe",
    "ArgumentSource",
    "Broker",
    "Channel",
    "ChildWatch",
    "ConfinedCopies",
    "ConfinedWork",
    "CopyBroker",
    "Execution",
    "InstalledTool",
    "Job",
    "LoadedTool",
    "Lookup",
    "MemoryGroup",
    "MemoryWatch",
    "Messages",
    "Outcome",
    "Output",
    "Policy",
    "Relay",
    "Replacement",
    "Runner",
    "SharedBroker",
    "Signals",
    "Surroundings",
    "ToolCall",
    "admit",
    "advice_of",
    "all_schemas",
    "begin_relay",
    "close_all_but",
    "deadline_passed",
    "discovery",
    "enter_group",
    "explain_status",
    "failures",
    "find_schema_file",
    "find_tool",
    "go_on_below_guard",
    "import_ahead",
    "import_for_calls",
    "learnt_from",
    "limit_memory",
    "load",
    "make_group",
    "new_manager",
    "parse",
    "prepare_groups",
    "processes",
    "read_declaration",
    "read_schema",
    "register_ahead",
    "remove_groups",
    "render",
    "render_printed",
    "run_work",
    "sort_learnt",
    "stay_within",
    "supervise",
    "take_standard_streams",
    "unenforced",
    "write_answer",
    "write_journal",
)  # fmt: skip

_NAMES = {
    "ferrule": "discovery",
    "ferrule.plugin": "failures",
    "ferrule.calls.call": "Job ToolCall parse",
    "ferrule.calls.execution": "Execution",
    "ferrule.calls.interfaces": "ArgumentSource Runner",
    "ferrule.calls.journal_line": "write_journal",
    "ferrule.calls.lookup": "Lookup find_tool",
    "ferrule.calls.output": "Output advice_of render render_printed",
    "ferrule.calls.streams": "INPUT_BYTES",
    "ferrule.discovery": "InstalledTool",
    "ferrule.supervision": "processes",
    "ferrule.supervision.channel.channel": "Channel Messages",
    "ferrule.confinement.broker.broker": "Broker",
    "ferrule.confinement.policy": "Policy",
    "ferrule.confinement.proxies.relay": "Relay",
    "ferrule.confinement.broker.shared_broker": "CopyBroker SharedBroker",
    "ferrule.trust.enforcement": "unenforced",
    "ferrule.trust.admission": "admit",
    "ferrule.schema.rules.nodes": "all_schemas",
    "ferrule.supervision.confined_copies": "ConfinedCopies",
    "ferrule.supervision.confined_work": "ConfinedWork",
    "ferrule.supervision.channel.outcome": "Outcome",
    "ferrule.supervision.signals": "Signals",
    "ferrule.supervision.guard": "go_on_below_guard",
    "ferrule.supervision.child": "NO_ANSWER limit_memory run_work stay_within take_standard_streams",
    "ferrule.supervision.standard_streams": "close_all_but",
    "ferrule.supervision.environment": "Replacement",
    "ferrule.supervision.channel.questions": "AnswerPipe learnt_from sort_learnt write_answer",
    "ferrule.supervision.memory.group": "MemoryGroup enter_group make_group prepare_groups remove_groups",
    "ferrule.supervision.memory.watch": "MemoryWatch",
    "ferrule.supervision.supervisor": "CAPTURED ChildWatch supervise",
    "ferrule.supervision.termination": "deadline_passed explain_status",
    "ferrule.plugin.hooks.context": "ANSWER_BYTES",
    "ferrule.plugin.loader": "LoadedTool load new_manager",
    "ferrule.plugin.surroundings": "Surroundings",
}
__getattr__ = attach(__name__, {name: module for module, names in _NAMES.items() for name in names.split()})

_FOR_CALLS = (
    "ferrule.calls.execution",
    "ferrule.plugin.hooks.credential_values",
    "ferrule.schema.arguments",
    "ferrule.schema.schema_file",
    "ferrule.supervision.exception_text",
    "ferrule.supervision.processes",
    "ferrule.text.json_diagnosis",
    "ferrule.text.redaction",
    "ferrule.text.strict_json",
    "ferrule.plugin.hooks.context",
    "resource",
)
_WRAPPERS = "ferrule.wrappers.guard"


def import_for_calls() -> None:
    """Import what every call needs, before a plugin is loaded that may replace some of it."""
    for module in _FOR_CALLS:
        importlib.import_module(module)


def import_ahead(modules: Iterable[str]) -> None:
    """Import modules that calls will need, and load the wrappers among them. What fails is left to the call."""
    for module in modules:
        try:
            importlib.import_module(module)
        except BaseException:  # noqa: BLE001, S112 - the call that needs it imports it itself, or fails over it
            continue
    if _WRAPPERS in sys.modules:
        from ferrule.wrappers.loader import load_ahead

        load_ahead()


def register_ahead(loaded: LoadedTool, wrappers: Iterable[str]) -> None:
    """Put those wrappers around a tool that have been loaded ahead, before the calls that have them on."""
    if _WRAPPERS in sys.modules:
        from ferrule.wrappers import guard

        guard.register_ahead(loaded, wrappers)


def begin_relay(policy: Policy, seconds: float) -> Relay:
    """What stands between the processes of a policy with `proxies` and a proxy, until it is closed. Raises OSError.

    seconds: that a call may take.
    """
    from ferrule.confinement.proxies.relay import Relay

    return Relay(policy, deadline=None, seconds=seconds)


def read_declaration(tool: InstalledTool) -> Declaration:
    """What a tool declares in `tool.json`; nothing where that cannot be read."""
    from ferrule.plugin.declaration import read_if_well

    return read_if_well(tool)


def read_schema(tool: InstalledTool) -> JSONObject | None:
    """The schema of a plugin that ships it as a file; None where it computes it. Raises SchemaInvalid."""
    from ferrule.schema import schema_file

    return schema_file.read_static(tool)


def find_schema_file(tool: InstalledTool) -> str | None:
    """Where that file is; None where there is none."""
    from ferrule.schema import schema_file

    return schema_file.find_for_tool(tool)
