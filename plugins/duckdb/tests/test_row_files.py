"""Files whose rows are asked: each kind is read as it is, and what is wrong with one is said with its line."""

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from ferrule.errors import FerruleError
from ferrule_duckdb.files.source import load_files, load_table

Rows = list[tuple[object, ...]]
Load = Callable[..., tuple[list[str], Rows]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The columns and the rows of a file with this name and content."""

    def load(name: str, content: bytes | str) -> tuple[list[str], Rows]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with duckdb.connect() as con:
            load_table(con, str(path))
            found = con.execute("FROM source")
            return [column[0] for column in found.description or ()], found.fetchall()

    return load


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "name,city\nAcme,Oslo\n"),
        ("a.csv", "name;city\r\nAcme;Oslo\r\n"),
        ("a.csv", "\ufeffname,city\nAcme,Oslo"),
        ("a.csv", 'name|city\n"Acme"|Oslo\n'),
        ("a.tsv", "name\tcity\nAcme\tOslo\n"),
        ("a.csv.gz", gzip.compress(b"name,city\nAcme,Oslo\n", mtime=0)),
        ("a.jsonl", '{"name": "Acme", "city": "Oslo"}\n'),
        ("a.jsonl.gz", gzip.compress(b'{"name": "Acme", "city": "Oslo"}\n', mtime=0)),
        ("a.csv.zst", pa.compress(b"name,city\nAcme,Oslo\n", codec="zstd", asbytes=True)),
        ("a.tsv.zst", pa.compress(b"name\tcity\nAcme\tOslo\n", codec="zstd", asbytes=True)),
        ("a.jsonl.zst", pa.compress(b'{"name": "Acme", "city": "Oslo"}\n', codec="zstd", asbytes=True)),
        ("a.json", '[{"name": "Acme", "city": "Oslo"}]'),
    ],
)
def test_one_row_is_read_from_each_kind_of_file(name: str, content: bytes | str, load: Load) -> None:
    assert load(name, content) == (["name", "city"], [("Acme", "Oslo")])


def test_values_of_csv_stay_as_they_are_written(load: Load) -> None:
    columns, rows = load("a.csv", 'zip,note,zip,\n0150,"a, ""b""\nc",2,\n')
    assert columns == ["zip", "note", "zip_1", "column3"]
    assert rows == [("0150", 'a, "b"\nc', "2", None)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.csv",
            "a,b,c\n" + "1,2,3\n" * 118 + "119,Acme, Inc,Oslo\n",
            "Line 120 of .* has 4 columns, and the header has 3",
        ),
        ("a.csv", "a,b,c\n1,2\n", "Line 2 of .* has 2 columns, and the header has 3"),
        ("a.csv", 'a,b\n1,"open\n', "Line 2 of .* cannot be read"),
        ("a.csv", "a,b\n1,é\n".encode("latin-1"), "Line 2 of .* is not text in UTF-8"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "Line 1 of .* is in UTF-16"),
        ("a.csv", b"a,b\n1,\x002\n", "Line 2 of .* has a NUL byte"),
        ("a.csv", b"", "is empty"),
        ("a.csv.gz", b"no gzip", "cannot be read"),
        ("a.csv.zst", b"no zstd", "cannot be read"),
        ("a.csv.zst", pa.compress(b"a,b\n1,2\n3\n", codec="zstd", asbytes=True), "Line 3 of .* has 1 columns"),
        ("a.csv.zst", pa.compress(b"a,b\n1,\xe9\n", codec="zstd", asbytes=True), "Line 2 of .* is not text in UTF-8"),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "cannot be read"),
        ("a.parquet", b"PAR1", "cannot be read"),
        ("a.xlsx", b"PK", "no workbook"),
        ("a.txt", "a", "has to name a file that ends with"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(
    name: str, content: bytes | str, said: str, load: Load
) -> None:
    with pytest.raises(FerruleError, match=said):
        load(name, content)


def workbook() -> bytes:
    """A workbook with the parts that one has to have, and a sheet of texts, numbers, an empty cell and a boolean."""
    texts = [["name", "zip", "share"], ["Acme", 150, 1.5], ["Beta", None, True]]
    rows = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in texts)
    namespace, kind = "http://schemas.openxmlformats.org", "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relations = f"{namespace}/officeDocument/2006/relationships"

    def related(target: str, role: str) -> str:
        one = f'<Relationship Id="r1" Type="{relations}/{role}" Target="{target}"/>'
        return f'<Relationships xmlns="{namespace}/package/2006/relationships">{one}</Relationships>'

    main = f'xmlns="{namespace}/spreadsheetml/2006/main"'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{namespace}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": related("xl/workbook.xml", "officeDocument"),
        "xl/workbook.xml": f'<workbook {main} xmlns:r="{relations}">'
        '<sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": related("sheet1.xml", "worksheet"),
        "xl/sheet1.xml": f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def cell(value: object) -> str:
    """A cell of a sheet."""
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def test_a_workbook_is_read_as_it_is_seen(load: Load) -> None:
    columns, rows = load("a.xlsx", workbook())
    assert columns == ["name", "zip", "share"]
    assert rows == [("Acme", "150", "1.5"), ("Beta", None, "True")]


def test_each_file_that_fits_a_pattern_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("notes/a.md", "notes/deep/b.md", "notes/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"Text of {name}")
    with duckdb.connect() as con:
        load_files(con, "notes/**/*.md")
        rows = con.execute("FROM source").fetchall()
        with pytest.raises(FerruleError, match="No file fits"):
            load_files(con, "*.md")
    assert rows == [(name, f"Text of {name}") for name in ("notes/a.md", "notes/deep/b.md")]
