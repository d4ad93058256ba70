"""Workbooks of Excel and LibreOffice, read by calamine."""

from __future__ import annotations

from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING

from ferrule_fetch.formats.documents.archive import DocumentText, open_archive, read_properties
from ferrule_fetch.formats.documents.cells import write_table
from ferrule_fetch.formats.documents.sparse_sheets import pull_together

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_MAX_SHEETS = 200
_MAX_CELLS = 400_000  # of all sheets


def read_workbook(body: bytes, url: str) -> DocumentText:
    """The tables of a workbook, each sheet under a heading. Raises what the library raises."""
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    del url  # nothing in it is resolved against it
    facts = DocumentText()
    if body.startswith(b"PK"):
        with open_archive(body) as archive:
            name = "docProps/core.xml" if "docProps/core.xml" in archive.namelist() else "meta.xml"
            facts = read_properties(archive, name)
        body = pull_together(body)
    workbook = CalamineWorkbook.from_filelike(BytesIO(body))
    parts, left = [], _MAX_CELLS
    for about in workbook.sheets_metadata[:_MAX_SHEETS]:
        sheet = workbook.get_sheet_by_name(about.name)
        hidden = "" if about.visible is SheetVisibleEnum.Visible else " (hidden)"
        text, left = _read_sheet(sheet, left)
        parts.append(f"## {' '.join(about.name.split())}{hidden}\n\n{text}".rstrip())
    return facts._replace(text="\n\n".join(parts) if any("|" in part for part in parts) else "")


def _read_sheet(sheet: CalamineSheet, left: int) -> tuple[str, int]:
    """A sheet as a table, and how many cells may follow. left: how many it may have."""
    most = left // max(sheet.width, 1)
    text = write_table(islice(sheet.iter_rows(), most))
    left -= min(sheet.height, most) * sheet.width
    if sheet.height > most:
        note = f"[The sheet goes on: only the first {most:,} of its {sheet.height:,} rows are read.]"
        text = f"{text}\n\n{note}".lstrip()
    return text, left
