"""What a call of an MCP server's tool costs: by its executable, and by what else makes commands of servers, in one run.

Usage: python bench/server_calls.py [--runs N] [--tools N] [--json]

Everything is processor time, user and system, of a process and all that it has waited for, since times of the clock
say little on a machine that does something else. All contenders are run in turn, and the least of all runs counts. B is
what `python -I -c pass` takes. "above" is what a contender takes beyond a client of 40 lines, which starts the same
server, asks it the same and does nothing else. It can be below 0, where a server is ended before it has ended itself.

The servers are installed by `ferrule mcp add` into a home of the bench, which needs a package index. mcporter, mcp2cli
and fastmcp are taken from PATH; one that is missing is left out. The second table is one call of a server that is kept,
beside what the client takes with a server that runs already: of the caller with all that the keeper and its processes
take for the call, and of the server alone. The third table is what tools of sources cost those
that do not call them: with none, and with --tools of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from measuring import Command, run, seconds_below

from ferrule.installed import SourceTools

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_BIN = Path(sys.executable).parent
_RAW = Path(__file__).parent / "peers" / "raw_mcp_client.py"
_BARE = Command([sys.executable, "-I", "-c", "pass"])
_LINKED = 50
_TOOLS_OF_ONE_SOURCE = 20
_WARM_CALLS = 5
_KEPT_ROWS = {
    "caller": "the executable",
    "keeper": "the keeper's processes",
    "server": "the server",
    "raw": "a client and a server",
}


class Server(NamedTuple):
    """A server that is measured, with one call of it."""

    name: str
    words: str
    tool: str
    arguments: str
    answer: str  # what every contender's answer holds


_SERVERS = (
    Server("memory", "npx -y @modelcontextprotocol/server-memory@2026.8.31", "read_graph", "{}", "entities"),
    Server("time", "uvx mcp-server-time==2026.10.19", "get_current_time", '{"timezone": "Europe/Oslo"}', "Europe/Oslo"),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--tools", type=int, default=500)
    parser.add_argument("--kept", type=int, default=100, metavar="N", help="calls of a server that is kept")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        calls = _measure_calls(home, options.runs)
        kept = {server.name: _measure_kept(home, server, options.kept) for server in _SERVERS}
        figures = {"calls": calls, "kept": kept, "others": _measure_others(home, options)}
    print(json.dumps(figures, indent=2) if options.as_json else _write_table(figures))


def _measure_calls(home: Path, runs: int) -> dict[str, dict[str, float]]:
    """By server and contender, in B; `raw` is the client of 40 lines, the others are above it."""
    found = {}
    for server in _SERVERS:
        _ferrule(home, "mcp", "add", server.name, "--", *server.words.split())
        tool = f"{server.name}_{server.tool}"
        _ferrule(home, "link", tool)
        record = json.loads(_ferrule(home, "mcp", "show", server.name, "--json"))
        contenders = _list_contenders(home, server, record["command"], f"{tool.replace('_', '-')}-tool")
        costs = _measure({name: one for name, one in contenders.items() if _answers(name, one, server.answer)}, runs)
        raw = costs["raw"]
        found[server.name] = {name: cost if name == "raw" else cost - raw for name, cost in costs.items()}
    return found


def _measure_kept(home: Path, server: Server, calls: int) -> dict[str, float]:
    """What one of many calls takes in B: of a server that is kept, in parts, and of the client with one that runs."""
    environ = _own_environ(home)  # as the keeper's
    tool = f"{server.name}_{server.tool}"
    call = Command([home / ".ikigai/tools" / f"{tool.replace('_', '-')}-tool"], server.arguments.encode(), environ)
    _ferrule(home, "mcp", "keep", server.name, "on")
    keeper = json.loads(_ferrule(home, "keep", "start", "--json"))["process"]
    try:
        for _ in range(_WARM_CALLS):
            run(call)
        command = json.loads(_ferrule(home, "mcp", "show", server.name, "--json"))["command"]
        process = _find_server(keeper, command)
        begun = _seconds_with(keeper), _seconds_with(process)
        caller, bare = 0.0, 0.0
        for _ in range(calls):
            caller += run(call).cpu
            bare += run(_BARE).cpu
        both, own = _seconds_with(keeper) - begun[0], _seconds_with(process) - begun[1]
        raw = _measure_running(home, server, command, calls)
        return {
            "caller": caller / bare,
            "keeper": (both - own) / bare,
            "server": own / bare,
            "raw": raw * calls / bare,
        }
    finally:
        _ferrule(home, "keep", "stop")
        _ferrule(home, "mcp", "keep", server.name, "off")


def _measure_running(home: Path, server: Server, command: list[str], calls: int) -> float:
    """Seconds that a server takes for one of many calls of a client that leaves it running, both of them together."""
    environ = {**os.environ, "MEMORY_FILE_PATH": str(home / "memory.jsonl")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        messages: list[JSONObject] = [
            {"id": 0, "method": "initialize", "params": client},
            {"method": "notifications/initialized"},
        ]
        params = {"name": server.tool, "arguments": json.loads(server.arguments)}
        messages += [{"id": number, "method": "tools/call", "params": params} for number in range(1, calls + 6)]
        begun = 0.0
        for message in messages:
            if message.get("id") == _WARM_CALLS + 1:
                begun = _seconds_with(process.pid) + time.process_time()
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            while "id" in message and json.loads(process.stdout.readline()).get("id") != message["id"]:
                continue
        taken = _seconds_with(process.pid) + time.process_time() - begun
        process.stdin.close()
    return taken / calls


def _seconds_with(process: int) -> float:
    """Seconds of a processor that a process and those below it have taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + seconds_below(process)


def _find_server(keeper: int, command: list[str]) -> int:
    """The process of a server below a keeper. Raises LookupError."""
    waiting = [keeper]
    while waiting:
        process = waiting.pop()
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[:-1]
        if words == [os.fsencode(word) for word in command]:
            return process
        waiting += map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    raise LookupError("No server runs below the keeper.")


def _list_contenders(home: Path, server: Server, command: list[str], file: str) -> dict[str, Command]:
    environ = {"HOME": str(home), "MEMORY_FILE_PATH": str(home / "memory.jsonl")}
    words, given = " ".join(command), json.loads(server.arguments)
    pairs = [f"{name}={value}" for name, value in given.items()]
    flags = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    lines: dict[str, list[str | Path]] = {
        "raw": [sys.executable, "-I", "-S", _RAW, server.tool, server.arguments, *command],
        "ferrule": [home / ".ikigai/tools" / file],
        "mcporter": ["mcporter", "call", "--stdio", words, "--name", server.name, server.tool, *pairs],
        "mcp2cli": ["mcp2cli", "--mcp-stdio", words, server.tool.replace("_", "-"), *flags],
        "fastmcp": ["fastmcp", "call", "--command", words, "--target", server.tool, "--input-json", server.arguments],
    }
    stdin = server.arguments.encode()
    return {name: Command(line, stdin, environ) for name, line in lines.items() if shutil.which(line[0])}


def _answers(name: str, command: Command, expected: str) -> bool:
    """Whether a contender makes the call at all; one that does not is left out, with its words."""
    words = [str(part) for part in command.argv]
    done = subprocess.run(
        words, input=command.stdin, capture_output=True, env={**os.environ, **command.environ}, check=False
    )
    if expected.encode() in done.stdout:
        return True
    print(f"{name} does not answer: {(done.stdout + done.stderr)[-400:].decode(errors='replace')}", file=sys.stderr)
    return False


def _measure_others(home: Path, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """By the number of tools of sources that are added: `ferrule list`, a trivial call, the discovery of 50 tools."""
    linked = home / "linked"
    _write_tools(home, _LINKED, "linked")
    _ferrule(home, "link", "--to", str(linked), *(f"linked_{number}_tool_{number}" for number in range(_LINKED)))
    _ferrule(home, "link", "example")
    environ = {"HOME": str(home)}
    contenders = {
        "list": Command([_BIN / "ferrule", "list"], environ=environ),
        "call": Command([home / ".ikigai/tools/example-tool"], b'{"city": "Oslo"}', environ),
        "discovery": Command(
            [sys.executable, "-m", "ferrule_testkit.ikigai", "list", "--folder", linked], environ=environ
        ),
    }
    found = {"0": _measure(contenders, options.runs)}
    _write_tools(home, options.tools, "more")
    return {**found, str(options.tools): _measure(contenders, options.runs)}


def _write_tools(home: Path, count: int, word: str) -> None:
    """Install tools of a source, so many to a source, as `ferrule mcp add` writes them."""
    data = str(home / ".local/share/ferrule")
    parameters = {"type": "object", "properties": {"text": {"type": "string", "description": "A text."}}}
    for start in range(0, count, _TOOLS_OF_ONE_SOURCE):
        numbers = range(start, min(count, start + _TOOLS_OF_ONE_SOURCE))
        names = [f"{word}_{number}_tool_{number}" for number in numbers]
        schemas = {one: {"name": one, "description": f"Says {one}.", "parameters": parameters} for one in names}
        SourceTools("mcp", f"{word}_{start}", data).write("1.0", schemas, {"permissions": {"network": []}}, {})


def _measure(contenders: dict[str, Command], runs: int) -> dict[str, float]:
    """The least of all runs of each, in B."""
    least: dict[str, float] = {}
    for number in range(runs + 1):
        for name, command in {"B": _BARE, **contenders}.items():
            cost = run(command).cpu
            if number:  # the first one fills caches
                least[name] = min(least.get(name, cost), cost)
    bare = least.pop("B")
    return {name: cost / bare for name, cost in least.items()}


def _own_environ(home: Path) -> dict[str, str]:
    """The variables of all that is run here. A keeper of the bench is in a folder that no other program looks into."""
    runtime = home / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {"HOME": str(home), "PATH": f"{_BIN}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(runtime)}


def _ferrule(home: Path, *arguments: str) -> str:
    environ = {**os.environ, **_own_environ(home)}
    done = subprocess.run(
        [_BIN / "ferrule", *arguments], env=environ, cwd=home, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"ferrule {' '.join(arguments[:3])} failed: {done.stderr.strip()[-600:]}")
    return done.stdout


def _write_table(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    lines = ["one cold call, in B       " + "".join(f"{server:>10}" for server in figures["calls"])]
    for name in next(iter(figures["calls"].values())):
        label = "the server's own" if name == "raw" else f"{name}, above"
        lines.append(
            f"{label:<26}" + "".join(f"{costs.get(name, float('nan')):>10.1f}" for costs in figures["calls"].values())
        )
    lines += ["", "one kept call, in B       " + "".join(f"{server:>10}" for server in figures["kept"])]
    for name, label in _KEPT_ROWS.items():
        lines.append(f"{label:<26}" + "".join(f"{costs[name]:>10.2f}" for costs in figures["kept"].values()))
    lines += ["", "tools of sources, in B    " + "".join(f"{count:>10}" for count in figures["others"])]
    for name in ("list", "call", "discovery"):
        lines.append(f"{name:<26}" + "".join(f"{costs[name]:>10.1f}" for costs in figures["others"].values()))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
