"""What a tool returns beside text and JSON: `Image`, `Audio` and `File`."""

from __future__ import annotations

import os
import stat

from ferrule.errors import ResultInvalid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, ClassVar

MAX_BYTES = 64 << 20  # of one of them


class Media:
    """Bytes with a media type: what `Image`, `Audio` and `File` have in common.

    source: the bytes themselves, or the path of a file, which is read when the call is over. media_type: such as
    `image/png`; where it is empty, it follows from the name, or from the bytes. name: for the reader; that of the file
    if there is one.

    Raises TypeError for any other source.
    """

    __slots__ = ("_data", "media_type", "name", "path")

    kind: ClassVar[str] = ""
    _family: ClassVar[str] = ""  # with which the media type begins

    def __init__(
        self, source: bytes | bytearray | memoryview | str | os.PathLike[str], media_type: str = "", *, name: str = ""
    ) -> None:
        self._data: bytes | None = None
        self.path = ""
        if isinstance(source, bytes | bytearray | memoryview):
            self._data = bytes(source)
        else:
            self.path = os.fsdecode(source)
        self.media_type = media_type
        self.name = name or os.path.basename(self.path)

    def __repr__(self) -> str:
        what = repr(self.path) if self._data is None else f"{len(self._data):,} bytes"
        return f"{type(self).__name__}({what}, {self.media_type!r})"

    def read(self) -> bytes:
        """The bytes. Raises ResultInvalid for no file, one that cannot be read, and one of more than 64 MiB."""
        data = _read_file(self.path, self.kind) if self._data is None else self._data
        if len(data) > MAX_BYTES:
            raise ResultInvalid(f"The tool's {self.kind} has {len(data):,} bytes, more than {MAX_BYTES:,}.")
        return data

    def type_of(self, data: bytes) -> str:
        """The media type of these bytes, its own. Raises ResultInvalid where that is none of its kind."""
        from ferrule.content.media_types import guess

        media_type = self.media_type or guess(self.name, data)
        if not media_type.startswith(self._family):
            raise ResultInvalid(
                f"The tool's {self.kind} {self.name or '(no name)'} is {media_type}.",
                hint=f"Name its media type, as in {type(self).__name__}(data, {self._family + '…'!r}), or use File.",
            )
        return media_type


class Image(Media):
    """A picture: PNG, JPEG, GIF, WebP, or another format whose media type begins with `image/`."""

    __slots__ = ()
    kind = "image"
    _family = "image/"


class Audio(Media):
    """A sound: WAV, MP3, Ogg, FLAC, or another format whose media type begins with `audio/`."""

    __slots__ = ()
    kind = "audio"
    _family = "audio/"


class File(Media):
    """Any other file: a document, a table, an archive. For text in an answer, return a `str` instead."""

    __slots__ = ()
    kind = "file"


def _read_file(path: str, kind: str) -> bytes:
    try:
        # Without waiting: the path may be that of a FIFO, to which nobody writes.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ResultInvalid(f"The tool's {kind} cannot be read: {reason}: {path}.") from None
    raise ResultInvalid(f"The tool's {kind} is no regular file: {path}.")


if TYPE_CHECKING:
    Content = str | Media | Sequence[str | Media | dict[str, Any]]
else:
    Content = object  # what a tool returns that is no object
