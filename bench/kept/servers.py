"""What a server of MCP takes to answer by itself, asked over one connection that stays."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from measuring import seconds_with

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

_CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def measure_answers(command: Sequence[str], tool: str, arguments: object, calls: int) -> float:
    """Seconds of a processor that the server takes for a call, after some that do not count."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        requests, answers = server.stdin, server.stdout
        assert requests is not None
        assert answers is not None
        _ask(requests, answers, "initialize", **_CLIENT)
        for _ in range(calls // 4):
            _ask(requests, answers, "tools/call", name=tool, arguments=arguments)
        before = seconds_with(server.pid)
        for _ in range(calls):
            _ask(requests, answers, "tools/call", name=tool, arguments=arguments)
        taken = seconds_with(server.pid) - before
        requests.close()
    return taken / calls


def _ask(requests: IO[bytes], answers: IO[bytes], method: str, **params: object) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    requests.write(json.dumps(message).encode() + b"\n")
    requests.flush()
    answers.readline()
