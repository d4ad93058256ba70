"""Reads documents with one program, and prints a line of JSON for each: name, text, seconds, error.

Usage: python -m filed.convert {ours,markitdown,docling,pdf_oxide} FILE...
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_DEADLINE_SECONDS = 60


def _start_ours() -> Callable[[Path], str]:
    from ferrule_fetch.document import read_text
    from ferrule_fetch.formats.media import ContentType
    from ferrule_fetch.transfer.request import Page

    def convert(path: Path) -> str:
        page = Page(f"http://host/{path.name}", ContentType("", ""), path.read_bytes())
        return read_text(page, time.monotonic() + _DEADLINE_SECONDS).text

    return convert


def _start_markitdown() -> Callable[[Path], str]:
    from markitdown import MarkItDown

    converter: Any = MarkItDown()
    return lambda path: str(converter.convert(str(path)).text_content)


def _start_docling() -> Callable[[Path], str]:
    from docling.document_converter import DocumentConverter

    converter: Any = DocumentConverter()
    return lambda path: str(converter.convert(str(path)).document.export_to_markdown())


def _start_pdf_oxide() -> Callable[[Path], str]:
    from pdf_oxide import PdfDocument

    def convert(path: Path) -> str:
        document: Any = PdfDocument(str(path))
        return "\n\n".join(document.to_markdown(page, detect_headings=True) for page in range(document.page_count()))

    return convert


STARTS = {
    "ours": _start_ours,
    "markitdown": _start_markitdown,
    "docling": _start_docling,
    "pdf_oxide": _start_pdf_oxide,
}


def main() -> None:
    """Convert, print."""
    convert = STARTS[sys.argv[1]]()
    for path in map(Path, sys.argv[2:]):
        began = time.perf_counter()
        try:
            text, error = convert(path), ""
        except Exception as failed:  # noqa: BLE001 - a program may fail in any way, which is its result
            text, error = "", f"{type(failed).__name__}: {failed}"[:300]
        print(json.dumps({"name": path.name, "text": text, "seconds": time.perf_counter() - began, "error": error}))


if __name__ == "__main__":
    main()
