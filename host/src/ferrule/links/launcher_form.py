"""A link for a launcher: after the first two lines, a line for each value, `NAME VALUE`.

In a value a backslash is written `\\\\`, and a line feed `\\n`. `ferrule.links.launchers` finds the launcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.links.launchers import FORM
from ferrule.links.link_content import LinkContent

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_BYTES = 1 << 20  # that a launcher reads
_MAX_FIELDS = 1024
_LISTS = {"watched": "watched", "folder": "folders", "option": "options"}
_SINGLE = {
    "tool": "tool",
    "name": "name",
    "python": "python",
    "config": "config",
    "off": "off",
    "lock": "lock",
    "differing": "differing",
    "clash": "clash",
    "keeper": "installation",
    "gone": "gone",
    "gone-text": "gone_text",
    "code": "code",
    "orders": "orders",
    "schema": "schema",
}


def write_for_launcher(content: LinkContent, launcher: str, mark: str) -> bytes | None:
    """The bytes of a link that this program starts; None where they are more than it reads."""
    lines = [f"{name} {_escape(value)}\n" for name, value in _fields(content)]
    text = f"#!{launcher}\n{mark}{content.facts}\n{''.join(lines)}".encode(errors="surrogateescape")
    return text if len(text) <= _MAX_BYTES and len(lines) <= _MAX_FIELDS and b"\0" not in text else None


def read_content(data: bytes) -> LinkContent | None:
    """What stands in such a link; None where it is damaged. data: all of the file."""
    lines = data.decode(errors="surrogateescape").split("\n")
    lists: dict[str, list[str]] = {name: [] for name in _LISTS.values()}
    single: dict[str, str] = {}
    for line in lines[2:-1]:
        name, _, value = line.partition(" ")
        if name in _LISTS:
            lists[_LISTS[name]].append(_unescape(value))
        elif name in _SINGLE:
            single[_SINGLE[name]] = _unescape(value)
    if lines[-1] or single.keys() != set(_SINGLE.values()):
        return None
    return LinkContent(facts=lines[1].partition(": ")[2], **_as_tuples(lists), **single)  # type: ignore[arg-type] # lists and texts stand apart


def _fields(content: LinkContent) -> Iterator[tuple[str, str]]:
    values = content._asdict()
    yield "form", str(FORM)
    for name, field in _SINGLE.items():
        yield name, values[field]
    for name, field in _LISTS.items():
        for value in values[field]:
            yield name, value


def _as_tuples(lists: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in lists.items()}


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _unescape(value: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in value.split("\\\\"))
