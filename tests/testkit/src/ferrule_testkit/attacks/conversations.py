"""Ways into the host that are one program for all calls: `ferrule serve`, and questions to a model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ferrule_testkit.attacks.ways import LOST, Answered, document_of
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, calls, says
from ferrule_testkit.pairs.mcp_messages import HttpConversation, Refused, StdioConversation

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_testkit.model.server import ModelRequest, Reply

_DIED = "ended without an answer"


class _Server(ABC):
    """A running `ferrule serve`; one that has died is started again. What it says to people counts as told, too."""

    def __init__(self, environment: Mapping[str, str], folder: Path, tools: Sequence[str]) -> None:
        """folder: for what it writes on stderr."""
        self._environment, self._tools = environment, tools
        path = folder / "serve.err"
        self._errors, self._told = path.open("ab"), path.open("rb")
        self.start()

    @abstractmethod
    def _converse(self, process: subprocess.Popen[bytes]) -> StdioConversation | HttpConversation:
        """Speak with it."""

    options: Sequence[str] = ()

    def start(self) -> None:
        """Start it, and begin to speak with it."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ferrule", "serve", *self._tools, *self.options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self._environment,
            process_group=0,
        )
        self._conversation = self._converse(self._process)
        self._conversation.begin()

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call it as a client of the protocol does."""
        try:
            result, told = self._conversation.ask("tools/call", {"name": tool, "arguments": arguments})
        except (Refused, OSError, ValueError) as error:
            if "Unknown tool" in str(error):
                raise
            result, told = {"content": [{"type": "text", "text": str(error)}]}, []
        text = json.dumps([result, told], ensure_ascii=False) + self._printed()
        document = dict(result.get("structuredContent") or {}) or _read(result)
        has_ended = self._process.poll() is not None
        if has_ended:
            self._end()
            self.start()
        return Answered(text, document, has_ended or LOST in text)

    def listing(self) -> str:
        """What a client is told of all tools, and a person of those that are not served."""
        return json.dumps(self._conversation.ask("tools/list", {})[0], ensure_ascii=False) + self._printed()

    def _printed(self) -> str:
        """What it has said to people since the last time, but for which tools it serves."""
        lines = self._told.read().decode(errors="replace").splitlines()
        return "\n".join(line for line in lines if not line.startswith("Serving "))

    def close(self) -> None:
        """End it."""
        self._end()
        self._errors.close()
        self._told.close()

    def _end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        self._process.stdout.close()


class Stdio(_Server):
    """`ferrule serve` over stdio."""

    def _converse(self, process: subprocess.Popen[bytes]) -> StdioConversation:
        return StdioConversation(process)


class Http(_Server):
    """`ferrule serve` over HTTP."""

    options = ("--http", "127.0.0.1:0")

    def _converse(self, process: subprocess.Popen[bytes]) -> HttpConversation:
        assert process.stdout is not None
        return HttpConversation(process.stdout.readline().decode().strip())


class Asked:
    """Questions to a model on loopback, which asks for the tool. Takes this process's environment."""

    def __init__(self, tools: Sequence[str], seconds: float) -> None:
        from ferrule_ask import Client, Keys

        self._model = ModelServer(self._reply)
        self._model.__enter__()
        self._next: tuple[str, Mapping[str, object]] = ("", {})
        self._told = ""
        keys = Keys({**os.environ, "ANTHROPIC_API_KEY": MODEL_KEY})
        self._client = Client(tools=tools, keys=keys, base_url=self._model.url, budgets=(60, seconds, 60))

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Ask a question; what the model got of the tool, and what the answer says of it."""
        self._next, self._told = (tool, arguments), ""
        answer = self._client.ask(None, "Call the tool.")
        text = "\n".join(filter(None, (self._told, answer.tool_error, answer.error, answer.text)))
        document = document_of(self._told.encode()) or {"error": self._told or answer.error}
        if answer.tool_outcome != "ok":
            document = {"error": answer.tool_error or answer.error or "", "error_code": answer.tool_code or ""}
        return Answered(text, document, _DIED in text)

    def listing(self) -> str:
        """What the model was told of the tools, and why others are not offered."""
        offered = [body.get("tools") for body in self._model.bodies[-1:]]
        return json.dumps([offered, self._client.left_out], ensure_ascii=False)

    def close(self) -> None:
        """End the client and its model."""
        self._client.close()
        self._model.__exit__()

    def _reply(self, request: ModelRequest) -> Reply:
        if not request.is_second:
            return calls(*self._next)
        (told,) = request.body["messages"][-1]["content"]
        content = told["content"]
        self._told = content if isinstance(content, str) else "".join(one.get("text", "") for one in content)
        return says("It was called.")


def _read(result: Mapping[str, object]) -> dict[str, object]:
    """The document in the first text of a result; what is none is an error that is told in words."""
    content = result.get("content")
    text = str(content[0].get("text", "")) if isinstance(content, list) and content else ""
    return document_of(text.encode()) or {"error": text}
