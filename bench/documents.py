"""Documents that well-known libraries make, and what is left of them in the markdown of several programs.

Usage: python bench/documents.py [--with markitdown,docling,pdf_oxide] [--python NAME=PATH] [--json]

The first run installs the makers and the other programs, each into an environment of its own in bench/.cache.
docling is large, and its models for PDF are not in its package: without them it reads no PDF.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import Any

from filed.score import Score, score
from installations.environments import CACHE, interpreter_with

_PEERS = Path(__file__).parent / "filed" / "peers"
_LIMIT_SECONDS = 900


def main() -> None:
    """Make the documents, convert them, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="others", default="markitdown", help="programs, with commas between")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH", help="an environment that exists")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pythons = dict(one.split("=", 1) for one in given.python)
    folder = CACHE / "documents"
    _run([_find_python("makers", pythons), "-m", "filed.make", str(folder)])
    truth = json.loads((folder / "truth.json").read_text())
    results = {}
    for name in ["ours", *filter(None, given.others.split(","))]:
        python = sys.executable if name == "ours" else _find_python(name, pythons)
        files = [str(folder / one) for one in truth]
        lines = [json.loads(line) for line in _run([python, "-m", "filed.convert", name, *files]).splitlines()]
        results[name] = {line["name"]: {**line, "score": score(truth[line["name"]], line["text"])} for line in lines}
    print(json.dumps(results) if given.json else "\n".join(_write(results)))


def _find_python(name: str, pythons: dict[str, str]) -> str:
    return pythons.get(name) or interpreter_with(_PEERS / f"documents_{name}.txt")


def _run(command: list[str]) -> str:
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, env=environ, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return "\n".join(line for line in done.stdout.splitlines() if line.startswith("{"))


def _write(results: dict[str, Any]) -> list[str]:
    """Two tables: each program as a whole, and each document."""
    lines = ["| | read | words | order | headings | rows of tables | seconds |", "|---|---|---|---|---|---|---|"]
    for name, files in results.items():
        for kind in ("PDF", "other"):
            chosen = [one for one in files.values() if one["name"].endswith(".pdf") == (kind == "PDF")]
            scores = [one["score"] for one in chosen if not one["error"]]
            read = sum(not one["error"] for one in chosen)
            shares = (_mean([getattr(one, field) for one in scores]) for field in Score._fields)
            seconds = sum(one["seconds"] for one in chosen)
            lines.append(f"| {name}, {kind} | {read} of {len(chosen)} | {' | '.join(shares)} | {seconds:.1f} |")
    lines += ["", f"| words, order, headings, rows | {' | '.join(results)} |", "|---|" + "---|" * len(results)]
    for document in results["ours"]:
        cells = []
        for files in results.values():
            one = files[document]
            cells.append("—" if one["error"] else f"{' '.join(map(_share, one['score']))}, {one['seconds']:.2f} s")
        lines.append(f"| {document} | {' | '.join(cells)} |")
    return lines


def _mean(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return _share(mean(known) if known else None)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
