"""Word documents, read by mammoth."""

from __future__ import annotations

from io import BytesIO

from ferrule_fetch.formats.documents.archive import DocumentText, open_archive, read_properties
from ferrule_fetch.formats.documents.hidden_runs import without_hidden_runs
from ferrule_fetch.markdown import convert


def read_word(body: bytes, url: str) -> DocumentText:
    """The text of a Word document. Raises what the library raises."""
    import mammoth

    with open_archive(body) as archive:
        facts = read_properties(archive, "docProps/core.xml")
    # Without the images, each of which would stand in the text, as data.
    result = mammoth.convert_to_html(
        BytesIO(without_hidden_runs(body)), convert_image=lambda _: [], include_embedded_style_map=False
    )
    heading, text, _ = convert(result.value, url)
    return facts._replace(title=facts.title or heading, text=text)
