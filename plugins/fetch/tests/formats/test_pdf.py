"""A PDF comes back as the text of its pages."""

import io
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from ferrule import Context
from ferrule_dev.testing import Server
from ferrule_fetch.formats.pdf import pdf_text
from ferrule_testkit.documents import pdf

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]


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


@pytest.mark.slow
@pytest.mark.process
def test_one_expensive_page_does_not_cost_the_others() -> None:
    expensive = ") Tj ET " + "BT /F1 12 Tf (x) Tj ET\n" * 300_000 + "BT ("
    _, text = pdf_text(pdf(["One", expensive, "Three"]), page_seconds=0.3)
    note = "[This page takes too much time or memory to read.]"
    assert text == f"## Page 1\n\nOne\n\n## Page 2\n\n{note}\n\n## Page 3\n\nThree"


@pytest.mark.parametrize("hidden", ["/F1 0.1 Tf (secret) Tj", "0.01 0 0 0.01 72 700 Tm (secret) Tj"])
def test_text_that_is_too_small_to_be_seen_is_left_out(hidden: str) -> None:
    assert pdf_text(pdf([f"Seen) Tj {hidden} ("])) == ("", "## Page 1\n\nSeen")
    assert "secret" in pdf_text(pdf([f") Tj {hidden} ("]))[1]  # rather than nothing at all


@pytest.mark.parametrize(
    "shown", ["/F1 1 Tf 12 0 0 12 72 700 Tm (small unit) Tj", "0.05 0 0 0.05 0 0 cm /F1 240 Tf (small unit) Tj"]
)
def test_the_size_of_text_is_that_of_the_page(shown: str) -> None:
    assert "small unit" in pdf_text(pdf([f"Seen) Tj {shown} ("]))[1]


@pytest.mark.parametrize("kept", ["3 Tr (scanned) Tj", "1 1 1 rg (white) Tj"])
def test_text_that_a_scanner_has_added_or_that_stands_on_a_ground_is_kept(kept: str) -> None:
    assert kept.split("(")[1].split(")")[0] in pdf_text(pdf([f"Seen) Tj {kept} ("]))[1]


def test_a_pdf_of_more_pages_than_there_is_time_for_says_so() -> None:
    time_left = iter([True, True, False])
    _, text = pdf_text(pdf(["One", "Two", "Three"]), lambda: next(time_left))
    assert text.endswith("Two\n\n[The PDF goes on: 2 of its 3 pages were read in the time there was.]")


@pytest.mark.process
def test_what_the_reader_warns_of_goes_nowhere(server: Server, fetch: Fetch, capfd: pytest.CaptureFixture[str]) -> None:
    body = pdf(["Words"]).replace(b"startxref\n", b"startxref\n9")
    assert fetch(server.page("/", body, "application/pdf"))["content"].endswith("Words")
    assert capfd.readouterr() == ("", "")
