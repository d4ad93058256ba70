"""PowerPoint presentations, read by python-pptx."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

from ferrule_fetch.formats.documents.archive import DocumentText, open_archive, read_properties
from ferrule_fetch.limits.part import PartTooExpensive, bounded_part
from ferrule_fetch.markdown import convert

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.table import Table
    from pptx.text.text import TextFrame, _Run

_SLIDE_SECONDS = 3.0


def read_slides(body: bytes, url: str) -> DocumentText:
    """The text of a presentation, each slide under a heading. Raises what the library raises."""
    from pptx import Presentation

    with open_archive(body) as archive:
        facts = read_properties(archive, "docProps/core.xml")
    slides = Presentation(BytesIO(body)).slides
    html = "".join(_read_slide(slide, number) for number, slide in enumerate(slides, start=1))
    return facts._replace(text=convert(html, url).markdown)


def _read_slide(slide: Slide, number: int) -> str:
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
