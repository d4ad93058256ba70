"""Text that Word hides: runs with the property `vanish`, which mammoth gives back like any others."""

from __future__ import annotations

from io import BytesIO
from xml.etree import ElementTree as ET
from zipfile import ZipFile

from ferrule_fetch.formats.documents.archive import replace_parts

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = ("0", "false", "off")


def without_hidden_runs(body: bytes) -> bytes:
    """A Word document without its hidden runs; the same bytes where it has none.

    Only what a run says of itself counts, and no style. A document of which nothing is left keeps all of its text.
    Raises what ElementTree and zipfile raise.
    """
    with ZipFile(BytesIO(body)) as archive:
        changed = {
            name: shown
            for name in archive.namelist()
            if name.startswith("word/") and name.endswith(".xml") and (shown := _shown(archive.read(name)))
        }
        return replace_parts(archive, changed) if changed else body


def _shown(part: bytes) -> bytes | None:
    """A part of the document without its hidden runs; None where it has none, or nothing else."""
    if b"vanish" not in part:
        return None
    root = ET.fromstring(part)  # noqa: S314 - in a process with limits, as the library that reads it next
    hidden = [(parent, run) for parent in root.iter() for run in parent if run.tag == f"{_WORD}r" and _is_hidden(run)]
    for parent, run in hidden:
        parent.remove(run)
    return ET.tostring(root) if hidden and any(text.text for text in root.iter(f"{_WORD}t")) else None


def _is_hidden(run: ET.Element) -> bool:
    vanish = run.find(f"{_WORD}rPr/{_WORD}vanish")
    return vanish is not None and vanish.get(f"{_WORD}val", "1") not in _OFF
