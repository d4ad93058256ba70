"""Books, texts of OpenDocument and e-mails come back as markdown; what is made to cost too much does not."""

import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from io import BytesIO
from typing import Any
from xml.parsers.expat import ExpatError

import pytest

from ferrule import ToolError
from ferrule_dev.testing import Server
from ferrule_fetch.formats.documents import book as book_module
from ferrule_fetch.formats.documents import readers, slides
from ferrule_fetch.formats.documents.archive import DocumentText, UnreadableDocument
from ferrule_fetch.formats.documents.book import read_book
from ferrule_fetch.formats.documents.mail import read_mail
from ferrule_fetch.formats.documents.opendocument import read_opendocument

Fetch = Callable[..., dict[str, Any]]
Error = Callable[..., tuple[str, str]]

ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
_NAMES = 'xmlns:text="t" xmlns:office="o" xmlns:table="b" xmlns:xlink="x" xmlns:draw="d" xmlns:dc="c" xmlns:meta="m"'


def packed(media: str, parts: dict[str, str]) -> bytes:
    """An archive that begins with what it is, as these documents do."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", media)
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def text_document(content: str) -> bytes:
    text = f"<office:body><office:text>{content}</office:text></office:body>"
    facts = "<dc:title>A &amp; B</dc:title><meta:initial-creator>Ann Lee</meta:initial-creator>"
    facts += "<meta:creation-date>2024-03-05T10:00:00</meta:creation-date>"
    return packed(ODT, {"content.xml": f"<d {_NAMES}>{text}</d>", "meta.xml": f"<m {_NAMES}>{facts}</m>"})


def book(chapters: dict[str, str], order: list[str], **more: str) -> bytes:
    items = "".join(f'<item id="{name}" href="text/{name}.xhtml"/>' for name in chapters)
    spine = "".join(f'<itemref idref="{name}"/>' for name in order)
    facts = "<dc:title>The book</dc:title><dc:creator>Ann Lee</dc:creator><dc:creator>Bo Ek</dc:creator>"
    package = f"<metadata>{facts}</metadata><manifest>{items}</manifest><spine>{spine}</spine>"
    container = '<container xmlns="c"><rootfiles><rootfile full-path="in/a.opf"/></rootfiles></container>'
    parts = {
        "META-INF/container.xml": container,
        "in/a.opf": f'<package xmlns="p" xmlns:dc="d">{package}</package>',
        **{f"in/text/{name}.xhtml": f"<html><body>{text}</body></html>" for name, text in chapters.items()},
    }
    return packed(EPUB, parts | more)


def test_a_text_of_opendocument_is_read() -> None:
    table = (
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="2"><text:p>b</text:p></table:table-cell></table:table-row>'
        "</table:table>"
    )
    found = read_opendocument(
        text_document(
            '<text:h text:outline-level="2">Heading</text:h><text:p>Some<text:s/>words, '
            '<text:a xlink:href="/there">a link</text:a><text:note><text:note-citation>1</text:note-citation>'
            "<text:note-body><text:p>a note</text:p></text:note-body></text:note>.</text:p>"
            "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
            f"<text:tracked-changes>deleted</text:tracked-changes>{table}"
        ),
        "http://h/",
    )
    assert found._replace(text="") == DocumentText("A & B", "", "Ann Lee", "2024-03-05T10:00:00")
    assert found.text.startswith("## Heading\n\nSome words, [a link](http://h/there)")
    assert "a note" in found.text
    assert "- item" in found.text
    assert "| a | b |" in found.text
    assert "deleted" not in found.text


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    found = read_book(book({"b": "<h1>Second</h1>", "a": "<h1>First</h1><p>Words.</p>"}, ["a", "b", "a", "none"]), "")
    assert found == DocumentText("The book", "# First\n\nWords.\n\n# Second", "Ann Lee; Bo Ek")


def test_a_book_that_is_encrypted_says_so() -> None:
    with pytest.raises(UnreadableDocument, match="it is encrypted"):
        read_book(book({"a": ""}, ["a"], **{"META-INF/encryption.xml": "<e/>"}), "")


def mail(html: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Ann Lee <ann@example.org>", "bo@example.org"
    message["Subject"], message["Date"] = "The *plan*", "Tue, 05 Mar 2024 10:00:00 +0000"
    message.set_content("Hello Bo,\nhere it is.\n\nAnn")
    if html:
        message.add_alternative(html, subtype="html")
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="plan.pdf")
    return message


def test_a_mail_is_its_head_its_words_and_its_attachments() -> None:
    found = read_mail(mail().as_bytes(), "")
    assert found[::2] == ("The *plan*", "Ann Lee")
    assert found.date == "2024-03-05"
    assert "**From:** Ann Lee \\<ann@example.org>" in found.text
    assert "Hello Bo," in found.text
    assert found.text.endswith("Attached:\n\n- plan.pdf")


def test_the_html_of_a_mail_is_read_where_there_is_some() -> None:
    text = read_mail(mail("<p>See <a href='http://h/x'>this</a></p>").as_bytes(), "").text
    assert "See [this](http://h/x)" in text
    assert "Hello Bo" not in text


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "path", "media", "words"),
    [
        (lambda: text_document("<text:p>Some words.</text:p>"), "/", "application/octet-stream", "Some words."),
        (lambda: text_document("<text:p>Some words.</text:p>"), "/", ODT, "Some words."),
        (lambda: book({"a": "<p>Some words.</p>"}, ["a"]), "/", EPUB, "Some words."),
        (lambda: mail().as_bytes(), "/", "message/rfc822", "here it is."),
        (lambda: mail().as_bytes(), "/a.eml", "text/plain", "here it is."),
    ],
)
def test_a_document_is_known_by_what_is_in_it_or_by_its_type(
    server: Server, fetch: Fetch, body: Callable[[], bytes], path: str, media: str, words: str
) -> None:
    assert words in fetch(server.page(path, body(), media))["content"]


ENTITIES = '<!DOCTYPE x [<!ENTITY a "b">' + "".join(f'<!ENTITY a{n} "{"&a;" * 9}">' for n in range(9)) + "]>"


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (lambda: text_document("<text:p>" + " " * (101 << 20) + "</text:p>"), "it is larger unpacked than can be read"),
        (lambda: text_document("<text:span>" * 100_000 + "</text:span>" * 100_000), "it is nested too deeply"),
        (lambda: packed(ODT, {"content.xml": f"{ENTITIES}<x>&a8;</x>"}), "it is malformed"),
        (lambda: text_document("<text:p>a</text:p>")[:-300], "it is malformed"),
        (lambda: text_document(""), "it has no text"),
        (lambda: packed(EPUB, {"a": "b"}), "it is malformed"),
        (lambda: book({}, []), "it has no text"),
    ],
    ids=["unpacks to too much", "nested", "entities", "cut off", "empty", "no book", "no chapters"],
)
def test_a_document_that_cannot_be_read_says_why(
    server: Server, error: Error, body: Callable[[], bytes], why: str
) -> None:
    code, message = error(server.page("/", body(), "application/octet-stream"))
    assert code == "PARSE_ERROR"
    assert message.endswith(f", but {why}")


def test_a_row_of_repeated_cells_is_no_bomb() -> None:
    cell = '<table:table-cell table:number-columns-repeated="99999"><text:p>x</text:p></table:table-cell>'
    rows = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    assert read_opendocument(text_document(rows), "").text.count("|") < 300


@pytest.mark.process
def test_without_the_extra_the_error_says_what_is_missing(
    server: Server, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "find_spec", lambda library: None)
    body = BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    with pytest.raises(ToolError) as raised:
        fetch(server.page("/", body.getvalue()))
    assert raised.value.code == "MISSING_EXTRA"
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)
    assert raised.value.__cause__.name == "python_calamine"


@pytest.mark.slow
def test_one_expensive_slide_does_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slides, "_SLIDE_SECONDS", 0.3)
    show = pytest.importorskip("pptx").Presentation()
    for text in ("First.", "\n".join("x" * 50_000), "Last."):
        show.slides.add_slide(show.slide_layouts[1]).placeholders[1].text = text
    file = BytesIO()
    show.save(file)
    note = "[This slide takes too much time or memory to read.]"
    text = slides.read_slides(file.getvalue(), "").text
    assert text == f"## Slide 1\n\nFirst.\n\n## Slide 2\n\n{note}\n\n## Slide 3\n\nLast."


def test_a_lack_of_memory_in_a_library_is_none_of_the_document() -> None:
    etree = pytest.importorskip("lxml.etree")
    expat = ExpatError("out of memory: line 1, column 0")
    expat.code = 1  # there is no way to have memory end in the parser and nowhere else

    chained = KeyError("w:p")  # as of a library that knows nothing of it
    chained.__context__ = MemoryError()

    def fail(error: Exception) -> Callable[[bytes, str], DocumentText]:
        def read(body: bytes, url: str) -> DocumentText:
            raise error

        return read

    for error in (expat, etree.XMLSyntaxError("unknown error", 2, 0, 0), chained):
        with pytest.raises(MemoryError):
            readers._read_safely(fail(error), b"", "")


def test_what_is_nested_too_deeply_in_a_text_costs_itself_alone() -> None:
    deep = "<text:section>" * 400 + "<text:p>deep</text:p>" + "</text:section>" * 400
    text = read_opendocument(text_document(f"<text:p>before</text:p>{deep}<text:p>after</text:p>"), "").text
    assert text == "before\n\n[What is nested more deeply here is left out.]\n\nafter"


def test_a_chapter_that_cannot_be_read_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    body = book({"a": "<p>first</p>", "b": "<p>second</p>", "c": "<p>third</p>"}, ["a", "b", "c"])
    broken = body.replace(b"in/text/b.xhtml", b"in/text/b.xhtmX", 1)  # the name before the chapter is another one
    assert read_book(broken, "").text == "first\n\n[This chapter cannot be read.]\n\nthird"

    def take_too_long(html: str, url: str) -> object:
        if "second" in html:
            raise MemoryError
        return convert(html, url)

    convert = book_module.convert
    monkeypatch.setattr(book_module, "convert", take_too_long)
    text = read_book(body, "").text
    assert text == "first\n\n[This chapter takes too much time or memory to read.]\n\nthird"


@pytest.mark.parametrize("charset", ["nonsense", "rot13", "base64", "x" * 300])
def test_a_mail_in_a_character_set_that_nobody_knows_is_read(charset: str) -> None:
    mail = f"From: a@b.example\nContent-Type: text/plain; charset={charset}\n\nwords that are read"
    assert read_mail(mail.encode(), "").text.endswith("words that are read")
