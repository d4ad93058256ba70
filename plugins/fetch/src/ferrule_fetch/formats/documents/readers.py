"""Documents that are no PDF, as markdown: each kind by its own reader, all of them in a process with limits.

Word, PowerPoint and workbooks are read by the libraries of the extra `documents`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from ferrule import ToolError
from ferrule.text.invisible import without_invisible
from ferrule_fetch.formats.documents.archive import DocumentText, UnreadableDocument
from ferrule_fetch.formats.media import Format
from ferrule_fetch.limits.reader import TooMuch, bounded_reading

_SECONDS = 12.0
_TOO_MUCH = "it takes too much time or memory to read"
_INSTEAD = "\N{REPLACEMENT CHARACTER}"


class _Reader(NamedTuple):
    """module: of this package. name: of the function in it. library: that has to be installed, or empty."""

    module: str
    name: str
    library: str = ""


_READERS = {
    Format.DOCX: _Reader("word", "read_word", "mammoth"),
    Format.PPTX: _Reader("slides", "read_slides", "pptx"),
    Format.XLSX: _Reader("workbook", "read_workbook", "python_calamine"),
    Format.ODT: _Reader("opendocument", "read_opendocument"),
    Format.EPUB: _Reader("book", "read_book"),
    Format.EML: _Reader("mail", "read_mail"),
}


def read_document(form: Format, body: bytes, url: str, deadline: float) -> DocumentText:
    """Read a document by `deadline`, an instant of `time.monotonic()`.

    Args:
        url: where it was found, which links are resolved against.

    Raises:
        UnreadableDocument, and ToolError MISSING_EXTRA.
    """
    reader = _READERS[form]
    if reader.library and find_spec(reader.library) is None:
        sentence = f"{form.name} is read by the extra `documents` of ferrule-fetch, which is not installed"
        # The host knows by the name which extra of tool.json is missing, and how it is installed here.
        raise ToolError("MISSING_EXTRA", sentence) from ModuleNotFoundError(sentence, name=reader.library)

    def read() -> tuple[str, ...]:
        module = import_module(f"{__package__}.{reader.module}")
        found = _read_safely(getattr(module, reader.name), body, url)
        facts = found._replace(text=without_invisible(found.text, _INSTEAD))
        return tuple(without_invisible(fact) for fact in facts)

    try:
        found = DocumentText(*bounded_reading(read, UnreadableDocument, deadline=deadline, seconds=_SECONDS))
    except TooMuch:
        raise UnreadableDocument(_TOO_MUCH) from None
    if not found.text.strip():
        raise UnreadableDocument("it has no text")
    return found


def _read_safely(read: Callable[[bytes, str], DocumentText], body: bytes, url: str) -> DocumentText:
    """What a reader returns. Raises UnreadableDocument, and MemoryError."""
    try:
        return read(body, url)
    except UnreadableDocument:
        raise
    except Exception as error:  # noqa: BLE001 - the libraries fail on malformed files in every way that Python knows
        if _is_lack_of_memory(error):
            raise MemoryError from None
        raise UnreadableDocument("it is malformed") from None


def _is_lack_of_memory(error: BaseException) -> bool:
    """Whether an error, or the one that it came of, says that there is no memory; the parsers of XML have their own."""
    codes = {"xml.parsers.expat": 1, "lxml.etree": 2}
    code: object = getattr(error, "code", None)
    if isinstance(error, MemoryError) or (code is not None and codes.get(type(error).__module__) == code):
        return True
    origin = error.__cause__ or error.__context__
    return origin is not None and _is_lack_of_memory(origin)
