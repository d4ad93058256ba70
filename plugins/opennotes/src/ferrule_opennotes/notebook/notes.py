"""One note: a markdown file of a notebook, read when something of it is first asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule_opennotes.notebook import blocks, dates, prose
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.frontmatter import Reading

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.answers.types import NoteSummary
    from ferrule_opennotes.notebook.blocks import Block

_HEAD_BYTES = 8192  # bytes; most notes are shorter, and most that are not have their frontmatter in them
_MAX_BYTES = 1 << 26  # bytes of one note that are looked at
_PIECE_BYTES = 1 << 20
_MIN_LOOK_BYTES = 16
_LOOK_BYTES, _NUL_SHARE = 512, 0.6  # bytes by which UTF-16 without a mark is known, and the share of NUL in one half
_MODIFIED = ("modified", "modified_at", "updated", "updated_at")
_CREATED = ("created", "created_at", "date")


class Note:
    """A note.

    path: relative to the notebook's root, with "/" between its parts. absolute: where the file is. mtime: when it was
    last written, in seconds since 1970. encoding: of what was read of it. A file that cannot be read any more counts
    as empty.
    """

    __slots__ = ("_beginning", "_heading", "_raw", "_reading", "_text", "absolute", "encoding", "mtime", "path")

    def __init__(self, path: str, absolute: str, mtime: float) -> None:
        self.path = path
        self.absolute = absolute
        self.mtime = mtime
        self._text: str | None = None
        self._beginning: str | None = None
        self._raw: tuple[Block | None] | None = None
        self._heading: tuple[str | None] | None = None
        self.encoding = ""
        self._reading: Reading | None = None

    @property
    def text(self) -> str:
        """The whole file, as UTF-8 or UTF-16. Bytes that are neither are replaced, and so is NUL."""
        if self._text is None:
            self._text = self._decode(_read(self.absolute, _MAX_BYTES))
        return self._text

    @property
    def body(self) -> str:
        """What follows the frontmatter; the whole text where that cannot be read."""
        return blocks.split(self.text)[1] if self._read().fields is not None else self.text

    @property
    def frontmatter(self) -> JSONObject:
        """The fields of the frontmatter with JSON's types, `{}` if there is none or none that can be read."""
        return self._read().fields or {}

    @property
    def fault(self) -> str | None:
        """Why the frontmatter is not what its marks say, and how it is read then; None where it is."""
        block, reading = self._block(), self._read()
        if block is None or reading.fault is None:
            return None
        how = "counts as text" if reading.fields is None else "is read line by line"
        return f"{block.form} refuses the frontmatter ({reading.fault}), so it {how}."

    @property
    def title(self) -> str | None:
        """The frontmatter's `title`, else the first heading of the text; None if there is neither."""
        title = self.frontmatter.get("title")
        if title is None or isinstance(title, dict | list) or not str(title).strip():
            return self._find_heading()
        return to_text(title).strip()  # a folded one ends with a line feed

    @property
    def name(self) -> str:
        """The title, or if there is none, the file's name without `.md`."""
        return self.title or self.path.rpartition("/")[2].removesuffix(".md")

    @property
    def tags(self) -> list[str]:
        """The frontmatter's `tags` and `tag`, lists or texts that commas divide, then those of the text; each once."""
        fields = self.frontmatter
        found = [tag for field in ("tags", "tag") for tag in _split_tags(fields.get(field))]
        return list(dict.fromkeys([*(tag.removeprefix("#") or tag for tag in found), *prose.find_tags(self.body)]))

    @property
    def aliases(self) -> list[str]:
        """Further names of the note, by its frontmatter's `aliases` and `alias`."""
        block = self._block()
        if block is None or "alias" not in block.source:
            return []
        return [name for field in ("aliases", "alias") for name in _split_tags(self.frontmatter.get(field))]

    @property
    def created(self) -> str | None:
        """When the note was created, by its frontmatter: ISO 8601. None where it does not say."""
        return self._date(_CREATED)

    @property
    def stated_modified(self) -> str | None:
        """When the note was modified by its frontmatter: ISO 8601. None where it does not say."""
        return self._date(_MODIFIED)

    @property
    def modified(self) -> str:
        """When the note was modified, by its frontmatter, else by the file: ISO 8601."""
        return self.stated_modified or dates.from_timestamp(self.mtime)

    @property
    def modified_at(self) -> float:
        """Seconds since 1970 of `modified`."""
        stated = dates.to_seconds(self.stated_modified)
        return int(self.mtime) if stated is None else stated

    def summarize(self) -> NoteSummary:
        """`path`, `title`, `tags`, `created`, `modified`; what the note does not say is left out."""
        summary: NoteSummary = {"path": self.path}
        if title := self.title:
            summary["title"] = title
        if tags := self.tags:
            summary["tags"] = tags
        if created := self.created:
            summary["created"] = created
        summary["modified"] = self.modified
        return summary

    def _date(self, names: tuple[str, ...]) -> str | None:
        block = self._block()
        # Most notes do not say, and need no YAML to be told apart.
        if block is None or not any(name in block.source for name in names):
            return None
        return next((found for name in names if (found := dates.to_iso(self.frontmatter.get(name)))), None)

    def _read(self) -> Reading:
        if self._reading is None:
            block = self._block()
            self._reading = Reading(None) if block is None else blocks.read(block)
        return self._reading

    def _block(self) -> Block | None:
        """The frontmatter, of as much of the file as that takes."""
        if self._raw is None:
            beginning = self._begin()
            block = blocks.split(beginning)[0]
            if block is None and self._text is None and blocks.may_begin(beginning):
                block = blocks.split(self.text)[0]
            self._raw = (block,)
        return self._raw[0]

    def _find_heading(self) -> str | None:
        """The first heading, of as much of the file as that takes."""
        if self._heading is None:
            found = None
            if self._text is None and not blocks.may_begin(self._begin()):
                # The last two lines may go on behind what was read.
                found = prose.find_title("\n".join(self._begin().split("\n")[:-2]))
            self._heading = (found or prose.find_title(self.body),)
        return self._heading[0]

    def _decode(self, data: bytes) -> str:
        self.encoding = _guess_encoding(data)
        text = data.decode(self.encoding, "replace")
        return make_storable(text if self.encoding == "utf-8" else text.removeprefix("\ufeff"))

    def _begin(self) -> str:
        if self._text is not None:
            return self._text
        if self._beginning is None:
            head = _read(self.absolute, _HEAD_BYTES)
            self._beginning = self._decode(head)
            if len(head) < _HEAD_BYTES:
                self._text = self._beginning
        return self._beginning


def to_text(value: object) -> str:
    """A value of the frontmatter as YAML would write it: `true`, `3`, `null`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def list_texts(value: object) -> list[str]:
    """What a field of the frontmatter holds, as text: each item of a list, or the one value; no nested ones."""
    items = value if isinstance(value, list) else [value]
    return [to_text(item) for item in items if item is not None and not isinstance(item, dict | list)]


def _split_tags(value: object) -> list[str]:
    texts = value.split(",") if isinstance(value, str) else list_texts(value)
    return [text.strip() for text in texts if text.strip()]


def _guess_encoding(data: bytes) -> str:
    """UTF-16 where a mark says so and there is a NUL, as in blanks, or most of every second byte is one; else UTF-8."""
    if b"\0" not in data[:_LOOK_BYTES]:
        return "utf-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16-le" if data.startswith(b"\xff") else "utf-16-be"
    if len(data) < _MIN_LOOK_BYTES:
        return "utf-8"
    even, odd = data[:_LOOK_BYTES:2], data[1:_LOOK_BYTES:2]
    nul_even, nul_odd = (part.count(0) / max(1, len(part)) for part in (even, odd))
    if max(nul_even, nul_odd) < _NUL_SHARE or min(nul_even, nul_odd) > 1 - _NUL_SHARE:
        return "utf-8"
    return "utf-16-le" if nul_odd > nul_even else "utf-16-be"


def _read(path: str, most: int) -> bytes:
    pieces, file = [], -1
    try:
        # A pipe that took the file's place must not hang the call.
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        while most > 0:
            piece = os.read(file, min(most, _PIECE_BYTES))
            pieces.append(piece)
            if len(piece) < min(most, _PIECE_BYTES):  # the end, which another read would only confirm
                break
            most -= len(piece)
    except OSError:
        return b""
    finally:
        if file >= 0:
            os.close(file)
    return b"".join(pieces)
