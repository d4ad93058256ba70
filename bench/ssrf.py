"""How many hostile addresses each fetcher keeps away from, and how much of the legal web it reaches all the same.

Usage: python bench/ssrf.py [--only NAME,NAME] [--misses] [--json]

The same table of URLs, of which the tests use every row, is tried on web_fetch and on libraries that guard against
server-side request forgery. Names resolve as the table says, and every connection is noted and ends at one server on
loopback, whatever library makes it. The first run installs the peers into bench/.cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from installations.environments import interpreter_with
from measuring import names_among
from peers.ssrf_fetchers import OURS, PEERS

from ferrule_testkit.hostile.urls import PARTS, PUBLIC, PUBLIC_IPV6, Case

HERE = Path(__file__).resolve().parent

REQUIREMENTS = HERE / "peers/ssrf.txt"
FETCHERS = HERE / "peers/ssrf_fetchers.py"

# What attacks may connect to, because a page of the public web is there.
_PUBLIC = {PUBLIC, PUBLIC_IPV6}


class Row(NamedTuple):
    """What a fetcher did with a URL. connected: the addresses. answered: whether the page came back."""

    part: str
    case: Case
    connected: list[str]
    answered: bool

    @property
    def is_right(self) -> bool:
        """Attacks must reach nothing special, refusals nothing at all, and what is legal its page.

        The server on loopback does not speak TLS, so of an https URL it counts that it was connected to.
        """
        if self.part == "policy":
            return not self.connected
        if self.part == "legal":
            return self.answered or ("https" in self.case.url and bool(self.connected))
        return set(self.connected) <= _PUBLIC


def main() -> None:
    """Try all, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = names_among([*OURS, *PEERS])
    parser.add_argument("--only", type=names, default="", help="names of fetchers, with commas between")
    parser.add_argument("--misses", action="store_true", help="show every URL that a fetcher was wrong about")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(f"{'':32}" + "".join(f"{f'{part} {len(cases)}':>14}" for part, cases in PARTS.items()))
    for name in options.only:
        rows = tried(name)
        show(name, rows, as_json=options.json)
        for row in rows if options.misses else []:
            if not row.is_right:
                print(f"    {row.case.group}: {row.case.url[:90]!r} {dict(row.case.answers)} -> {row.connected}")


def tried(name: str) -> list[Row]:
    """What a fetcher did with every URL, in a process of its own."""
    python = sys.executable if name in OURS else interpreter_with(REQUIREMENTS)
    done = subprocess.run([python, str(FETCHERS), name], capture_output=True, text=True, check=False)
    cases = [(part, case) for part, cases in PARTS.items() for case in cases]
    lines = done.stdout.splitlines()
    if len(lines) != len(cases):
        sys.exit(f"{name} cannot be measured here: {done.stderr.strip()[-400:]}")
    return [Row(*case, *json.loads(line)) for case, line in zip(cases, lines, strict=True)]


def show(name: str, rows: list[Row], *, as_json: bool) -> None:
    """One line for a fetcher."""
    counts = {part: sum(row.part == part and row.is_right for row in rows) for part in PARTS}
    if as_json:
        print(json.dumps({"fetcher": name, **counts}), flush=True)
    else:
        print(f"{name:32}" + "".join(f"{count:14}" for count in counts.values()), flush=True)


if __name__ == "__main__":
    main()
