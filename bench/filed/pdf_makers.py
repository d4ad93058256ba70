"""PDFs, made by reportlab, in the ways in which reports and papers are set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Spacer, Table

from filed.contents import Block, Contents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_STYLES = getSampleStyleSheet()
_MARGIN = 50
_GAP = 24
GRID = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
BOOK = [
    (f"LINE{side}", (0, row), (-1, row), 1, colors.black) for side, row in (("ABOVE", 0), ("BELOW", 0), ("BELOW", -1))
]
STRIPES = [("ROWBACKGROUNDS", (0, 0), (-1, -1), [colors.whitesmoke, colors.lightgrey])]
BARE: list[Any] = []


def make_pdf(
    path: Path, blocks: list[Block], columns: int, style: list[Any], title: Block | None, has_footer: bool
) -> None:
    """Write a PDF with so many columns. style: of its tables. title: stands across all columns."""
    document = BaseDocTemplate(str(path), pagesize=A4, title="", author="")
    width, height = A4
    across = (width - 2 * _MARGIN - (columns - 1) * _GAP) / columns
    top = 60 if title else 0
    frames = [
        Frame(_MARGIN + number * (across + _GAP), _MARGIN, across, height - 2 * _MARGIN - top, 0, 0, 0, 0)
        for number in range(columns)
    ]

    def draw(canvas: Any, about: Any) -> None:
        if title and about.page == 1:
            canvas.setFont("Helvetica-Bold", 20)
            canvas.drawCentredString(width / 2, height - _MARGIN - 30, title.text)
        if has_footer:
            canvas.setFont("Helvetica", 8)
            canvas.drawCentredString(width / 2, 25, f"{about.page}")

    document.addPageTemplates(PageTemplate(frames=frames, onPage=draw))
    document.build([part for block in blocks for part in _flow(block, style)])


def _flow(block: Block, style: list[Any]) -> list[Any]:
    if block.kind == "heading":
        return [Paragraph(block.text, _STYLES["Heading2"])]
    if block.kind == "item":
        return [Paragraph(block.text, _STYLES["BodyText"], bulletText="•")]
    if block.kind == "text":
        return [Paragraph(block.text, _STYLES["BodyText"])]
    table = Table([list(row) for row in block.rows], repeatRows=0)
    table.setStyle(style)
    return [Spacer(1, 8), table, Spacer(1, 8)]


def _set(
    columns: int, style: list[Any], *, tables: int = 1, parts: int = 3, is_titled: bool = True
) -> Callable[[Path, int], list[Block]]:
    def make(path: Path, seed: int) -> list[Block]:
        contents = Contents(seed)
        title = contents.heading() if is_titled else None
        blocks = contents.report(tables, parts)
        make_pdf(path, blocks, columns, style, title, has_footer=True)
        return [*([title] if title else []), *blocks]

    return make


def _make_long_table(path: Path, seed: int) -> list[Block]:
    contents = Contents(seed)
    blocks = [contents.text(), contents.table(rows=40, columns=6), contents.text()]
    make_pdf(path, blocks, 1, GRID, None, has_footer=False)
    return blocks


MAKERS: dict[str, Callable[[Path, int], list[Block]]] = {
    "report.pdf": _set(1, GRID),
    "two-columns.pdf": _set(2, GRID, tables=0, parts=8),
    "three-columns.pdf": _set(3, GRID, tables=0, parts=8),
    "columns-and-tables.pdf": _set(2, GRID, tables=3, parts=6),
    "columns-and-bare-tables.pdf": _set(2, BARE, tables=2, parts=6),
    "bare-tables.pdf": _set(1, BARE, tables=3),
    "paper-tables.pdf": _set(1, BOOK, tables=3),
    "striped-tables.pdf": _set(1, STRIPES, tables=2, is_titled=False),
    "long-table.pdf": _make_long_table,
    "book.pdf": _set(1, GRID, tables=6, parts=40),
}
