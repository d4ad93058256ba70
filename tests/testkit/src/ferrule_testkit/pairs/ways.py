"""Calls of one tool on a machine, by each way of calling, and what the caller got each time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias

from ferrule_testkit.model.server import MODEL_KEY, ModelServer, calls, says
from ferrule_testkit.pairs.household import Household
from ferrule_testkit.pairs.mcp_messages import HttpConversation, Refused, StdioConversation
from ferrule_testkit.runs import SECONDS

CITY = "Tromsø 東京"
ARGUMENTS = {"city": CITY}
SAID = "It is windy."
QUESTION = "Is it windy?"
_DATA = json.dumps(ARGUMENTS).encode()

_EXECUTE = """
import asyncio, os, sys
from ferrule.installed import execute
ended = asyncio.run(execute(sys.argv[1], sys.argv[2].encode(), 40, os.environ))
sys.stdout.buffer.write(ended.stdout)
sys.stdout.flush()
sys.exit(3 if ended.is_late else int(ended.has_failed))
"""
_RUN = """
import json, sys, time
from ferrule.installed import run_tool
outcome = run_tool(sys.argv[1], json.loads(sys.argv[2]), deadline=time.monotonic() + 40, max_bytes=1 << 20)
result = None if outcome.result is None else json.loads(outcome.result)
told = {"result": result, "failure": outcome.failure, "events": list(outcome.events)}
sys.stdout.write(json.dumps(told) + "\\n")
"""
_SQL = """
import json, sys, duckdb, ferrule_duckdb
connection = duckdb.connect()
ferrule_duckdb.register(connection, tools=(sys.argv[1],))
(answer,) = connection.execute("SELECT ask_ai(?, ?)", ["wind", sys.argv[2]]).fetchone()
sys.stdout.write(json.dumps({name: answer[name] for name in ("text", "code", "tool_outcome", "tool_code")}) + "\\n")
"""


@dataclass
class Told:
    """What a caller got of one call. Each way fills in what it has.

    exit_code, stdout, stderr: of the program that made the call. result: of `tools/call`. notifications: what the
    server said meanwhile. refused: why it made no call. read: what the link in a result leads to. asked: what the model
    got as the tool's result.
    """

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    notifications: list[Any] = field(default_factory=list)
    refused: str = ""
    read: str | None = None
    asked: Any = None

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        assert self.stdout.endswith("\n"), self
        assert self.stdout.count("\n") == 1, self
        return json.loads(self.stdout)


Way: TypeAlias = Callable[[Household, int], list[Told]]


def call(household: Household, times: int) -> list[Told]:
    """Call the tool of a machine's row so many times, in the row's way."""
    return _WAYS[household.row.way](household, times)


def by_link(household: Household, times: int) -> list[Told]:
    """By the linked executable, as a client does it."""
    (linked,) = household.links.iterdir()
    return [_ended(household.run([str(linked)], _DATA)) for _ in range(times)]


def by_run(household: Household, times: int) -> list[Told]:
    """By `ferrule run`, with the arguments on the command line."""
    command = [*household.ferrule, "run", household.row.tool, json.dumps(ARGUMENTS)]
    return [_run(household, command) for _ in range(times)]


def by_execute(household: Household, times: int) -> list[Told]:
    """By `ferrule.installed.execute`."""
    command = household.python(_EXECUTE, household.row.tool, json.dumps(ARGUMENTS))
    return [_run(household, command) for _ in range(times)]


def by_run_tool(household: Household, times: int) -> list[Told]:
    """By `ferrule.installed.run_tool`, from a program."""
    command = household.python(_RUN, household.row.tool, json.dumps(ARGUMENTS))
    return [_run(household, command) for _ in range(times)]


def by_ask(household: Household, times: int) -> list[Told]:
    """By `ferrule ask`, of a model that calls the tool."""
    command = [*household.ferrule, "ask", "--json", QUESTION]
    return [_ask(household, command, {"FERRULE_ASK_TOOLS": household.row.tool}) for _ in range(times)]


def by_sql(household: Household, times: int) -> list[Told]:
    """By a query, of a model that calls the tool."""
    command = household.python(_SQL, household.row.tool, QUESTION)
    return [_ask(household, command, {}) for _ in range(times)]


def by_stdio(household: Household, times: int) -> list[Told]:
    """By `ferrule serve`, over stdio, in the era of the handshake."""
    process = household.start([*household.ferrule, "serve", household.row.tool], stdin=subprocess.PIPE)
    with _served(process):
        told = _converse(StdioConversation(process), household, times)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SECONDS)
    return _finish(told, process)


def by_http(household: Household, times: int) -> list[Told]:
    """By `ferrule serve`, over HTTP, in the newer era."""
    with _stdin(household) as (stdin, prefix):
        command = [*prefix, *household.ferrule, "serve", household.row.tool, "--http", "127.0.0.1:0"]
        process = household.start(command, stdin=stdin)
        with _served(process):
            assert process.stdout is not None
            url = process.stdout.readline().decode().strip()
            never = [Told(refused="The server did not start.")]
            told = _converse(HttpConversation(url), household, times) if url else never
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)
    return _finish(told, process)


_WAYS: dict[str, Way] = {
    "link": by_link,
    "run": by_run,
    "stdio": by_stdio,
    "http": by_http,
    "ask": by_ask,
    "sql": by_sql,
    "execute": by_execute,
    "run_tool": by_run_tool,
}


def _converse(server: StdioConversation | HttpConversation, household: Household, times: int) -> list[Told]:
    try:
        server.begin()
        return [_called(server, household.row.tool) for _ in range(times)]
    except Refused as refusal:
        return [Told(refused=f"{refusal}")]


def _called(server: StdioConversation | HttpConversation, tool: str) -> Told:
    result, notifications = server.ask("tools/call", {"name": tool, "arguments": ARGUMENTS})
    told = Told(result=result, notifications=notifications)
    for block in result.get("content", []):
        if block["type"] == "resource_link":
            read, _ = server.ask("resources/read", {"uri": block["uri"]})
            (content,) = read["contents"]
            told.read = content["text"]
    return told


def _finish(told: list[Told], process: subprocess.Popen[bytes]) -> list[Told]:
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        out, err = process.stdout.read().decode(), process.stderr.read().decode(errors="replace")
    for one in told:
        one.exit_code, one.stdout, one.stderr = process.returncode, out, err
    return told


@contextmanager
def _served(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the server with all that it has started, whatever happens."""
    try:
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _ask(household: Household, command: list[str], environment: Mapping[str, str]) -> Told:
    with ModelServer(calls(household.row.tool, ARGUMENTS), says(SAID)) as model:
        keys = {"ANTHROPIC_API_KEY": MODEL_KEY, "ANTHROPIC_BASE_URL": model.url, "FERRULE_ASK_BUDGETS": "60 40 60"}
        told = _run(household, command, {**keys, **environment})
    assert not model.refused, (model.refused, told)
    for body in model.bodies[1:]:  # with what came of the tool
        (told.asked,) = body["messages"][-1]["content"]
    return told


def _run(household: Household, command: list[str], environment: Mapping[str, str] | None = None) -> Told:
    """A program that needs nothing of stdin; a pipe stays open until it has ended."""
    with _stdin(household) as (stdin, prefix):
        process = household.start([*prefix, *command], stdin=stdin, environment=environment)
        out, err = _communicate(process)
    return _ended(subprocess.CompletedProcess(command, process.returncode, out, err))


def _communicate(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


@contextmanager
def _stdin(household: Household) -> Iterator[tuple[IO[bytes] | int, list[str]]]:
    """What a program gets as stdin, and what stands before its command."""
    reader, writer = os.pipe()
    with open(reader, "rb") as theirs, open(writer, "wb") as ours:
        match household.row.stdin:
            case "null":
                yield subprocess.DEVNULL, []
            case "closed":
                yield subprocess.DEVNULL, ["/bin/sh", "-c", 'exec "$@" <&-', "sh"]
            case _:
                if household.row.way == "ask":  # it reads from a pipe what the question is about, to its end
                    ours.close()
                yield theirs, []


def _ended(process: subprocess.CompletedProcess[bytes]) -> Told:
    return Told(process.returncode, process.stdout.decode(), process.stderr.decode(errors="replace"))
