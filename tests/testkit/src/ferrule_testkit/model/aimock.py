"""aimock, a server that pretends to be a model and was written by others, as scripts/install-node-programs installs it.

    with Aimock(tmp_path, answering("the price of tea", {"content": "Ten pence."})) as server:
        ...                                            # ANTHROPIC_BASE_URL=server.url, with any key

A fixture says what it answers to a question; of several that fit, the first does.
"""

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.runs import wait_for

PROGRAM = PROJECT / ".node/node_modules/@copilotkit/aimock/dist/cli.js"
_UNAVAILABLE = PROJECT / ".node/unavailable"
_LISTENS = "listening on "


def why_not_installed() -> str | None:
    """Why the program cannot be started; None where it can."""
    if PROGRAM.exists():
        return None if shutil.which("node") else "Node is not on PATH"
    return _UNAVAILABLE.read_text().strip() if _UNAVAILABLE.exists() else "scripts/install-node-programs was not run"


def answering(question: str, response: Mapping[str, Any], **match: Any) -> dict[str, Any]:
    """A fixture. question: stands in the user's message. match: what else has to hold, such as `hasToolResult`."""
    return {"match": {"userMessage": question, **match}, "response": response}


def failing(question: str, status: int, message: str, *, retry_after: int | None = None, **match: Any) -> Any:
    """A fixture that answers with an error."""
    response: dict[str, Any] = {"error": {"message": message}, "status": status}
    if retry_after is not None:
        response["retryAfter"] = retry_after
    return answering(question, response, **match)


def calling(*calls: tuple[str, Mapping[str, Any]], text: str = "") -> dict[str, Any]:
    """The response that wants tools called. calls: names and arguments."""
    wishes = [
        {"id": f"toolu_{number:02d}", "name": name, "arguments": json.dumps(arguments)}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {**({"content": text} if text else {}), "toolCalls": wishes}


class Aimock:
    """The server, as long as the `with` block lasts. Where it is not installed, the test is skipped."""

    def __init__(self, folder: Path, *fixtures: Mapping[str, Any]) -> None:
        reason = why_not_installed()
        if reason:
            pytest.skip(reason)
        self._fixtures = folder / "fixtures.json"
        self._fixtures.write_text(json.dumps({"fixtures": fixtures}))
        self._log = folder / "aimock.log"
        self.url = ""

    def __enter__(self) -> Self:
        command = ["node", str(PROGRAM), "-p", "0", "-f", str(self._fixtures), "--validate-on-load"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for(lambda: _LISTENS in self._said() or self._process.poll() is not None)
            assert self._process.poll() is None, self._said()
        except BaseException:
            self.__exit__()
            raise
        self.url = self._said().partition(_LISTENS)[2].split()[0]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def journal(self, question: str) -> list[dict[str, Any]]:
        """The requests in which a question stood, oldest first, as the server noted them: `body`, `headers`, …"""
        entries = json.loads(self._ask("GET", "/__aimock/journal"))
        return [entry for entry in entries if question in json.dumps(entry["body"])]

    def be_chaotic(self, **rates: float) -> None:
        """From now on misbehave towards everybody, such as `rateLimitRate=1`; nothing: be good."""
        self._ask("POST" if rates else "DELETE", "/__aimock/chaos", rates)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        data = json.dumps(body).encode() if body else None
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            content: bytes = response.read()
        return content

    def _said(self) -> str:
        return self._log.read_text()
