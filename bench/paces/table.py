"""Five kinds of bucket, and how near to its ideal each contender comes: rows a minute, requests and cost of a row.

Usage: python bench/paces/table.py [--peers PYTHON] [--only TEXT] [--json]

--peers: an interpreter of an environment with the requirements of bench/paces/peers.txt; without it, ours alone.

The time is the wall's. The ideal is the time in which the bucket lets that many requests through. Of ours, rows are
asked in SQL, eight at once, with a state folder of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ferrule_ask import Client, Limits
from ferrule_ask.pace.clock import Clock
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import MODEL_KEY, ModelServer
from ferrule_testkit.model.token_bucket import TokenBucket


class Kind(NamedTuple):
    """A kind of bucket. burst: requests that come at once. tells, waits: as TokenBucket has them.

    is_set: whether the user has set requests_per_minute.
    """

    name: str
    per_minute: float
    burst: float
    rows: int
    tells: bool = False
    waits: bool = False
    is_set: bool = False

    @property
    def ideal_seconds(self) -> float:
        """In which it lets the rows through."""
        return (self.rows - self.burst) / self.per_minute * 60


KINDS = (
    Kind("headers tell the limit", 300, 10, 60, tells=True, waits=True),
    Kind("nothing is told", 300, 10, 60),
    Kind("a burst of 5, retry-after", 300, 5, 60, waits=True),
    Kind("one a second, retry-after", 60, 1, 20, waits=True),
    Kind("requests_per_minute is set", 300, 5, 60, waits=True, is_set=True),
)


class Outcome(NamedTuple):
    """What came of the rows."""

    answered: int
    seconds: float
    requests: int
    cost: float


def main() -> None:
    """Print a line for each kind and contender."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers")
    parser.add_argument("--only", default="", help="the buckets that have this in their names")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for kind in (one for one in KINDS if options.only in one.name):
        for name, outcome in contest(kind, options.peers):
            tell(kind, name, outcome, as_json=options.json)


def contest(kind: Kind, peers: str | None) -> Iterator[tuple[str, Outcome]]:
    """Each contender with a bucket of its own."""
    for name in ("ferrule", *(("sdk",) if peers else ())):
        bucket = TokenBucket(kind.per_minute, kind.burst, clock=Clock(), tells=kind.tells, waits=kind.waits)
        with ModelServer(bucket) as server:
            if name == "ferrule":
                answered, seconds, cost = ask_in_sql(kind, server.url)
            else:
                answered, seconds = ask_by_peer(kind, server.url, peers or "")
                cost = len(bucket.taken) * (20 * 2 + 10 * 10) / 1e6  # what the server reports, at the price of ours
            yield name, Outcome(answered, seconds, len(server.requests), cost)


def ask_in_sql(kind: Kind, url: str) -> tuple[int, float, float]:
    """Rows that were answered, seconds, and US dollars."""
    import duckdb

    import ferrule_duckdb

    per_minute = kind.per_minute if kind.is_set else None
    client = Client(toolbox=no_tools(), base_url=url, limits=Limits(spend=10), requests_per_minute=per_minute)
    with tempfile.TemporaryDirectory() as state, client, duckdb.connect() as con:
        os.environ.update(FERRULE_STATE=state, ANTHROPIC_API_KEY=MODEL_KEY)
        ferrule_duckdb.register(con, client=client, concurrency=8, progress=False)
        con.execute("SELECT stps_ask_ai(NULL, 'What is it?')").fetchall()  # DuckDB imports pyarrow at its first call
        began = time.monotonic()
        sql = f"SELECT count(stps_ask_ai('Row ' || i, 'What is it?')) FROM range({kind.rows}) t(i)"
        ((answered,),) = con.execute(sql).fetchall()
        return int(answered), time.monotonic() - began, client.usage.cost


def ask_by_peer(kind: Kind, url: str, python: str) -> tuple[int, float]:
    """Rows that were answered, and seconds."""
    environ = {**os.environ, "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": MODEL_KEY}
    script = str(Path(__file__).with_name("peer.py"))
    done = subprocess.run([python, script, str(kind.rows)], env=environ, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    facts = json.loads(done.stdout)
    return int(facts["answered"]), float(facts["seconds"])


def tell(kind: Kind, name: str, outcome: Outcome, *, as_json: bool) -> None:
    """Print how near to the ideal it came."""
    a_minute = outcome.answered / outcome.seconds * 60
    ideal = kind.rows / kind.ideal_seconds * 60
    facts = {
        "bucket": kind.name,
        "contender": name,
        "answered": outcome.answered,
        "rows": kind.rows,
        "seconds": round(outcome.seconds, 1),
        "of_the_ideal": round(a_minute / ideal, 2),
        "requests": outcome.requests,
        "dollars_a_row": round(outcome.cost / max(1, outcome.answered), 6),
    }
    text = "  ".join(f"{value}" for value in facts.values())
    print(json.dumps(facts) if as_json else text, flush=True)


if __name__ == "__main__":
    main()
