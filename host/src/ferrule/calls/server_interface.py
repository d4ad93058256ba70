"""What a server that makes calls of tools takes of the host, beside the public names. Its version is the host's.

[Write a server](../reference/server-interface.md) shows a small one. These names change whenever the host does.

**Calls.** `ForkServer(options)` makes calls of all tools in forks of processes that have loaded them; `ServerOptions`
says for how long those live, how the journal names the server, and how large an answer may be: as large as
`ANSWER_BYTES`, where nothing else is said. `ForkServer.call` begins a call, and returns it as a `ServedCall`, which can
be cancelled; its `CallAnswer` comes later. A `Client` is who asks, for the journal. `ForkServer.facts` gives
`ServerFacts`: what is loaded, each tool as `LoadedToolFacts`.

**Its loop.** A server reads and writes in the one thread of its `ForkServer`: `ForkServer.loop` is a `PollLoop`, which
waits for descriptors and instants, and a `WriteQueue` writes to one without ever waiting for its reader.

**Before the first call.** `prepare_groups` finds or makes room for groups that hold the memory of a call's processes.
`unenforced` says what this system does not hold of what calls may touch.

**Calls that no process has begun.** `failures` renders the failure of such a call, and `write_journal` writes it down,
with an `Outcome`.

**What a client is told of a tool.** `all_schemas` walks the schemas inside a schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.lazy import attach

if TYPE_CHECKING:
    from ferrule.calls.fork_server.call import ServedCall
    from ferrule.calls.fork_server.facts import CallAnswer, Client, LoadedToolFacts, ServerFacts
    from ferrule.calls.fork_server.poll_loop import PollLoop, WriteQueue
    from ferrule.calls.fork_server.server import ForkServer
    from ferrule.calls.fork_server.surroundings import ServerOptions
    from ferrule.journal.record import write_journal
    from ferrule.plugin import failures
    from ferrule.plugin.hooks.context import ANSWER_BYTES
    from ferrule.schema.rules.nodes import all_schemas
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.memory.group import prepare_groups
    from ferrule.trust.enforcement import unenforced

__all__ = (
    "ANSWER_BYTES",
    "CallAnswer",
    "Client",
    "ForkServer",
    "LoadedToolFacts",
    "Outcome",
    "PollLoop",
    "ServedCall",
    "ServerFacts",
    "ServerOptions",
    "WriteQueue",
    "all_schemas",
    "failures",
    "prepare_groups",
    "unenforced",
    "write_journal",
)

_NAMES = {
    "ferrule.calls.fork_server.call": "ServedCall",
    "ferrule.calls.fork_server.facts": "CallAnswer Client LoadedToolFacts ServerFacts",
    "ferrule.calls.fork_server.poll_loop": "PollLoop WriteQueue",
    "ferrule.calls.fork_server.server": "ForkServer",
    "ferrule.calls.fork_server.surroundings": "ServerOptions",
    "ferrule.journal.record": "write_journal",
    "ferrule.plugin": "failures",
    "ferrule.plugin.hooks.context": "ANSWER_BYTES",
    "ferrule.schema.rules.nodes": "all_schemas",
    "ferrule.supervision.channel.outcome": "Outcome",
    "ferrule.supervision.memory.group": "prepare_groups",
    "ferrule.trust.enforcement": "unenforced",
}
__getattr__ = attach(__name__, {name: module for module, names in _NAMES.items() for name in names.split()})
