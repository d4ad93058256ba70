"""A few attacks of each kind, side by side in sandboxes that run a tool without a container engine.

Usage: python bench/sandboxes.py [--only NAME,NAME] [--attacks NAME,NAME]

The rows are attacks of tests/dists/hostile, the columns are sandboxes. Each attack is a tool that is called once, on a
machine that has something to steal, to change and to hurt, and is judged from outside, as `attacks.py` does it. In
srt, the tools are an MCP server that `srt` starts, which gets what the official client gives a server of its
environment: with no settings file, and with one that hides the home and allows nothing else. The first run installs
the peers into bench/.cache. srt needs bubblewrap, socat and ripgrep of the system; without them its columns are empty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import attacks
from mcp.client.stdio import get_default_environment
from measuring import names_among

from ferrule_testkit.attacks import trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostile_attacks.table import Attack

    from ferrule_testkit.attacks.scene import Scene
    from ferrule_testkit.attacks.ways import Way
    from ferrule_testkit.corpus import Site

_HERE = Path(__file__).resolve().parent
_SRT = "@anthropic-ai/sandbox-runtime@0.0.78"
_SRT_NEEDS = ("npm", "bwrap", "socat", "rg")
_HOME_HIDDEN = {
    "network": {"allowedDomains": [], "deniedDomains": []},
    "filesystem": {"denyRead": ["~"], "allowWrite": [], "denyWrite": []},
}
ATTACKS = (
    "key_in_parents_environment",
    "credentials_file",
    "ssh_key",
    "file_of_somebody_else",
    "size_of_a_secret",
    "connections_of_the_machine",
    "command_lines_of_others",
    "line_in_bashrc",
    "mode_changed",
    "tcp_to_loopback",
    "tcp_by_fast_open",
    "unix_socket_by_path",
    "signal_to_a_neighbour",
    "priority_of_a_neighbour",
    "daemon",
    "shell",
    "user_namespace",
    "segment_of_a_neighbour",
    "answer_by_the_parents_descriptors",
)


def main() -> None:
    """Try all, print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sandboxes, known = names_among(SANDBOXES), names_among([one.name for one in trial.attacks()])
    parser.add_argument("--only", type=sandboxes, default="", help="names of sandboxes, with commas between")
    parser.add_argument(
        "--attacks", type=known, default=",".join(ATTACKS), help="names of attacks, with commas between"
    )
    options = parser.parse_args()
    attacks.HOSTS.update(SANDBOXES)
    chosen = trial.attacks(options.attacks)
    columns = {name: column(name, chosen) for name in options.only}
    user = "root" if os.geteuid() == 0 else "an ordinary user"
    print(f"{datetime.now(UTC):%d %B %Y}, Linux {platform.release()}, as {user}. Got through:\n")
    print(f"| | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for attack in chosen:
        print(f"| `{attack.name}` | {' | '.join(seen[attack.name] for seen in columns.values())} |")
    print(f"| of {len(chosen)} | {' | '.join(_count(seen) for seen in columns.values())} |")


def column(name: str, chosen: list[Attack]) -> dict[str, str]:
    """What came of each attack in one sandbox: `yes` where it got through, else nothing; `?` where it did not run."""
    if name.startswith("srt") and not all(map(shutil.which, _SRT_NEEDS)):
        print(f"{name} is left out: it needs {', '.join(_SRT_NEEDS)}", file=sys.stderr)
        return {attack.name: "?" for attack in chosen}
    seen = {}
    for verdict in attacks.tried(name, chosen):
        was_called = verdict.told != trial.DIED
        seen[verdict.name] = "yes" if verdict.is_through else " " if was_called else "?"
        print(f"{name}: {verdict.name}: {verdict.told}, {verdict.damage}, {verdict.text[:160]!r}", file=sys.stderr)
    return seen


def _count(seen: dict[str, str]) -> str:
    return "?" if "?" in seen.values() else str(sum(said == "yes" for said in seen.values()))


def _alone(site: Site, scene: Scene, _: list[str]) -> Way:
    """The server that runs in srt, without it."""
    return attacks.McpServer(_server(site), _environment(scene), scene.work)


def _srt_as_it_comes(site: Site, scene: Scene, _: list[str]) -> Way:
    return attacks.McpServer([_srt(), *_server(site)], _environment(scene), scene.work)


def _srt_without_home(site: Site, scene: Scene, _: list[str]) -> Way:
    settings = site.path.parent / "settings.json"
    settings.write_text(json.dumps(_HOME_HIDDEN))
    return attacks.McpServer([_srt(), "--settings", str(settings), *_server(site)], _environment(scene), scene.work)


def _server(site: Site) -> list[str]:
    """Its module of functions is written before, since srt lets nobody write there."""
    script = str(_HERE / "peers/attack_servers.py")
    source = subprocess.check_output([sys.executable, script, "functions", site.path], text=True)
    (site.path / "attack_functions.py").write_text(source.removesuffix("\n"))
    return [sys.executable, script, "sdk", str(site.path)]


def _environment(scene: Scene) -> dict[str, str]:
    return {name: value for name, value in scene.environment().items() if name in get_default_environment()}


def _srt() -> str:
    folder = _HERE / ".cache" / "srt"
    if not (folder / "node_modules").exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", folder, _SRT], check=True, stdout=sys.stderr)
    return str(folder / "node_modules/.bin/srt")


SANDBOXES: dict[str, Callable[[Site, Scene, list[str]], Way]] = {
    "no sandbox": _alone,
    "ferrule": attacks.HOSTS["ferrule"],
    "sandlock": attacks.HOSTS["sandlock"],
    "srt": _srt_as_it_comes,
    "srt without home": _srt_without_home,
}


if __name__ == "__main__":
    main()
