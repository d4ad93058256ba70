"""Messages to a server of MCP, as they go over the wire, and what it says until it has answered."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ferrule_testkit.runs import SECONDS
from ferrule_testkit.serve.service import META, MODERN

if TYPE_CHECKING:
    import subprocess

Answered: TypeAlias = "tuple[Mapping[str, Any], list[Any]]"
_HANDSHAKE = "2025-11-25"
_TOKEN = {"progressToken": "wind"}


class Refused(Exception):
    """The server has answered a request with an error of the protocol, or has ended; the text says why."""


class StdioConversation:
    """Requests to a server on stdin and stdout of a process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._id = 0

    def begin(self) -> None:
        """Shake hands, and ask for all that is logged."""
        facts = {"protocolVersion": _HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask("initialize", facts)
        self._send({"method": "notifications/initialized"})
        self.ask("logging/setLevel", {"level": "debug"})

    def ask(self, method: str, params: Mapping[str, Any]) -> Answered:
        """The result of one request, and the notifications that came before it."""
        self._id += 1
        self._send({"id": self._id, "method": method, "params": {**params, "_meta": _TOKEN}})
        told: list[Any] = []
        for line in self._out:
            message = json.loads(line)
            if message.get("id") == self._id:
                return _result(message), told
            told.append(message)
        raise Refused(f"The server has ended without an answer to {method}.")

    def _send(self, message: Mapping[str, Any]) -> None:
        self._in.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._in.flush()


class HttpConversation:
    """Requests to a server at a URL, each of which stands for itself."""

    def __init__(self, url: str) -> None:
        self._url = url

    def begin(self) -> None:
        """There is nothing to say first."""

    def ask(self, method: str, params: Mapping[str, Any]) -> Answered:
        """The result of one request, and the notifications that came before it."""
        meta = {**META, **_TOKEN, "io.modelcontextprotocol/logLevel": "debug"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
            "Mcp-Name": str(params.get("name", params.get("uri", ""))),
        }
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                text = response.read().decode()
        except urllib.error.HTTPError as error:
            raise Refused(error.read().decode()) from None
        lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        *told, answer = [json.loads(line) for line in lines if line.strip()] or [json.loads(text)]
        return _result(answer), told


def _result(message: Mapping[str, Any]) -> Mapping[str, Any]:
    if "error" in message:
        raise Refused(message["error"]["message"])
    result: Mapping[str, Any] = message["result"]
    return result
