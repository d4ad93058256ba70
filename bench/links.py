"""What links cost by a shell and by a launcher, in starts of a bare interpreter (`python -I -c pass` = 1.0).

Usage: python bench/links.py [--runs N]
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from installations.installation import ROOT, Installation
from measuring import Command, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GOOD = b'{"city": "Oslo"}'
FORMS = ("shell", "launcher")
CLIENT = ROOT / "tests/testkit/src/ferrule_testkit/ikigai.py"
AIMS = {"--schema": 0.06, "discovery of 50": 4.0}


def main() -> None:
    """Install, link in both forms, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        installation = Installation(Path(folder, "environment"))
        installation.install(str(ROOT / "host"), str(ROOT / "plugins" / "example"))
        names = [*installation.add_tools(50), "example"]
        installation.install(str(ROOT / "plugins" / "launcher"))
        link_without_launcher(installation, Path(folder, "shell"), names)
        link(installation, Path(folder, "launcher"), names)
        report(installation, Path(folder), options.runs)


def report(installation: Installation, folder: Path, runs: int) -> None:
    """Print a line for each path, with both forms."""
    baseline = Command([installation.python, "-I", "-c", "pass"])
    print(f"{'path':40} {'shell':>8} {'launcher':>8} {'aim':>6}")
    for name, commands in paths(installation, folder):
        shell, launcher = (compare(command, baseline, runs=runs) for command in commands)
        aim = f"{AIMS[name]:.2f}" if name in AIMS else ""
        print(f"{name:40} {shell.cpu:8.3f} {launcher.cpu:8.3f} {aim:>6}", flush=True)
        print(f"{'  on the wall':40} {shell.wall:8.3f} {launcher.wall:8.3f}", flush=True)
    true, form = Command(["/bin/true"]), Command([installation.scripts / "ferrule-launcher", "--form"])
    for name, command in (("/bin/true, for comparison", true), ("ferrule-launcher --form", form)):
        print(f"{name:40} {compare(command, baseline, runs=runs).cpu:8.3f}", flush=True)


def paths(installation: Installation, folder: Path) -> Iterator[tuple[str, list[Command]]]:
    """What is measured, by a shell and by the launcher."""
    links = [folder / form for form in FORMS]
    yield "--schema", [Command([one / "example-tool", "--schema"]) for one in links]
    yield "a cold call", [Command([one / "example-tool"], GOOD) for one in links]
    listing = [installation.python, "-I", CLIENT, "list", "--folder"]
    yield "discovery of 50", [Command([*listing, one]) for one in links]


def link(installation: Installation, folder: Path, names: Sequence[str]) -> None:
    """Link the tools as they are linked now."""
    command = [str(installation.scripts / "ferrule"), "link", *names, "--to", str(folder)]
    subprocess.run(command, check=True, capture_output=True)


def link_without_launcher(installation: Installation, folder: Path, names: Sequence[str]) -> None:
    """Link them as shell files."""
    program = installation.scripts / "ferrule-launcher"
    hidden = program.rename(program.with_name("hidden"))
    link(installation, folder, names)
    hidden.rename(program)


if __name__ == "__main__":
    main()
