"""How many attacks of a malicious tool get through, in ferrule and in other hosts of tools.

Usage: python bench/attacks.py [--only HOST,HOST] [--kind KIND] [--through] [--json]

Every attack of tests/dists/hostile is a tool of each host, and is called once, by a client of the host's own kind, on a
machine that has something to steal, to change and to hurt. An attack is through when somebody who stands outside sees
it: a secret in the answer, a changed file, a server that was reached, a process that was hurt, left or forged; where
nothing can be seen from outside, the kernel's own answer counts. Attacks on what only ferrule has are left out. A
server gets a process of its own for each attack, so that none spoils the next one. The first run installs the peers
into bench/.cache; what cannot be installed is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from installations.environments import interpreter_with
from mcp import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from measuring import names_among

import ferrule
from ferrule_testkit.attacks import trial
from ferrule_testkit.attacks.scene import Scene
from ferrule_testkit.attacks.ways import Answered, Executables, Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hostile_attacks.table import Attack

    from ferrule_testkit.attacks.ways import Way
    from ferrule_testkit.corpus import Site

_HERE = Path(__file__).resolve().parent
_SERVERS = str(_HERE / "peers/attack_servers.py")
_SECONDS = 40.0
# Stands in for the client, whose process is the parent of its servers.
_CLIENT = """\
trap '' TERM
for last; do :; done
count=$#
for one; do count=$((count - 1)); shift; [ $count -gt 0 ] && set -- "$@" "$one"; done
"$0" "$@"
: > "$last"
"""


class McpServer:
    """A server over stdio, started anew for each call."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], work: Path) -> None:
        self._ended = work.parent / "client-has-ended"
        arguments = ["-c", _CLIENT, *command, str(self._ended)]
        self._server = StdioServerParameters(command="/bin/sh", args=arguments, env=dict(environment), cwd=str(work))

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Call a tool. A server that is gone then has died of it, and so has a client that does not end by itself."""
        self._ended.unlink(missing_ok=True)
        try:
            answered = asyncio.run(self._call(tool, dict(arguments)))
            return answered._replace(died=not self._ended.exists())
        except Exception as error:  # noqa: BLE001 - whatever a client raises when its server is gone, or hangs
            return Answered(repr(error), {}, died=True)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Answered:
        with Path(os.devnull).open("w") as nothing:
            server = stdio_client(self._server, errlog=nothing)
            async with (
                asyncio.timeout(_SECONDS),
                Client(server, mode="auto", cache=None, read_timeout_seconds=_SECONDS) as client,
            ):
                result = await client.call_tool(tool, arguments)
        text = " ".join(str(getattr(item, "text", "")) for item in result.content)
        return Answered(text, {"success": not result.is_error, "error": text}, died=False)

    def close(self) -> None:
        """Nothing is left of it."""


class LlmCommand:
    """`llm` with functions, and the model llm-echo, which calls the tools that its prompt names."""

    def __init__(self, python: str, functions: Path, environment: Mapping[str, str], work: Path) -> None:
        self._ended = work.parent / "client-has-ended"
        llm = str(Path(python).parent / "llm")
        self._command = ["/bin/sh", "-c", _CLIENT, llm, "-m", "echo", "--functions", str(functions)]
        self._environment, self._work = environment, work

    def call(self, tool: str, arguments: Mapping[str, object]) -> Answered:
        """Have the model ask for one call."""
        prompt = json.dumps({"tool_calls": [{"name": tool, "arguments": arguments}], "prompt": "go on"})
        self._ended.unlink(missing_ok=True)
        try:
            done = subprocess.run(
                [*self._command, prompt, str(self._ended)],
                env=dict(self._environment),
                cwd=self._work,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answered("", {}, died=True)
        text = (done.stdout + done.stderr).decode(errors="replace")
        results = text.rpartition('"tool_results"')[2]
        has_failed = "Error:" in results or done.returncode != 0
        return Answered(text, {"success": not has_failed, "error": results}, died=not self._ended.exists())

    def close(self) -> None:
        """Nothing is left of it."""


def main() -> None:
    """Try all, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=names_among(HOSTS), default="", help="names of hosts, with commas between")
    parser.add_argument("--kind", help="only the attacks of one kind")
    parser.add_argument("--through", action="store_true", help="show every attack that gets through, as it does")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = [one for one in trial.attacks() if not one.host and options.kind in (None, one.kind)]
    kinds = list(dict.fromkeys(one.kind for one in chosen))
    if not options.json:
        heads = [f"all {len(chosen)}", *(f"{kind} {sum(one.kind == kind for one in chosen)}" for kind in kinds)]
        print(f"{'':18}" + "".join(f"{head:>14}" for head in heads), flush=True)
    for name in options.only:
        verdicts = []
        for verdict in tried(name, chosen):
            verdicts.append(verdict)
            if options.through and verdict.is_through:
                print(f"    {verdict.name}: {', '.join(verdict.damage)}", flush=True)
        counts = {kind: sum(one.is_through for one in verdicts if one.kind == kind) for kind in kinds}
        row = {"through": sum(counts.values()), **counts}
        if options.json:
            print(json.dumps({"host": name, **row}), flush=True)
        else:
            print(f"{name:18}" + "".join(f"{value:>14}" for value in row.values()), flush=True)


def tried(name: str, chosen: Iterable[Attack]) -> Iterator[trial.Verdict]:
    """What came of every attack in one host."""
    with tempfile.TemporaryDirectory(prefix="f") as folder:
        root = Path(folder).resolve()
        attacks = list(chosen)
        site = trial.install(root / "installed", attacks)
        grants = {attack.name: attack.grants for attack in attacks if attack.grants}
        code = Path(ferrule.__file__).parent
        scene = Scene(root, site=site.path, host_code=code, links=site.links, grants=grants)
        try:
            os.chdir(scene.work)  # where a core file of this process would go, and is seen
            way = HOSTS[name](site, scene, [one.name for one in attacks])
            try:
                yield from trial.put_through(way, scene, attacks)
            finally:
                way.close()
        finally:
            os.chdir(_HERE)
            scene.close()


def _executable(site: Site, scene: Scene, tools: list[str]) -> Way:
    environment = {**scene.environment(), "PYTHONPATH": str(site.path)}
    site.link([*tools, "vault"], environment)
    scene.renew()
    return Executables(site.links, environment, scene.work)


def _serve(site: Site, scene: Scene, _: list[str]) -> Way:
    return Served({**scene.environment(), "PYTHONPATH": str(site.path)})


def _fastmcp(site: Site, scene: Scene, _: list[str]) -> Way:
    python = interpreter_with(_HERE / "peers/attacks_fastmcp.txt")
    return McpServer([python, _SERVERS, "fastmcp", str(site.path)], scene.environment(), scene.work)


def _uvx(site: Site, scene: Scene, _: list[str]) -> Way:
    """A server of its own for the tools, with what the official client gives a server of its environment."""
    uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
    command = [uv, "tool", "run", "--quiet", "--with", "mcp==2.3.0", "python"]
    kept = {name: value for name, value in scene.environment().items() if name in get_default_environment()}
    cache = {name: os.environ[name] for name in os.environ if name.startswith(("UV_", "PIP_", "SSL_"))}
    # uv's own folders are no damage of an attack, and so they are not in the scene's home.
    folders = {"UV_CACHE_DIR": str(_HERE / ".cache/uv"), "XDG_DATA_HOME": str(_HERE / ".cache/uv-data")}
    environment = {**kept, **cache, **folders}
    subprocess.run([*command, "-c", "pass"], env=environment, check=True)
    command.insert(3, "--offline")
    return McpServer([*command, _SERVERS, "sdk", str(site.path)], environment, scene.work)


def _sandlock(site: Site, scene: Scene, _: list[str]) -> Way:
    python = interpreter_with(_HERE / "peers/attacks_sandlock.txt")
    return McpServer([python, _SERVERS, "sandlock", str(site.path)], scene.environment(), scene.work)


def _llm(site: Site, scene: Scene, _: list[str]) -> Way:
    python = interpreter_with(_HERE / "peers/attacks_llm.txt")
    functions = site.path.parent / "functions.py"
    functions.write_bytes(subprocess.check_output([python, _SERVERS, "functions", str(site.path)]))
    environment = {**scene.environment(), "LLM_USER_PATH": str(site.path.parent)}
    return LlmCommand(python, functions, environment, scene.work)


HOSTS: dict[str, Callable[[Site, Scene, list[str]], Way]] = {
    "ferrule": _executable,
    "ferrule serve": _serve,
    "FastMCP": _fastmcp,
    "llm": _llm,
    "MCP by uvx": _uvx,
    "sandlock": _sandlock,
}


if __name__ == "__main__":
    main()
