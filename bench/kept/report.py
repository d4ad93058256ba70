"""The figures of warm calls, in one run: cold beside warm, and beside what others take."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installations.installation import ROOT, Installation
from measuring import Command, compare, run

from ferrule_dev.testing import Server
from ferrule_testkit.search.server import BRAVE_KEY, BRAVE_PATH, Brave, Rate, some_hits
from kept.client_tools import compile_client_tools
from kept.machine import KeptMachine, measure_walls
from kept.servers import measure_answers
from kept.tools import add_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kept.machine import Figures

PAGE = "<title>Almanac</title><h1>Almanac</h1>" + "<p>Oslo lies at the <a href='/fjord'>fjord</a>.</p>" * 50
_NODE_SERVER = Path(__file__).with_name("server.mjs")
_PLUGINS = ("launcher", "fetch", "brave", "mcp")
_CITY, _TEXT = b'{"city": "Oslo"}', {"text": "Oslo"}
_OWN_CALLS = 400
_DISCOVERED = 50
_LIBRARY_MIB = 16384  # of address space: torch with its CUDA libraries reserves more than a tool may have otherwise


class Call(NamedTuple):
    """A call that is measured, with what is in its answer. aim, aim_ms: what it is meant to stay under, warm."""

    name: str
    tool: str
    stdin: bytes
    answer: bytes
    aim: float
    aim_ms: float | None = None
    above: float = 0.0  # bare starts that are not counted: the server's own


class Peer(NamedTuple):
    """A program that is started for each call. aim: in bare starts."""

    name: str
    command: Command
    aim: float | None = None


class Choice(NamedTuple):
    """What is measured. libraries: for a tool that imports each. client: the sources of the client, in C.

    only: words of which one is in the name of each row.
    """

    libraries: Sequence[str]
    client: Path
    only: Sequence[str]

    def has(self, name: str) -> bool:
        """Whether a row of this name is measured."""
        return not self.only or any(word in name for word in self.only)


def report_kept(folder: Path, choice: Choice, rounds: int, *, as_json: bool) -> None:
    """Install, measure, print."""
    installation = Installation(folder / "environment")
    installation.install(f"{ROOT / 'host'}[http]", *(str(ROOT / "plugins" / one) for one in _PLUGINS))
    with Server() as server:
        page = server.page("/page", PAGE)
        server.route(BRAVE_PATH, Brave(some_hits(20), rate=Rate(100_000)))
        environ = {
            "FERRULE_FETCH_ALLOW": "loopback",
            "FERRULE_BRAVE_ENDPOINT": server.url + BRAVE_PATH,
            "BRAVE_API_KEY": BRAVE_KEY,
            "NO_PROXY": "*",
        }
        with KeptMachine(installation, folder, environ) as machine:
            calls = [one for one in _calls(installation, machine, page, choice) if choice.has(one.name)]
            found = [one for one in calls if machine.link(one.tool)]
            machine.ferrule("keep", "start")
            _print_head(as_json=as_json)
            for call in found:
                _print_call(call, machine.measure(call.tool, call.stdin, call.answer, rounds), as_json=as_json)
            for peer in (*_plain(installation, machine, folder), *_peers(choice.client, folder, page)):
                if choice.has(peer.name):
                    _print_peer(peer, installation, rounds, as_json=as_json)


def _calls(installation: Installation, machine: KeptMachine, page: str, choice: Choice) -> Iterator[Call]:
    weather = b'"weather":"none in Oslo"'
    again = add_tool(installation, "bench_again", is_reusable=True)
    yield Call("a trivial tool, used again", again, _CITY, weather, 0.35, 3.0)
    once = add_tool(installation, "bench_once", is_reusable=False)
    yield Call("a trivial tool, single use", once, _CITY, weather, 0.9)
    for library in choice.libraries:
        if not _has(installation, library):
            print(f"{library} cannot be had here", file=sys.stderr)
            continue
        for is_reusable, word, aim in ((True, "used again", 0.35), (False, "single use", 0.9)):
            tool = add_tool(installation, f"bench_{library}_{word[:4]}", is_reusable=is_reusable, library=library)
            machine.allow_memory(tool, _LIBRARY_MIB)
            yield Call(
                f"a tool that imports {library}, {word}", tool, _CITY, weather, aim, 3.0 if is_reusable else None
            )
    yield Call("web_fetch of a small page", "web_fetch", json.dumps({"url": page}).encode(), b"fjord", 1.2)
    yield Call("a search", "web_search_brave", b'{"query": "what a search costs"}', b'"success":true', 1.0)
    node = shutil.which("node")
    if node:
        machine.ferrule("mcp", "add", "bench", "--keep", "--", node, str(_NODE_SERVER))
        own = measure_answers([node, str(_NODE_SERVER)], "say", _TEXT, _OWN_CALLS) / _measure_bare(installation)
        stdin = json.dumps(_TEXT).encode()
        yield Call("a Node server's tool, above its own answer", "bench_say", stdin, b"said Oslo", 0.5, above=own)


def _has(installation: Installation, library: str) -> bool:
    command = [str(installation.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", library]
    return subprocess.run(command, stdout=sys.stderr, check=False).returncode == 0


def _measure_bare(installation: Installation) -> float:
    command = Command([installation.python, "-I", "-c", "pass"])
    return sorted(run(command).cpu for _ in range(11))[5]


def _plain(installation: Installation, machine: KeptMachine, folder: Path) -> Iterator[Peer]:
    """What needs no keeper."""
    environ = machine.environ
    schema: list[str | Path] = [machine.links / "bench-again-tool", "--schema"]
    yield Peer("--schema, by the launcher", Command(schema, b"", environ, is_alone=True), 0.06)
    names = installation.add_tools(_DISCOVERED)
    many = folder / "many"
    machine.ferrule("link", *names, "--to", str(many))
    program = ROOT / "tests/testkit/src/ferrule_testkit/ikigai.py"
    client: list[str | Path] = [installation.python, "-I", program, "list", "--folder", many]
    yield Peer(f"the client's discovery of {_DISCOVERED} tools", Command(client, b"", environ, is_alone=True), 4.0)


def _peers(client: Path, folder: Path, page: str) -> Iterator[Peer]:
    """The client's own tools, and a program in C that does nothing."""
    yield Peer("/bin/true", Command(["/bin/true"]))
    tools = compile_client_tools(client, folder)
    if path := tools.get("file_read"):
        small = folder / "small.txt"
        small.write_text("Oslo\n")
        yield Peer("the client's file-read-tool, --schema", Command([path, "--schema"]))
        yield Peer("the client's file-read-tool", Command([path], json.dumps({"file_path": str(small)}).encode()))
    if path := tools.get("web_fetch"):
        yield Peer("the client's web-fetch-tool, --schema", Command([path, "--schema"]))
        yield Peer("the client's web-fetch-tool, same page", Command([path], json.dumps({"url": page}).encode()))


def _print_head(*, as_json: bool) -> None:
    if not as_json:
        print(f"{'':46} {'starts':>15} {'warm, ms':>13} {'after 50 ms':>13} {'cold, ms':>13} {'aim':>12}")
        print(f"{'call':46} {'warm':>7} {'cold':>7}" + f" {'p50':>6} {'p99':>6}" * 3)


def _print_call(call: Call, found: Figures, *, as_json: bool) -> None:
    warm = found.warm - call.above
    if as_json:
        figures = {**found._asdict(), "warm": warm, "own": call.above}
        print(json.dumps({"call": call.name, **figures, "aim": call.aim, "aim_ms": call.aim_ms}), flush=True)
        return
    aim = f"≤ {call.aim:.2f}" + ("" if call.aim_ms is None else f", {call.aim_ms:.0f} ms")
    alone = f"{found.alone_p50:6.2f} {found.alone_p99:6.2f}"
    walls = f"{found.p50:6.2f} {found.p99:6.2f} {alone} {found.cold_p50:6.1f} {found.cold_p99:6.1f}"
    partly = "" if found.by_keeper == 1 else f"  the keeper made {found.by_keeper:.0%} of the warm calls"
    print(f"{call.name:46} {warm:7.3f} {found.cold:7.2f} {walls} {aim:>12}{partly}", flush=True)


def _print_peer(peer: Peer, installation: Installation, rounds: int, *, as_json: bool) -> None:
    ratio = compare(peer.command, Command([installation.python, "-I", "-c", "pass"]), runs=rounds)
    walls = measure_walls(peer.command)
    if as_json:
        names = ("p50", "p99", "alone_p50", "alone_p99")
        figures = {"cold": ratio.cpu, "wall": ratio.wall, **dict(zip(names, walls, strict=True))}
        print(json.dumps({"call": peer.name, **figures, "aim": peer.aim}), flush=True)
        return
    aim = "" if peer.aim is None else f"≤ {peer.aim:.2f}"
    milliseconds = " ".join(f"{one:6.2f}" for one in walls)
    print(f"{peer.name:46} {'':>7} {ratio.cpu:7.3f} {milliseconds} {'':13} {aim:>12}", flush=True)
