"""Programs that judge a block as what reads it does: `python -m ferrule_testkit.pages.judges NAME ARGUMENT…`.

They are called in the shell of the reader, and so use the `ferrule` that is installed there. The exit code is 1, with
the reason on stderr, where the block is not what the page says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrule_testkit.serve.service import LEGACY, META, MODERN, SECONDS, connected

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COMPLAINTS = ("configuration-", "lock-", "wrapper-")  # how ids of doctor's findings on config.toml begin
_TOKEN = re.compile(r"\$\{[^}]+\}|<token>")


def judge_config() -> None:
    """What reads config.toml has nothing to say of it."""
    listed = _run("list", "--json")
    assert not listed.stderr, listed.stderr
    found = json.loads(_run("doctor", "--json").stdout)["findings"]
    wrong = [one for one in found if one["id"].startswith(_COMPLAINTS) and one["severity"] != "note"]
    assert not wrong, wrong


def judge_part(block: str, path: str) -> None:
    """All that the block says stands in the file."""
    wanted, there = (_read(Path(one).read_text()) for one in (block, path))
    missing = list(_missing(wanted, there, ""))
    assert not missing, f"{path} has not: {missing}"


def _missing(wanted: Any, there: Any, place: str) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(there, dict):
        for key, value in wanted.items():
            yield from _missing(value, there.get(key), f"{place}.{key}")
    elif wanted != there:
        yield f"{place} = {wanted!r}"


def _read(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else tomllib.loads(text)


def judge_client(block: str) -> None:
    """Each server that the block names can be started or asked, and has tools; one of an earlier block was judged."""
    found = list(_servers(_read(Path(block).read_text())))
    assert found, "it names no server"
    for server in found:
        started = [server.get("command"), server.get("args"), server.get("env") or {}]
        judged = Path(block).with_name(hashlib.sha256(json.dumps(started).encode()).hexdigest())
        if "command" not in server:
            _list_asked(server)
        elif not judged.exists():
            asyncio.run(_list_started(server))
            judged.touch()


def _servers(document: Any) -> Iterator[dict[str, Any]]:
    """Each server, wherever it stands."""
    if isinstance(document, dict):
        if "command" in document or "url" in document:
            yield document
        for value in document.values():
            yield from _servers(value)


async def _list_started(server: Mapping[str, Any]) -> None:
    from mcp.client.stdio import StdioServerParameters

    started = StdioServerParameters(
        command=server["command"], args=server.get("args", []), env={**os.environ, **server.get("env", {})}
    )
    async with connected(started, LEGACY) as one:
        assert (await one.list_tools()).tools


def _list_asked(server: Mapping[str, Any]) -> None:
    """Serve where the block has the client ask, and ask with its headers."""
    token = os.environ["FERRULE_SERVE_TOKEN"]
    variable = server.get("bearer_token_env_var")
    headers = {"Authorization": f"Bearer {os.environ[variable]}"} if variable else server["headers"]
    address = server["url"].partition("//")[2].partition("/")[0]
    process = subprocess.Popen(["ferrule", "serve", "--http", address], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip()
        asked = {name: _TOKEN.sub(token, value) for name, value in headers.items()}
        assert _post(server["url"], {}) == 401
        assert _post(server["url"], asked) == 200
    finally:
        process.terminate()
        process.communicate()


def _post(url: str, headers: Mapping[str, str]) -> int:
    """The status of a request for the tools."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    usual = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/list",
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), {**usual, **headers})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ferrule", *arguments], capture_output=True, text=True, check=False)


JUDGES = {"config": judge_config, "part": judge_part, "client": judge_client}

if __name__ == "__main__":
    JUDGES[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator] # a parameter's values are objects to type checkers
