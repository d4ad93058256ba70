"""Tables: of workbooks, and of text whose values are kept apart by signs."""

import time
import zipfile
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.formats.documents import sparse_sheets, workbook
from ferrule_fetch.formats.documents.cells import write_table
from ferrule_fetch.formats.documents.separated import parse_table, read_table

Fetch = Callable[..., dict[str, Any]]

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def packed(sheets: dict[str, str], state: str = "visible") -> bytes:
    """A workbook of these sheets, each as its rows in XML. state: of the last one."""
    file = BytesIO()
    last = list(sheets)[-1]
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}" state="{state if name == last else "visible"}"/>'
        for n, name in enumerate(sheets, start=1)
    )
    links = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        office = f'<Relationship Id="r1" Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{_PACKAGE}">{office}</Relationships>')
        archive.writestr(
            "xl/workbook.xml", f'<workbook {_MAIN} xmlns:r="{_RELATIONS}"><sheets>{names}</sheets></workbook>'
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}">{links}</Relationships>')
        for number, rows in enumerate(sheets.values(), start=1):
            sheet = f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>"
            archive.writestr(f"xl/worksheets/sheet{number}.xml", sheet)
        archive.writestr("docProps/core.xml", "<c><dc:title>Data</dc:title></c>")
    return file.getvalue()


def row(number: int, *cells: str) -> str:
    columns = "".join(f'<c r="{"ABCDEF"[index]}{number}" t="str"><v>{cell}</v></c>' for index, cell in enumerate(cells))
    return f'<row r="{number}">{columns}</row>'


@pytest.mark.process
def test_a_workbook_is_its_sheets_as_tables(server: Server, fetch: Fetch) -> None:
    pytest.importorskip("python_calamine")
    body = packed({"One": row(2, "a | b", "c") + row(3, "1", "2"), "Two": row(1, "x", "y") + row(2, "z")}, "hidden")
    answer = fetch(server.page("/", body, "application/octet-stream"))
    assert answer["title"] == "Data"
    assert answer["content"] == (
        "## One\n\n| a \\| b | c |\n| --- | --- |\n| 1 | 2 |\n\n## Two (hidden)\n\n| x | y |\n| --- | --- |\n| z |  |"
    )


def test_a_workbook_with_more_cells_than_are_read_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("python_calamine")
    monkeypatch.setattr(workbook, "_MAX_CELLS", 5)
    text = workbook.read_workbook(packed({"One": "".join(row(n, "a", "b") for n in range(1, 9))}), "").text
    assert text.endswith("| a | b |\n\n[The sheet goes on: only the first 2 of its 8 rows are read.]")


def test_cells_are_written_as_people_write_them() -> None:
    cells = [["a", "b", "c", "d"], [1.0, 0.1 + 0.2, datetime(2024, 3, 5), True], [None, "", None, None], ["x\ny"]]
    assert write_table(cells).split("\n")[2:] == ["| 1 | 0.3 | 2024-03-05 | True |", "| x y |  |  |  |"]


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("a_b", "a_b"),
        ("_a_", "\\_a\\_"),
        ("<b>", "\\<b>"),
        ("[x](y)", "\\[x](y)"),
        ("`*\\", "\\`\\*\\\\"),
        ("a|b", "a\\|b"),
    ],
)
def test_a_cell_cannot_write_markdown(cell: str, written: str) -> None:
    assert write_table([[cell, "end"]]).startswith(f"| {written} | end |")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a,b\n1,2\n", "| a | b |"),
        ("a;b,c\n1;2\n", "| a | b,c |"),
        ("a\tb\n1\t2", "| a | b |"),
        ('"a,b",c\n1,2', "| a,b | c |"),
    ],
)
def test_separated_values_are_a_table(text: str, first: str) -> None:
    assert parse_table(text).split("\n")[:2] == [first, "| --- | --- |"]


@pytest.mark.parametrize("text", ["just, some words\nin lines\nof text\nwith one comma", "", "one\ntwo"])
def test_text_that_is_no_table_stays_as_it_is(text: str) -> None:
    assert parse_table(text) == text


@pytest.mark.process
@pytest.mark.parametrize(("path", "media"), [("/data", "text/csv"), ("/data.csv", "text/plain"), ("/a.tsv", "")])
def test_a_table_is_known_by_its_type_or_by_its_name(server: Server, fetch: Fetch, path: str, media: str) -> None:
    assert fetch(server.page(path, "a,b\n1,2", media))["content"] == "| a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.process
def test_a_large_table_is_read_in_a_process(server: Server, fetch: Fetch) -> None:
    answer = fetch(server.page("/", "a,b\n" + "1,2\n" * 50_000, "text/csv"), offset=50_002)
    assert answer["content"] == "| 1 | 2 |"


def read_sheet(rows: str) -> str:
    pytest.importorskip("python_calamine")
    return workbook.read_workbook(packed({"One": rows}), "").text.removeprefix("## One\n\n")


@pytest.mark.parametrize("place", ["A1048576", "XFD1", "XFD1048576", "B4294967295", "ZZZZZZ4294967295"])
def test_a_cell_far_from_all_others_costs_no_rows_between(place: str) -> None:
    letters, number = place.rstrip("0123456789"), int(place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    far = f'<c r="{place}" t="str"><v>far</v></c>'
    near = row(1, "head", "two") if number > 1 else row(1, "head", "two").replace("</row>", f"{far}</row>")
    text = read_sheet(near + row(2, "x", "y") + (f'<row r="{number}">{far}</row>' if number > 1 else ""))
    assert [word in text for word in ("head", "| x | y |", "far")] == [True, True, True]
    assert len(text) < 150
    assert letters


def test_a_sheet_whose_rows_stand_apart_keeps_their_order_and_columns() -> None:
    cells = [(1, "A", "a"), (100, "C", "b"), (9_000, "B", "c"), (9_002, "AZ", "d"), (700_000, "A", "e")]
    rows = [
        f'<row spans="1:9" r="{at}"><c s="1" r="{to}{at}" t="str"><v>{says}</v></c></row>' for at, to, says in cells
    ]
    lines = read_sheet("".join(rows)).splitlines()
    shown = [line for line in lines if "---" not in line]
    assert [next(word for word in "abcde" if word in line) for line in shown] == list("abcde")
    assert [line.index(word) for line, word in zip(shown, "abcde", strict=True)] == [2, 8, 5, 14, 2]


def test_a_sheet_that_is_full_stays_as_it_is() -> None:
    body = packed({"One": "".join(row(number, "a", "b") for number in range(1, 6_000))})
    assert sparse_sheets.pull_together(body) is body


def test_one_wide_row_does_not_fill_up_the_others() -> None:
    rows = [["a", "b"]] * 2_000 + [[*[""] * 1_900, "far"]]
    text = write_table(rows)
    assert (len(text) < 60_000, "| a | b |" in text, "far" in text) == (True, True, True)


def test_a_text_of_more_cells_than_a_table_may_have_is_text() -> None:
    text = "a,b,c\n" * 200_000
    assert read_table(text, time.monotonic() + 60) is text


@pytest.mark.parametrize("repeated", [16_383, 1_048_575, 10**18])
def test_a_cell_of_an_ods_far_from_all_others_costs_no_cells_between(repeated: int) -> None:
    pytest.importorskip("python_calamine")
    names = {name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "table", "text")}
    named = " ".join(f'xmlns:{name}="{address}"' for name, address in names.items())
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    gap = f'<table:table-cell table:number-columns-repeated="{repeated}"/>'
    rows = [cell.format("head"), gap, gap + cell.format("far")]
    count = ["", f' table:number-rows-repeated="{repeated}"', ""]
    table = "".join(f"<table:table-row{n}>{row}</table:table-row>" for row, n in zip(rows, count, strict=True))
    body = f'<office:spreadsheet><table:table table:name="One">{table}</table:table></office:spreadsheet>'
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {named}><office:body>{body}</office:body></office:document-content>",
        )
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{manifest}"/>')
    text = workbook.read_workbook(file.getvalue(), "").text
    assert ("head" in text, "far" in text, len(text) < 2_000) == (True, True, True)
