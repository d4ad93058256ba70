"""Word documents and PowerPoint presentations, read by the libraries of the extra `documents`."""

from __future__ import annotations

import json
import re
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from ferrule_fetch.library import Page, TooMuch, bounded, converted
from ferrule_research.page.content import Reading
from ferrule_research.page.errors import CONFIG, EMPTY, problem
from ferrule_research.page.metadata.authors import people
from ferrule_research.page.metadata.bibliography import Facts
from ferrule_research.page.metadata.dates import read_date
from ferrule_research.page.metadata.hosts import host_of
from ferrule_research.page.sources.url_kinds import DOCX, PPTX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrule import Context, ToolError

_LIBRARIES = {DOCX: "mammoth", PPTX: "pptx"}
_SECONDS = 12.0
_MOST_UNPACKED = 100 << 20  # bytes of all that is packed in a document
_LOOKED_AT = 1 << 16
_CORE = re.compile(r"<(?:dc|dcterms|cp):(title|creator|created)\b[^>]*>([^<]*)</")


class _Unreadable(Exception):
    """A document of which there is nothing to be had; its only argument says why."""


def read_office(page: Page, kind: str, asked: str, context: Context) -> Reading:
    """The text of a document. asked: the URL that errors name. Raises ToolError."""
    if not _is_installed(_LIBRARIES[kind]):
        raise _missing_extra(kind, asked)
    read = _docx if kind == DOCX else _pptx
    try:
        found = bounded(_work(read, page.body), _Unreadable, seconds=_SECONDS, deadline=context.deadline)
    except (_Unreadable, TooMuch) as error:
        why = str(error) or "it takes too much time or memory to read"
        raise problem(EMPTY, asked, f"{kind.upper()}, {why}") from None
    document = json.loads(found)
    heading, text = converted(document["html"], page.url, context.deadline)
    if not text.strip():
        raise problem(EMPTY, asked, f"{kind.upper()}, it has no text")
    facts = Facts(
        document.get("title") or heading,
        people(document.get("creator", "")),
        host_of(page.url).removeprefix("www."),
        read_date(document.get("created", "")),
    )
    return Reading(page.url, kind, text, facts, quality="partial" if page.missing else "complete")


def _is_installed(library: str) -> bool:
    from importlib.util import find_spec

    return find_spec(library) is not None


def _missing_extra(kind: str, asked: str) -> ToolError:
    sentence = f"{kind.upper()} is read by the extra `documents`, which is not installed"
    return problem(CONFIG, asked, f"{sentence}: pip install 'ferrule-research[documents]'")


def _work(read: Callable[[bytes], str], body: bytes) -> Callable[[], str]:
    def work() -> str:
        try:
            with ZipFile(BytesIO(body)) as archive:
                facts = _core(archive)
            return json.dumps({**facts, "html": read(body)})
        except (_Unreadable, MemoryError):
            raise
        except Exception:  # noqa: BLE001 - the libraries fail on malformed files in every way that Python knows
            raise _Unreadable("it is malformed") from None

    return work


def _core(archive: ZipFile) -> dict[str, str]:
    """Title, author and date of a document, by the properties that it has in common with others."""
    if sum(entry.file_size for entry in archive.infolist()) > _MOST_UNPACKED:
        raise _Unreadable("it is larger unpacked than can be read")
    if "docProps/core.xml" not in archive.namelist():
        return {}
    from html import unescape

    text = archive.read("docProps/core.xml")[:_LOOKED_AT].decode(errors="replace")
    return {name: " ".join(unescape(value).split()) for name, value in _CORE.findall(text)}


def _docx(body: bytes) -> str:
    import mammoth

    def no_image(_: Any) -> list[Any]:
        return []  # else each would stand in the text, as data

    result = mammoth.convert_to_html(BytesIO(body), convert_image=no_image, include_embedded_style_map=False)
    return str(result.value)


def _pptx(body: bytes) -> str:
    from pptx import Presentation

    slides = Presentation(BytesIO(body)).slides
    return "".join(_slide(slide, number) for number, slide in enumerate(slides, start=1))


def _slide(slide: Any, number: int) -> str:
    title = slide.shapes.title
    heading = title.text_frame.text.strip() if title is not None and title.has_text_frame else ""
    html = [f"<h2>Slide {number}{f': {escape(_line(heading))}' if heading else ''}</h2>"]
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            html.append(_shape(shape))
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None and notes.text.strip():
        html.append(f"<h3>Notes</h3>{_paragraphs(notes)}")
    return "".join(html)


def _shapes(shapes: Any) -> Iterator[Any]:
    """The shapes in their order, those in groups too."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape(shape: Any) -> str:
    if getattr(shape, "has_table", False):
        return _table(shape.table)
    return _paragraphs(shape.text_frame) if getattr(shape, "has_text_frame", False) else ""


def _table(table: Any) -> str:
    rows = []
    for number, row in enumerate(table.rows):
        name = "td" if number else "th"
        rows.append("".join(f"<{name}>{escape(_line(cell.text))}</{name}>" for cell in row.cells))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _paragraphs(frame: Any) -> str:
    html = []
    for paragraph in frame.paragraphs:
        runs = "".join(_run(run) for run in paragraph.runs) or escape(paragraph.text)
        if runs.strip():
            html.append(f"<p>{runs}</p>")
    return "".join(html)


def _run(run: Any) -> str:
    address = run.hyperlink.address
    return f'<a href="{escape(address)}">{escape(run.text)}</a>' if address else escape(run.text)


def _line(text: str) -> str:
    return " ".join(text.split())
