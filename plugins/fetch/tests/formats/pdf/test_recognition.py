"""Pages that are pictures of text are read by text recognition, where that is installed."""

import time

import pytest

from ferrule_fetch.formats.pdf import document, read_pdf, recognition
from ferrule_fetch.formats.pdf.document import Document
from ferrule_fetch.formats.pdf.errors import UnreadablePDF
from ferrule_fetch.text.wanted import Wanted
from ferrule_testkit.documents import drawn_pdf, line, pdf
from ferrule_testkit.scans import scan

_needs_ocr = pytest.mark.skipif(not recognition.is_installed(), reason="the extra ocr is not installed")
_LINES = ["The dam was built by engineers who", "measured the level of the water before", "they opened the gates."]


def scan_lines() -> str:
    heading = line("Report on the spillway", 72, 720, 22, "F2")
    return scan(heading + "".join(line(text, 72, 680 - 15 * at, 12) for at, text in enumerate(_LINES)))


@pytest.mark.slow
@_needs_ocr
@pytest.mark.process
def test_a_scanned_page_is_read_and_said_to_be() -> None:
    text = Document(drawn_pdf([scan_lines()])).read(0, "http://h/").text
    mark, _, words = text.partition("\n\n")
    assert mark.startswith("[Text recognition (OCR) has read this page from a picture, ")
    assert words.startswith("### Report on the spillway\n\n")
    assert " ".join(_LINES) in " ".join(words.split())


@_needs_ocr
@pytest.mark.process
def test_a_picture_without_text_is_said_to_be_one() -> None:
    record = Document(drawn_pdf([scan("0.5 g 100 100 400 500 re f")])).read(0, "http://h/")
    assert (record.text, record.note) == ("", document.SCANNED)


@_needs_ocr
@pytest.mark.process
def test_a_page_with_a_scan_stands_among_the_others() -> None:
    body = drawn_pdf([line("One", 72, 700), scan_lines(), line("Three", 72, 700)])
    text = read_pdf(body, "http://h/", time.monotonic() + 600, Wanted(), 120).text
    assert text.startswith("## Page 1\n\nOne\n\n## Page 2\n\n[Text recognition (OCR)")
    assert "spillway" in text
    assert text.endswith("## Page 3\n\nThree")


@_needs_ocr
def test_a_page_has_a_limit_of_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "_MAX_PIXELS", 10_000)
    image = recognition._draw_page(Document(pdf(["Words"]))._handle, 0)
    assert image.width * image.height <= 10_000


@pytest.mark.process
def test_without_the_extra_a_scan_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "is_installed", lambda: False)
    record = Document(drawn_pdf([scan("0.5 g 100 100 400 500 re f")])).read(0, "http://h/")
    assert (record.text, record.note) == ("", document.NEEDS_OCR)
    with pytest.raises(UnreadablePDF, match=r'pip install "ferrule-fetch\[ocr\]"'):
        read_pdf(drawn_pdf([scan("0.5 g 9 9 400 500 re f")]), "http://h/", time.monotonic() + 60, Wanted())
