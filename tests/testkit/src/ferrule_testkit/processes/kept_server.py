"""An MCP server whose process is kept, on a machine with a keeper: it says how many calls it has had, and who it is."""

import json
import os
import select
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.keeper import Answer, KeptMachine
from ferrule_testkit.machine import Finished
from ferrule_testkit.mcp_servers import scripted_server

_TEXT = {"type": "object", "properties": {"text": {"type": "string", "description": "A text."}}}
COUNT = {"tools/call": [[{"count": True}]]}


class Count(NamedTuple):
    """What the server says of itself: calls that it has had, and its process."""

    calls: int
    process: int


class KeptServer:
    """A server `talk` with the tools `talk_say` and `talk_ask`. scenario: the file that it reads at its start."""

    def __init__(self, kept: KeptMachine, folder: Path) -> None:
        self.kept = kept
        self.scenario = folder / "scenario.json"
        self.command = [sys.executable, "-I", "-S", scripted_server.__file__, str(self.scenario)]

    def tell(self, on: dict[str, Any], **more: Any) -> None:
        """What the server does at its next start: its actions by method, beside listing its tools."""
        tools = [{"name": name, "description": "Says it.", "inputSchema": _TEXT} for name in ("say", "ask")]
        self.scenario.write_text(json.dumps({"on": {"tools/list": [[{"result": {"tools": tools}}]], **on}, **more}))

    def add(self, *options: str) -> None:
        """Add it, to be kept."""
        self.tell(COUNT)
        rights = ("--allow", f"read={self.scenario}")
        added = self.mcp("add", "talk", "--keep", *rights, *options, "--", *self.command)
        assert added.code == 0, added.err

    def mcp(self, *words: str) -> Finished:
        """Run `ferrule mcp WORD…`."""
        return self.kept.machine.ferrule("mcp", *words, close_fds=True)

    def call(self, tool: str = "talk_say", **changes: Any) -> Answer:
        """Call a tool by the keeper."""
        return self.kept.call(tool, {}, **changes)

    def count(self, tool: str = "talk_say", **changes: Any) -> Count:
        """Call a tool by the keeper, of a server that counts."""
        return read_count(self.call(tool, **changes).document)


def read_count(document: Any) -> Count:
    """What the server has said of itself."""
    said = json.loads(document["content"][0]["text"])
    return Count(said["count"], said["process"])


def await_end(*handles: int) -> None:
    """Wait until processes have ended. handles: descriptors of them, which are closed."""
    for handle in handles:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        ended = poll.poll(PATIENCE_SECONDS * 1000)
        os.close(handle)
        assert ended


def open_children(process: int) -> list[int]:
    """Descriptors of the processes that a process has started, and that are its children still."""
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [os.pidfd_open(int(child)) for child in file.read().split()]
