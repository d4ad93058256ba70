"""Notes whose title or content holds a text, whatever its case."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_opennotes.notebook.notes import Note


def containing(notes: Iterable[Note], query: str) -> list[Note]:
    """The notes that hold the query as it stands, in their order. Letters are compared without case."""
    wanted = folded(query)
    return [note for note in notes if wanted in folded(note.text) or wanted in folded(note.name)]


def folded(text: str) -> str:
    """The text as it is compared: without case, and each letter written in one way."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()
