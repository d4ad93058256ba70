"""What differs between two records of a server, in words for an admin, and as JSON for programs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text.visibility import make_visible
from ferrule_mcp.environment.parameters import compare_parameters, find_schema
from ferrule_mcp.launch.json_values import read_object, read_objects, read_texts

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
_TEXTS = ("version", "era", "transport", "url", "instructions", "folder")
_VALUES = ("command", "variables", "secrets", "headers", "server", "capabilities", "offered", "watched")
_CONTEXT_LINES = 1
_SHORT_CHARS = 100
_PLAIN_KEYS = ("title", "description")


class Difference(NamedTuple):
    """One difference.

    kind: `package`, `tool`, `permission`, or the name of a part of the record. subject: the name of what differs.
    what: ADDED, REMOVED or CHANGED. words: what is so, in sentences or lines of a comparison; nothing in them is
    invisible. is_grave: whether it can do harm by itself: more rights, another text for a model, other files under the
    same version.
    """

    kind: str
    subject: str
    what: str
    words: tuple[str, ...] = ()
    is_grave: bool = False

    def to_json(self) -> JSONObject:
        """A JSON object with all of it."""
        return {**self._asdict(), "words": list(self.words)}


def compare_records(before: JSONMapping, after: JSONMapping) -> list[Difference]:
    """What differs between two records, the gravest kinds first.

    Read are `packages` (a list), `tools` (each a definition as the server gives it, or a schema of ferrule, by its
    name), `permissions` (lists of entries by their keys), and the texts and values of the record itself. What one of
    the two lacks altogether counts as empty.
    """
    found = [
        *_compare_permissions(read_object(before.get("permissions")), read_object(after.get("permissions"))),
        *_compare_tools(read_object(before.get("tools")), read_object(after.get("tools"))),
        *_compare_packages(before, after),
        *_compare_parts(before, after),
    ]
    return sorted(found, key=lambda one: not one.is_grave)


def describe_differences(differences: list[Difference]) -> list[str]:
    """The lines for a terminal: a heading for each difference, and below it what is so."""
    lines: list[str] = []
    for one in differences:
        mark = " (look at this)" if one.is_grave else ""
        lines.append(f"{one.what} {one.kind} {make_visible(one.subject)}{mark}")
        lines += [f"  {words}" for words in one.words]
    return lines


def _compare_permissions(before: JSONObject, after: JSONObject) -> Iterator[Difference]:
    for key in sorted({*before, *after}):
        old, new = read_texts(before.get(key)), read_texts(after.get(key))
        added = [text for text in new if text not in old]
        removed = [text for text in old if text not in new]
        if added:
            yield Difference("permission", key, ADDED, tuple(map(make_visible, added)), is_grave=True)
        if removed:
            yield Difference("permission", key, REMOVED, tuple(map(make_visible, removed)))


def _compare_tools(before: JSONObject, after: JSONObject) -> Iterator[Difference]:
    for name in sorted({*before, *after}):
        old, new = read_object(before.get(name)), read_object(after.get(name))
        if name not in after:
            yield Difference("tool", name, REMOVED)
        elif name not in before:
            yield Difference("tool", name, ADDED, _split_text(new.get("description")), is_grave=True)
        elif old != new:
            words = tuple(_describe_tool(old, new))
            is_grave = any(old.get(key) != new.get(key) for key in _PLAIN_KEYS) or find_schema(old) != find_schema(new)
            yield Difference("tool", name, CHANGED, words, is_grave)


def _describe_tool(old: JSONObject, new: JSONObject) -> Iterator[str]:
    for key in _PLAIN_KEYS:
        if old.get(key) != new.get(key):
            yield f"{key}:"
            yield from (f"  {line}" for line in _compare_texts(old.get(key), new.get(key)))
    schemas = find_schema(old), find_schema(new)
    if schemas[0] != schemas[1]:
        sentences = list(compare_parameters(*schemas))
        yield from map(make_visible, sentences or ["The schema differs in what is no parameter:"])
        if not sentences:
            yield from _compare_values(*schemas)
    rest = [key for key in sorted({*old, *new}) if key not in (*_PLAIN_KEYS, "inputSchema", "parameters")]
    for key in (key for key in rest if old.get(key) != new.get(key)):
        yield f"{make_visible(key)}:"
        yield from (f"  {line}" for line in _compare_values(old.get(key), new.get(key)))


def _compare_packages(before: JSONMapping, after: JSONMapping) -> Iterator[Difference]:
    old, new = (_read_packages(record.get("packages")) for record in (before, after))
    for key in sorted({*old, *new}):
        name = key[1]
        if key not in new:
            yield Difference("package", name, REMOVED, (_list_versions(old[key]),))
        elif key not in old:
            yield Difference("package", name, ADDED, (_list_versions(new[key]),))
        elif old[key] != new[key]:
            yield _compare_package(name, old[key], new[key])


def _compare_package(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Difference:
    same = sorted(version for version in {*old} & {*new} if old[version] != new[version])
    if same:
        words = tuple(f"{version} has other files than before, under the same version" for version in same)
        return Difference("package", name, CHANGED, words, is_grave=True)
    return Difference("package", name, CHANGED, (f"{_list_versions(old)} -> {_list_versions(new)}",))


def _read_packages(listed: object) -> dict[tuple[str, str], dict[str, str]]:
    """The versions of each package with their digests: npm may install several of one name."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in read_objects(listed):
        key = str(one.get("ecosystem", "")), str(one.get("name", ""))
        found.setdefault(key, {})[str(one.get("version", ""))] = str(one.get("digest", ""))
    return found


def _list_versions(versions: Mapping[str, str]) -> str:
    return make_visible(", ".join(sorted(versions)))


def _compare_parts(before: JSONMapping, after: JSONMapping) -> Iterator[Difference]:
    for key in _TEXTS:
        old, new = before.get(key) or "", after.get(key) or ""
        if old != new:
            yield Difference(key, "", CHANGED, tuple(_compare_texts(old, new)), is_grave=key in ("instructions", "url"))
    for key in _VALUES:
        old, new = before.get(key) or None, after.get(key) or None
        if old != new:
            yield Difference(key, "", CHANGED, tuple(_compare_values(old, new)), is_grave=key in ("command", "secrets"))


def _compare_texts(old: object, new: object) -> list[str]:
    """Two short texts on one line, or the lines that differ."""
    texts = ["" if value is None else make_visible(str(value)) for value in (old, new)]
    if all("\n" not in text and len(text) <= _SHORT_CHARS for text in texts):
        return [f"{texts[0] or '(none)'} -> {texts[1] or '(none)'}"]
    return _compare_lines(*(_wrap(text) for text in texts))


def _compare_values(old: object, new: object) -> list[str]:
    written = [json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).splitlines() for value in (old, new)]
    return [make_visible(line) for line in _compare_lines(*written)]


def _compare_lines(old: list[str], new: list[str]) -> list[str]:
    compared = difflib.unified_diff(old, new, n=_CONTEXT_LINES, lineterm="")
    return [line for line in compared if not line.startswith(("---", "+++", "@@"))]


def _split_text(value: object) -> tuple[str, ...]:
    return tuple(_wrap(make_visible(value))) if isinstance(value, str) else ()


def _wrap(text: str) -> list[str]:
    """The lines of a text, long ones broken after sentences, so that a comparison shows the sentence that changed."""
    return [part for line in text.splitlines() for part in line.replace(". ", ".\n").split("\n")]
