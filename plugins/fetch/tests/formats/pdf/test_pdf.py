"""A PDF comes back as the text of its pages."""

import io
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from ferrule import Context
from ferrule_dev.testing import Server
from ferrule_fetch.formats import pdf as reading
from ferrule_fetch.formats.pdf import PDFText, read_pdf
from ferrule_fetch.formats.pdf.document import Document
from ferrule_fetch.text.wanted import Wanted
from ferrule_testkit.documents import drawn_pdf, line, pdf

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]


def read(body: bytes, seconds: float = 12) -> PDFText:
    return read_pdf(body, "http://h/", time.monotonic() + 60, Wanted(), seconds)


def read_pages(body: bytes) -> list[str]:
    """The text of each page, read in this process."""
    document = Document(body)
    return [document.read(index, "http://h/").text for index in range(document.total)]


@pytest.mark.process
@pytest.mark.parametrize("content_type", ["application/pdf", "application/octet-stream", "", "text/html"])
def test_a_pdf_is_given_back_page_by_page(server: Server, fetch: Fetch, content_type: str) -> None:
    answer = fetch(server.page("/", pdf(["First words", "", "Last words"], "A report"), content_type))
    assert answer["title"] == "A report"
    assert answer["content"] == "## Page 1\n\nFirst words\n\n## Page 2\n\n## Page 3\n\nLast words"


@pytest.mark.process
def test_a_pdf_is_paged_by_lines(server: Server, fetch: Fetch) -> None:
    answer = fetch(server.page("/", pdf(["One", "Two"]), "application/pdf"), offset=5, limit=1)
    assert (answer["content"], answer["next_offset"], answer["total_lines"]) == ("## Page 2", 6, 7)


def _encrypted(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["Words"]))))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _bomb() -> bytes:
    drawing = zlib.compress(b"BT /F1 12 Tf (x) Tj ET\n" * 2_000_000).decode("latin-1")
    body = pdf(["marker"]).decode("latin-1")
    start, end = body.index("<< /Length"), body.index("endstream")
    stream = f"<< /Length {len(drawing)} /Filter /FlateDecode >>\nstream\n{drawing}\n"
    return (body[:start] + stream + body[end:]).encode("latin-1")


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "what"),
    [
        (_encrypted("secret"), "an encrypted PDF, which needs a password"),
        (pdf(["", ""]), "a PDF of 2 pages without any text, as scanners make it"),
        (pdf([""]), "a PDF of one page without any text, as scanners make it"),
        (pdf([]), "a PDF without pages"),
        (b"%PDF-1.7", "a malformed PDF"),
        (pdf(["Words"])[:200], "a malformed PDF"),
        (b"%PDF-1.4\n" + b"<<" * 10_000, "a malformed PDF"),
    ],
    ids=["encrypted", "scanned", "one scan", "no pages", "nothing", "cut off", "nested"],
)
def test_a_pdf_without_text_is_an_error_that_says_what_it_is(
    server: Server, error: Error, body: bytes, what: str
) -> None:
    code, message = error(server.page("/", body, "application/pdf"))
    assert code == "PARSE_ERROR"
    assert message.startswith(f"Failed to parse HTML: the server sent {what} (application/pdf), ")


@pytest.mark.process
def test_a_pdf_that_needs_no_password_to_be_read_is_read(server: Server, fetch: Fetch) -> None:
    assert fetch(server.page("/", _encrypted(""), "application/pdf"))["content"].endswith("Words")


@pytest.mark.slow
@pytest.mark.process
def test_a_pdf_that_is_built_to_take_for_ever_is_an_error_in_time(
    server: Server, error: Error, make_context: Callable[..., Context]
) -> None:
    code, message = error(server.page("/", _bomb(), "application/pdf"), within=make_context(seconds=4))
    assert code == "PARSE_ERROR"
    assert "a PDF that takes too much time or memory to read" in message


@pytest.mark.process
def test_one_expensive_page_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PAGE_SHARE", 0.3 / 60)
    expensive = "BT /F1 12 Tf (x) Tj ET\n" * 1_000_000
    pages = drawn_pdf([line("One", 72, 700), expensive, line("Three", 72, 700)])
    text = read(pages, seconds=60).text
    note = "[This page takes too much time or memory to read.]"
    assert text == f"## Page 1\n\nOne\n\n## Page 2\n\n{note}\n\n## Page 3\n\nThree"


@pytest.mark.parametrize("hidden", ["/F1 0.1 Tf (secret) Tj", "0.01 0 0 0.01 72 700 Tm (secret) Tj"])
def test_text_that_is_too_small_to_be_seen_is_left_out(hidden: str) -> None:
    assert read_pages(pdf([f"Seen) Tj {hidden} ("])) == ["Seen"]
    assert "secret" in read_pages(pdf([f") Tj {hidden} ("]))[0]  # rather than nothing at all


@pytest.mark.parametrize(
    "shown", ["/F1 1 Tf 12 0 0 12 72 690 Tm (small unit) Tj", "0.05 0 0 0.05 0 0 cm /F1 240 Tf (small unit) Tj"]
)
def test_the_size_of_text_is_that_of_the_page(shown: str) -> None:
    assert "small unit" in read_pages(pdf([f"Seen) Tj {shown} ("]))[0]


@pytest.mark.parametrize("kept", ["3 Tr (scanned) Tj", "1 1 1 rg (white) Tj"])
def test_text_that_a_scanner_has_added_or_that_stands_on_a_ground_is_kept(kept: str) -> None:
    assert kept.split("(")[1].split(")")[0] in read_pages(pdf([f"Seen) Tj {kept} ("]))[0]


@pytest.mark.process
def test_no_more_of_a_pdf_is_read_than_an_answer_holds(
    server: Server, fetch: Fetch, make_context: Callable[..., Context]
) -> None:
    url = server.page("/", pdf([f"Words of page {number}" for number in range(1, 101)]), "application/pdf")
    answer = fetch(url, within=make_context(max_bytes=1000))
    assert answer["content"].startswith("## Page 1\n\nWords of page 1\n\n## Page 2")
    assert answer["truncated"]
    assert "total_lines" not in answer  # of which nobody knows
    rest = fetch(url, offset=answer["next_offset"], limit=4)
    assert "Words of page " in rest["content"]
    assert fetch(url)["content"].endswith("Words of page 100")


@pytest.mark.process
def test_a_pdf_is_read_from_the_page_on_that_the_fragment_names(server: Server, fetch: Fetch) -> None:
    url = server.page("/", pdf(["One", "Two", "Three"]), "application/pdf")
    assert fetch(f"{url}#page=2")["content"] == "## Page 2\n\nTwo\n\n## Page 3\n\nThree"
    assert fetch(f"{url}#page=99")["content"] == "## Page 3\n\nThree"


@pytest.mark.process
def test_what_the_reader_warns_of_goes_nowhere(server: Server, fetch: Fetch, capfd: pytest.CaptureFixture[str]) -> None:
    body = pdf(["Words"]).replace(b"startxref\n", b"startxref\n9")
    assert fetch(server.page("/", body, "application/pdf"))["content"].endswith("Words")
    assert capfd.readouterr() == ("", "")
