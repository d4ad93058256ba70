"""How many hostile pages each tool survives, and how many of them it brings content back from.

Usage: python bench/hostile.py [--only NAME,NAME] [--group GROUP] [--misses] [--json]

Every case of ferrule_testkit.hostile is given to web_fetch and to other tools, each call a process that has the
30 seconds and the 65,535 bytes of the client. A tool has survived a case when it ended in time by itself, its processes
had less than 300 MiB together, and it left one whole JSON object on stdout and no traceback. What the answer says does
not count, but in the column `content`: how many of the cases with something to read came back with its first sentence.
The first run installs the peers into bench/.cache.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installations.environments import interpreter_with
from measuring import names_among
from peers.hostile_tools import TOOLS

from ferrule_testkit.hostile.case import NEEDLE, Case
from ferrule_testkit.hostile.server import CASES, HostileServer, Outcome, call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "peers/hostile.txt"
OURS = "web_fetch"
GROUPS = list(dict.fromkeys(case.group for case in CASES))
WAITING = 8  # calls at a time that do nothing but wait


class Tool(NamedTuple):
    """A tool by its name, the command of a call, and the environment of its process."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]


class Result(NamedTuple):
    """A case, and what came of it."""

    case: Case
    outcome: Outcome

    @property
    def has_content(self) -> bool:
        """Whether there was something to read, and it came back."""
        return self.outcome.survived and NEEDLE in str((self.outcome.answer or {}).get("content", ""))


def main() -> None:
    """Try all, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = names_among([OURS, *TOOLS])
    parser.add_argument("--only", type=names, default="", help="names of tools, with commas between")
    parser.add_argument("--group", choices=GROUPS, help="only the cases of one kind")
    parser.add_argument("--misses", action="store_true", help="show every case that a tool did not survive")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    cases = [case for case in CASES if options.group in (None, case.group)]
    if not options.json:
        print_head(cases)
    with tempfile.TemporaryDirectory() as home, HostileServer() as server:
        for name in options.only:
            results = tried(tool(name, Path(home)), cases, server)
            show(name, results, as_json=options.json)
            for case, outcome in results if options.misses else []:
                if not outcome.survived:
                    print(f"    A page that {case.name}: {why(outcome)}")


def tried(tool: Tool, cases: Sequence[Case], server: HostileServer) -> list[Result]:
    """What came of every case. Those that only wait for a deadline wait together, the others have a core each."""

    def outcome(case: Case) -> Result:
        return Result(case, call(tool.command, server.url_of(case), tool.environment))

    results: list[Result] = []
    for is_waiting, at_a_time in ((True, WAITING), (False, os.cpu_count() or 1)):
        with ThreadPoolExecutor(at_a_time) as pool:
            results += pool.map(outcome, [case for case in cases if bool(case.seconds) is is_waiting])
    return results


def tool(name: str, home: Path) -> Tool:
    """A tool by its name."""
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "FERRULE_FETCH_ALLOW": "loopback"}
    if name != OURS:
        return Tool(name, [interpreter_with(REQUIREMENTS), str(HERE / "peers/hostile_tools.py"), name], environ)
    link = [sys.executable, "-m", "ferrule", "link", OURS, "--to", str(home)]
    subprocess.run(link, env=environ, check=True, capture_output=True)
    return Tool(name, [str(home / "web-fetch-tool")], environ)


def print_head(cases: Sequence[Case]) -> None:
    """The names of the columns, with how many cases each counts."""
    groups = [f"{group} {sum(case.group == group for case in cases)}" for group in GROUPS]
    content = f"content {sum(NEEDLE in case.says for case in cases)}"
    columns = [f"survived {len(cases)}", *groups, content, "killed", "MiB", "median s", "worst s"]
    print(f"{'':14}" + "".join(f"{column:>15}" for column in columns), flush=True)


def show(name: str, results: Sequence[Result], *, as_json: bool) -> None:
    """One line for a tool."""
    outcomes = [outcome for _, outcome in results]
    row: dict[str, object] = {"survived": sum(outcome.survived for outcome in outcomes)}
    for group in GROUPS:
        row[group] = sum(outcome.survived for case, outcome in results if case.group == group)
    row["content"] = sum(result.has_content for result in results if NEEDLE in result.case.says)
    row["killed"] = sum(not outcome.ended for outcome in outcomes)
    row["memory"] = max(outcome.memory for outcome in outcomes) >> 20
    row["median"] = round(statistics.median(outcome.seconds for outcome in outcomes), 2)
    row["worst"] = round(max(outcome.seconds for outcome in outcomes), 1)
    if as_json:
        print(json.dumps({"tool": name, **row}), flush=True)
    else:
        print(f"{name:14}" + "".join(f"{value!s:>15}" for value in row.values()), flush=True)


def why(outcome: Outcome) -> str:
    """Why a case was not survived."""
    if not outcome.ended:
        return f"killed after {outcome.seconds:.0f} s, at {outcome.memory >> 20:,} MiB"
    if outcome.answer is None:
        return f"no answer; {outcome.text.strip().rpartition(chr(10))[2][:100]}"
    return f"{outcome.memory >> 20:,} MiB"


if __name__ == "__main__":
    main()
