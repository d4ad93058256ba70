"""The least that a client of MCP can be: it starts a server, calls one tool, and ends it.

Usage: python -I -S bench/peers/raw_mcp_client.py TOOL ARGUMENTS COMMAND...
"""

from __future__ import annotations

import json
import os
import sys

_CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def main(tool: str, arguments: str, *command: str) -> None:
    """Print the answer of one call."""
    theirs, ours = os.pipe(), os.pipe()
    files: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_DUP2, theirs[0], 0),
        (os.POSIX_SPAWN_DUP2, ours[1], 1),
    ]
    files.append((os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0))
    files += [(os.POSIX_SPAWN_CLOSE, end) for end in (*theirs, *ours)]
    server = os.posix_spawnp(command[0], list(command), os.environ, file_actions=files)
    os.close(theirs[0])
    os.close(ours[1])
    with os.fdopen(theirs[1], "wb", 0) as requests, os.fdopen(ours[0], "rb") as answers:

        def ask(number: int, method: str, **params: object) -> object:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            requests.write(json.dumps(message).encode() + b"\n")
            return next(one for line in answers if (one := json.loads(line)).get("id") == number)

        ask(1, "initialize", **_CLIENT)
        requests.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        print(json.dumps(ask(2, "tools/call", name=tool, arguments=json.loads(arguments))))
        requests.close()
        os.waitpid(server, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
