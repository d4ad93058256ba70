"""The links between the notes of a notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes.links.markdown import Kind, Link, find_in_body, find_in_field
from ferrule_opennotes.links.resolution import Places
from ferrule_opennotes.notebook import blocks

if TYPE_CHECKING:
    from ferrule_opennotes.notebook.notes import Note


class Target(NamedTuple):
    """What a link points to.

    written: the destination as the note has it. kind: `link`, `image`, `wiki` or `field`. note: the path of the note
    that it leads to, None where it is something else. exists: whether the notebook has anything of that name.
    """

    written: str
    kind: Kind
    note: str | None
    exists: bool


class Links:
    """What the notes of a notebook point to. Links out of the notebook, to the web for instance, count for nothing.

    notes: all of the notebook. root: the absolute folder of the notes.
    """

    def __init__(self, notes: Sequence[Note], root: str) -> None:
        self._notes = notes
        self._places = Places(notes, root)
        self._outgoing: dict[str, list[Target]] = {}

    def outgoing(self, note: Note) -> list[Target]:
        """Every link of a note, in its order, repeated ones too: the frontmatter's, then those of the text."""
        if note.path not in self._outgoing:
            folder = note.path.rpartition("/")[0]
            self._outgoing[note.path] = [self._target(link, folder) for link in _read_links(note)]
        return self._outgoing[note.path]

    def targets(self, note: Note) -> set[str]:
        """The paths of the notes that a note points to."""
        return {target.note for target in self.outgoing(note) if target.note is not None}

    def incoming(self, path: str) -> set[str]:
        """The paths of the notes that point to the note at `path`, itself included where it does."""
        return self._incoming.get(path, set())

    def broken(self, note: Note) -> list[str]:
        """The links of a note that name nothing in the notebook, as they are written, each once."""
        return list(dict.fromkeys(target.written for target in self.outgoing(note) if not target.exists))

    @cached_property
    def _incoming(self) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for note in self._notes:
            for target in self.targets(note):
                found[target].add(note.path)
        return dict(found)

    def _target(self, link: Link, folder: str) -> Target:
        # An image shows what it names; that makes it no link to a note.
        note = None if link.kind == "image" else self._places.find_note(link, folder)
        exists = note is not None or self._places.exists(link, folder)
        return Target(link.destination, link.kind, note, exists)


def _read_links(note: Note) -> list[Link]:
    block, rest = blocks.split(note.text)
    if block is None:
        return find_in_body(rest)
    # YAML is slow, and most frontmatter has nothing to do with links.
    fields = note.frontmatter if any(mark in block.source for mark in ("links", "[[", "](")) else {"": None}
    return find_in_field(fields.get("links")) + find_in_body(rest if fields else note.text)
