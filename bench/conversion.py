"""What the markdown of web_fetch is worth beside that of other converters, and what it costs, in one run.

Usage: python bench/conversion.py [--quick] [--only roundtrip,fuzz] [--failures N] [--json]

The first run fetches what it needs by name and version, with pip and, where it is there, apt-get, into bench/.cache.
"""

from __future__ import annotations

import argparse

from markdown.options import Options
from markdown.programs.peers import Converters
from markdown.report import MEASURES
from markdown.tables import as_json, as_text
from measuring import names_among

QUICK = ("roundtrip", "fuzz")


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=names_among(MEASURES), help=f"some of {','.join(MEASURES)}")
    parser.add_argument("--converter", default="", help="parts of the names of those to measure, with commas between")
    parser.add_argument("--quick", action="store_true", help=f"the same as --only {','.join(QUICK)} --converter ours")
    parser.add_argument("--failures", type=int, default=0, help="how many cases that ours fails to show, of each set")
    parser.add_argument("--grep", default="", help="what the names of round trip's and fuzz's cases must hold")
    parser.add_argument("--runs", type=int, default=21, help="how often each call is timed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    converters = Converters((given.converter or ("ours" if given.quick else "")).split(","))
    options = Options(converters, given.failures, given.grep, given.runs)
    names = given.only or (QUICK if given.quick else MEASURES)
    for name in names:
        for table in MEASURES[name](options):
            print(as_json(table) if given.json else as_text(table), flush=True)


if __name__ == "__main__":
    main()
