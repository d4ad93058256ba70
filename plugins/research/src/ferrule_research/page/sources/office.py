"""Word documents and PowerPoint presentations, read by the libraries of the extra `documents`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ferrule_fetch.library import Page, PartTooExpensive, TooMuch, bounded, bounded_part, convert_page
from ferrule_research.hosts import host_of
from ferrule_research.page.content import PageContent
from ferrule_research.page.errors import CONFIG, EMPTY, page_error
from ferrule_research.page.metadata.authors import parse_authors
from ferrule_research.page.metadata.bibliography import Bibliography
from ferrule_research.page.metadata.dates import read_date
from ferrule_research.page.metadata.embedded import one_line
from ferrule_research.page.sources.url_kinds import DOCX, PPTX

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.table import Table
    from pptx.text.text import TextFrame, _Run

    from ferrule import Context

_LIBRARIES = {DOCX: "mammoth", PPTX: "pptx"}
_MAX_SECONDS = 12.0
_SLIDE_SECONDS = 3.0
_MAX_UNPACKED_BYTES = 100 << 20  # all that is packed in a document
_MAX_PROPERTIES_BYTES = 1 << 16
_CORE = re.compile(r"<(?:dc|dcterms|cp):(title|creator|created)\b[^>]*>([^<]*)</")


class _UnreadableDocument(Exception):
    """A document of which there is nothing to be had; its only argument says why."""


def read_office(page: Page, kind: str, asked: str, context: Context) -> PageContent:
    """The text of a document. asked: the URL that errors name. Raises ToolError."""
    library = _LIBRARIES[kind]
    if find_spec(library) is None:
        sentence = f"{kind.upper()} is read by the extra `documents` of ferrule-research, which is not installed"
        # The host knows by the name which extra of tool.json is missing, and how it is installed here.
        raise page_error(CONFIG, asked, sentence) from ModuleNotFoundError(sentence, name=library)
    read = _docx if kind == DOCX else _pptx
    try:
        found = bounded(_work(read, page.body), _UnreadableDocument, seconds=_MAX_SECONDS, deadline=context.deadline)
    except (_UnreadableDocument, TooMuch) as error:
        why = str(error) or "it takes too much time or memory to read"
        raise page_error(EMPTY, asked, f"{kind.upper()}, {why}") from None
    document = json.loads(found)
    heading, text, _ = convert_page(document["html"], page.url, context.deadline)
    if not text.strip():
        raise page_error(EMPTY, asked, f"{kind.upper()}, it has no text")
    bibliography = Bibliography(
        document.get("title") or heading,
        parse_authors(document.get("creator", "")),
        host_of(page.url).removeprefix("www."),
        read_date(document.get("created", "")),
    )
    return PageContent(page.url, kind, text, bibliography, quality="partial" if page.missing else "complete")


def _work(read: Callable[[bytes], str], body: bytes) -> Callable[[], str]:
    def work() -> str:
        try:
            with ZipFile(BytesIO(body)) as archive:
                facts = _core(archive)
            return json.dumps({**facts, "html": read(body)})
        except _UnreadableDocument:
            raise
        except Exception as error:  # noqa: BLE001 - the libraries fail on malformed files in every way that Python knows
            if _is_lack_of_memory(error):
                raise MemoryError from None
            raise _UnreadableDocument("it is malformed") from None

    return work


def _is_lack_of_memory(error: BaseException) -> bool:
    """Whether an error, or the one that it came of, says that there is no memory; the parsers of XML have their own."""
    codes = {"xml.parsers.expat": 1, "lxml.etree": 2}
    code: object = getattr(error, "code", None)
    if isinstance(error, MemoryError) or (code is not None and codes.get(type(error).__module__) == code):
        return True
    origin = error.__cause__ or error.__context__
    return origin is not None and _is_lack_of_memory(origin)


def _core(archive: ZipFile) -> dict[str, str]:
    """Title, author and date of a document, by the properties that it has in common with others."""
    if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNPACKED_BYTES:
        raise _UnreadableDocument("it is larger unpacked than can be read")
    if "docProps/core.xml" not in archive.namelist():
        return {}
    from html import unescape

    text = archive.read("docProps/core.xml")[:_MAX_PROPERTIES_BYTES].decode(errors="replace")
    return {name: one_line(unescape(value)) for name, value in _CORE.findall(text)}


def _docx(body: bytes) -> str:
    import mammoth

    from ferrule_research.page.sources.hidden_runs import without_hidden_runs

    # Without the images, each of which would stand in the text, as data.
    result = mammoth.convert_to_html(
        BytesIO(without_hidden_runs(body)), convert_image=lambda _: [], include_embedded_style_map=False
    )
    return str(result.value)


def _pptx(body: bytes) -> str:
    from pptx import Presentation

    slides = Presentation(BytesIO(body)).slides
    return "".join(_bounded_slide(slide, number) for number, slide in enumerate(slides, start=1))


def _bounded_slide(slide: Slide, number: int) -> str:
    """A slide as HTML, or why there is none: it may not cost the others."""
    try:
        with bounded_part(_SLIDE_SECONDS):
            return _slide(slide, number)
    except PartTooExpensive:
        why = "takes too much time or memory to read"
    except Exception:  # noqa: BLE001 - the library fails on malformed slides in every way that Python knows
        why = "cannot be read"
    return f"<h2>Slide {number}</h2><p>[This slide {why}.]</p>"


def _slide(slide: Slide, number: int) -> str:
    title = slide.shapes.title
    heading = title.text_frame.text.strip() if title is not None and title.has_text_frame else ""
    is_hidden = slide._element.get("show") in ("0", "false")  # which python-pptx has no name for
    place = f"Slide {number}{' (hidden)' if is_hidden else ''}"
    html = [f"<h2>{place}{f': {escape(_line(heading))}' if heading else ''}</h2>"]
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            html.append(_shape(shape))
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None and notes.text.strip():
        html.append(f"<h3>Notes</h3>{_paragraphs(notes)}")
    return "".join(html)


def _shapes(shapes: Iterable[BaseShape]) -> Iterator[BaseShape]:
    """The shapes in their order, those in groups too."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape(shape: BaseShape) -> str:
    from pptx.shapes.autoshape import Shape
    from pptx.shapes.graphfrm import GraphicFrame

    if isinstance(shape, GraphicFrame) and shape.has_table:
        return _table(shape.table)
    return _paragraphs(shape.text_frame) if isinstance(shape, Shape) else ""


def _table(table: Table) -> str:
    rows = []
    for number, row in enumerate(table.rows):
        name = "td" if number else "th"
        rows.append("".join(f"<{name}>{escape(_line(cell.text))}</{name}>" for cell in row.cells))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _paragraphs(frame: TextFrame) -> str:
    html = []
    for paragraph in frame.paragraphs:
        runs = "".join(_run(run) for run in paragraph.runs) or escape(paragraph.text)
        if runs.strip():
            html.append(f"<p>{runs}</p>")
    return "".join(html)


def _run(run: _Run) -> str:
    address = run.hyperlink.address
    return f'<a href="{escape(address)}">{escape(run.text)}</a>' if address else escape(run.text)


def _line(text: str) -> str:
    return " ".join(text.split())
