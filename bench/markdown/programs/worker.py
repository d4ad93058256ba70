"""A process that converts pages with one converter: a line of JSON in, a line of JSON out, for each page.

Usage: python -m markdown.programs.worker CONVERTER. Its first line says that it is ready, or why it cannot be.
In: {"html": …, "url": …}. Out: {"markdown": …, "seconds": processor time} or {"error": …}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from markdown.programs.converters import FLOORS, OURS, PEERS, Convert
from markdown.programs.extractors import EXTRACTORS


def main() -> None:
    """Convert until stdin ends. What a converter prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    try:
        convert = {**OURS, **PEERS, **FLOORS, **EXTRACTORS}[sys.argv[1]]()
        convert("<p>ready</p>", "http://127.0.0.1/")
    except Exception as error:  # noqa: BLE001 - a library that is missing or broken may raise anything
        print(json.dumps({"error": _said(error)}), file=answers, flush=True)
        return
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin.buffer:
        print(json.dumps(_answer(convert, **json.loads(line))), file=answers, flush=True)


def _answer(convert: Convert, html: str, url: str) -> dict[str, Any]:
    started = time.process_time()
    try:
        markdown = convert(html, url)
    except BaseException as error:  # noqa: BLE001 - a panic of Rust is no Exception
        return {"error": _said(error)}
    return {"markdown": markdown, "seconds": time.process_time() - started}


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]


if __name__ == "__main__":
    main()
