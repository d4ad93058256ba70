"""What it costs to start a tool, in starts of a bare interpreter (`python -I -c pass` in the same environment = 1.0).

Usage: python bench/startup.py [--runs N] [--json]
       python bench/startup.py --kept [--runs N] [--import MODULE ...] [--client FOLDER] [--only TEXT ...]
               [--json]

The launcher is compiled by the compiler that is here, or by zig, as a release has it, where FERRULE_LAUNCHER_TARGET is
x86_64-linux-musl.

With --kept it measures calls that a keeper makes, and the same calls cold. A warm call counts all that it takes: of
its own process, of the keeper, and of the processes that this has started. --import: libraries that a tool imports
(pandas, if none is named; "" for none). --client: the sources of the client, of which the tools in C are compiled and
measured, too. --only: rows whose name has this text in it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installations.environments import CACHE
from installations.function_tools import FUNCTION, HOOKS, TYPED_FUNCTION, add_all
from installations.installation import ROOT, Installation
from kept.report import Choice, report_kept
from measuring import Command, compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OLD_WRAPPER = """\
#!{python}
# -*- coding: utf-8 -*-
import re
import sys
from ferrule.dispatch import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit(main())
"""
NEW_WRAPPER = """\
#!{python}
import sys
from ferrule.dispatch import main
if __name__ == '__main__':
    sys.argv[0] = sys.argv[0].removesuffix('.exe')
    sys.exit(main())
"""
GOOD, BAD = b'{"city": "Oslo"}', b'{"town": "Oslo"}'


class Row(NamedTuple):
    """One measured path, and the ratio that it is meant to stay under (None if there is no such aim)."""

    name: str
    command: Command
    goal: float | None


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--import", action="append", dest="libraries", metavar="MODULE")
    parser.add_argument("--client", type=Path, default=CACHE / "client", metavar="FOLDER")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.kept:
            libraries = [one for one in options.libraries or ["pandas"] if one]
            choice = Choice(libraries, options.client, options.only)
            report_kept(Path(folder), choice, options.runs, as_json=options.json)
            return
        installation = Installation(Path(folder, "environment"))
        installation.install(*(str(ROOT / one) for one in ("host", "plugins/example", "plugins/launcher")))
        report(installation, Path(folder), options.runs, as_json=options.json)


def report(installation: Installation, folder: Path, runs: int, *, as_json: bool) -> None:
    """Measure every row against the bare interpreter and print it as soon as it is known."""
    baseline = Command([installation.python, "-I", "-c", "pass"])
    click = compare(Command([installation.python, "-I", "-c", "import click"]), baseline, runs=runs)
    if not as_json:
        print(f"{'path':52} {'cpu':>6} {'wall':>6} {'aim':>7}")
        print(f"{'import click, for comparison':52} {click.cpu:6.2f} {click.wall:6.2f}")
    link_both(installation, folder)
    for row in rows(installation, folder):
        ratio = compare(row.command, baseline, runs=runs)
        if as_json:
            print(json.dumps({"path": row.name, "cpu": ratio.cpu, "wall": ratio.wall, "aim": row.goal}))
        else:
            aim = "" if row.goal is None else f"≤ {row.goal:.2f}"
            print(f"{row.name:52} {ratio.cpu:6.2f} {ratio.wall:6.2f} {aim:>7}", flush=True)


def link_both(installation: Installation, folder: Path) -> None:
    """Have one tool linked by hooks, and as a function without and with `typing`."""
    add_all(installation)
    link(installation, folder / "both", HOOKS, FUNCTION, TYPED_FUNCTION)


def rows(installation: Installation, folder: Path) -> Iterator[Row]:
    """Every path that an agent or an admin waits for."""
    old = wrapper(folder / "old", OLD_WRAPPER, installation)
    new = wrapper(folder / "new", NEW_WRAPPER, installation)
    linked = link(installation, folder / "links", "example") / "example-tool"
    launched = link(installation, folder / "launched", "example", by_launcher=True) / "example-tool"
    yield Row("linked --schema", Command([linked, "--schema"]), 0.2)
    yield Row("linked --schema, by the launcher", Command([launched, "--schema"]), 0.06)
    yield Row("console script --schema, wrapper of new installers", Command([new, "--schema"]), 1.1)
    yield Row("console script --schema, wrapper of old installers", Command([old, "--schema"]), 1.7)
    yield Row("argument error, linked", Command([linked], BAD), 1.5)
    yield Row("argument error, console script", Command([new], BAD), None)
    yield Row("trivial call, linked", Command([linked], GOOD), 3.0)
    yield Row("trivial call, linked, by the launcher", Command([launched], GOOD), None)
    for isolation in ("off", "strict"):
        yield Row(f"the same, isolation = {isolation}", Command([linked], GOOD, isolated(folder, isolation)), None)
    yield Row("trivial call, console script", Command([new], GOOD), None)
    yield Row("call of a tool by hooks, linked", Command([folder / "both" / "bench-hooks-tool"], GOOD), None)
    function = Command([folder / "both" / "bench-function-tool"], GOOD)
    yield Row("call of the same tool as a function, linked", function, None)
    typed = Command([folder / "both" / "bench-typed-function-tool"], GOOD)
    yield Row("the same in a module that imports typing, linked", typed, None)
    timed = Command([linked], GOOD, {"FERRULE_WRAPPERS": "timing"})
    yield Row("trivial call, linked, inside of the wrapper timing", timed, None)
    for switch in ("false", "true"):
        path = folder / f"journal-{switch}.toml"
        path.write_text(f"[journal]\nenabled = {switch}\n")
        environ = {"FERRULE_CONFIG": str(path), "FERRULE_STATE": str(folder / "state")}
        name = f"trivial call, linked, a config.toml with the journal {'on' if switch == 'true' else 'off'}"
        yield Row(name, Command([linked], GOOD, environ), None)
    yield from rows_with_many_tools(installation, folder)


def isolated(folder: Path, isolation: str) -> dict[str, str]:
    """The environment of a call that is held so far: off is its environment alone."""
    path = folder / f"{isolation}.toml"
    path.write_text(f'[permissions]\nisolation = "{isolation}"\n')
    return {"FERRULE_CONFIG": str(path)}


def rows_with_many_tools(installation: Installation, folder: Path) -> Iterator[Row]:
    """The same environment with 50 more tools in it."""
    names = installation.add_tools(50)
    tools = link(installation, folder / "many", *names)
    ferrule = installation.scripts / "ferrule"
    client = discovery(installation, tools)
    yield Row("ferrule list, 51 tools installed", Command([ferrule, "list"]), 4.2)
    yield Row("the client's discovery of 50 linked tools", client, 5.5)
    launched = link(installation, folder / "many-launched", *names, by_launcher=True)
    yield Row("the same, by the launcher", discovery(installation, launched), 4.0)
    plain = plain_scripts(folder / "plain", names)
    yield Row("the same of 50 scripts that print a line", discovery(installation, plain), None)
    yield Row("trivial call, linked, 51 tools installed", Command([folder / "links" / "example-tool"], GOOD), None)


def discovery(installation: Installation, folder: Path) -> Command:
    """The client, as it reads the schemas of a folder."""
    client = ROOT / "tests/testkit/src/ferrule_testkit/ikigai.py"
    return Command([installation.python, "-I", client, "list", "--folder", folder])


def plain_scripts(folder: Path, names: Sequence[str]) -> Path:
    """What any executable costs that answers without ferrule."""
    folder.mkdir()
    for name in names:
        path = folder / f"{name.replace('_', '-')}-tool"
        path.write_text(f"""#!/bin/sh\nprintf '%s\\n' '{{"name": "{name}"}}'\n""")
        path.chmod(0o755)
    return folder


def wrapper(folder: Path, text: str, installation: Installation) -> Path:
    """The executable of the example tool as an installer writes it."""
    folder.mkdir()
    path = folder / "example-tool"
    path.write_text(text.format(python=installation.python))
    path.chmod(0o755)
    return path


def link(installation: Installation, folder: Path, *names: str, by_launcher: bool = False) -> Path:
    """The folder, with executables for these tools in it; shell files, or such as the launcher starts."""
    launcher = installation.scripts / "ferrule-launcher"
    launcher.chmod(0o755 if by_launcher else 0o644)
    command = [str(installation.scripts / "ferrule"), "link", *names, "--to", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    launcher.chmod(0o755)
    return folder


if __name__ == "__main__":
    main()
