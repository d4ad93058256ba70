"""Documents of office programs, books, e-mails and tables, made by the libraries for each."""

from __future__ import annotations

import csv
from email.message import EmailMessage
from html import escape
from typing import TYPE_CHECKING, Any

import docx
import openpyxl
import pptx
from ebooklib import epub
from odf import opendocument, table, text

from filed.contents import Block, Contents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _make_docx(path: Path, seed: int) -> list[Block]:
    blocks = Contents(seed).report(tables=2)
    document = docx.Document()
    for block in blocks:
        if block.kind == "table":
            cells = document.add_table(len(block.rows), len(block.rows[0]))
            for row, values in zip(cells.rows, block.rows, strict=True):
                for cell, value in zip(row.cells, values, strict=True):
                    cell.text = value
        elif block.kind == "heading":
            document.add_heading(block.text, 1)
        else:
            document.add_paragraph(block.text, style="List Bullet" if block.kind == "item" else None)
    document.save(str(path))
    return blocks


def _make_pptx(path: Path, seed: int) -> list[Block]:
    contents = Contents(seed)
    show = pptx.Presentation()
    blocks = []
    for _ in range(5):
        heading, words, grid = contents.heading(), contents.text(20), contents.table(3, 3)
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = heading.text, words.text
        cells = slide.shapes.add_table(3, 3, 0, 0, 5_000_000, 1_000_000).table
        for row, values in enumerate(grid.rows):
            for column, value in enumerate(values):
                cells.cell(row, column).text = value
        blocks += [heading, words, grid]
    show.save(str(path))
    return blocks


def _make_xlsx(rows: int, columns: int, sheets: int) -> Callable[[Path, int], list[Block]]:
    def make(path: Path, seed: int) -> list[Block]:
        contents = Contents(seed)
        book = openpyxl.Workbook()
        book.remove(book.active)
        blocks = []
        for _ in range(sheets):
            heading, grid = contents.heading(), contents.table(rows, columns)
            sheet = book.create_sheet(heading.text)
            for row in grid.rows:
                sheet.append([float(value) if value[0].isdigit() else value for value in row])
            blocks += [heading, _with_plain_numbers(grid)]
        book.save(path)
        return blocks

    return make


def _with_plain_numbers(grid: Block) -> Block:
    """A table whose whole numbers are written without a fraction, as a workbook has them."""
    return grid._replace(rows=tuple(tuple(cell.removesuffix(".0") for cell in row) for row in grid.rows))


def _make_ods(path: Path, seed: int) -> list[Block]:
    contents = Contents(seed)
    heading, grid = contents.heading(), contents.table(12, 5)
    document = opendocument.OpenDocumentSpreadsheet()
    document.spreadsheet.addElement(_odf_table(grid, heading.text))
    document.save(str(path))
    return [heading, grid]


def _make_odt(path: Path, seed: int) -> list[Block]:
    blocks = Contents(seed).report(tables=2)
    document = opendocument.OpenDocumentText()
    for block in blocks:
        document.text.addElement(_odf_element(block))
    document.save(str(path))
    return blocks


def _odf_element(block: Block) -> Any:
    if block.kind == "heading":
        return text.H(outlinelevel=1, text=block.text)
    if block.kind == "table":
        return _odf_table(block, block.rows[0][0])
    if block.kind == "text":
        return text.P(text=block.text)
    items, item = text.List(), text.ListItem()
    item.addElement(text.P(text=block.text))
    items.addElement(item)
    return items


def _odf_table(grid: Block, name: str) -> Any:
    made = table.Table(name=name)
    for values in grid.rows:
        row = table.TableRow()
        for value in values:
            cell = table.TableCell(valuetype="string")
            cell.addElement(text.P(text=value))
            row.addElement(cell)
        made.addElement(row)
    return made


def _as_html(blocks: list[Block]) -> str:
    names = {"heading": "h1", "text": "p", "item": "p"}
    html = []
    for block in blocks:
        if block.kind == "table":
            rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in block.rows)
            html.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")
        else:
            html.append(f"<{names[block.kind]}>{escape(block.text)}</{names[block.kind]}>")
    return "".join(html)


def _make_epub(path: Path, seed: int) -> list[Block]:
    contents = Contents(seed)
    book = epub.EpubBook()
    book.set_identifier("1")
    book.set_title("Rivers")
    blocks, chapters = [], []
    for number in range(6):
        part = contents.report(tables=1, parts=1)
        chapter = epub.EpubHtml(title=part[0].text, file_name=f"c{9 - number}.xhtml", content=_as_html(part))
        book.add_item(chapter)
        blocks += part
        chapters.append(chapter)
    book.spine = chapters
    book.add_item(epub.EpubNcx())
    epub.write_epub(str(path), book)
    return blocks


def _make_mail(path: Path, seed: int) -> list[Block]:
    contents = Contents(seed)
    heading, blocks = contents.heading(), contents.report(tables=1, parts=1)
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann Lee <ann@example.org>", "bo@example.org", heading.text
    message.set_content("\n\n".join(block.text for block in blocks))
    message.add_alternative(_as_html(blocks), subtype="html")
    path.write_bytes(message.as_bytes())
    return [heading._replace(kind="text"), *blocks]


def _make_csv(path: Path, seed: int) -> list[Block]:
    grid = Contents(seed).table(200, 6)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(grid.rows)
    return [grid]


MAKERS: dict[str, Callable[[Path, int], list[Block]]] = {
    "report.docx": _make_docx,
    "show.pptx": _make_pptx,
    "one-sheet.xlsx": _make_xlsx(30, 6, 1),
    "large.xlsx": _make_xlsx(5000, 10, 2),
    "sheet.ods": _make_ods,
    "report.odt": _make_odt,
    "book.epub": _make_epub,
    "mail.eml": _make_mail,
    "table.csv": _make_csv,
    "second.docx": _make_docx,
}
