"""What a server of MCP takes to answer by itself, asked over one connection that stays."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from measuring import seconds_with

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def measure_answers(command: Sequence[str], tool: str, arguments: object, calls: int) -> float:
    """Seconds of a processor that the server takes for a call, after some that do not count."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(method: str, **params: object) -> None:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            server.stdout.readline()

        ask("initialize", **_CLIENT)
        for _ in range(calls // 4):
            ask("tools/call", name=tool, arguments=arguments)
        before = seconds_with(server.pid)
        for _ in range(calls):
            ask("tools/call", name=tool, arguments=arguments)
        taken = seconds_with(server.pid) - before
        server.stdin.close()
    return taken / calls
