"""The query language of jot's views: `filter | directives`, as far as the tests of the plugin need it."""

import datetime
import re

from standin.generation import Failure, now, rfc3339
from standin.searching import Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORD = re.compile(r'(-?)(?:(\w+):(>=|<=|>|<)?)?("[^"]*"|\S+)')


def executed(query: str, notes: list[Note]) -> tuple[list[Note], dict[str, list[Note]] | None]:
    """The notes that a query finds, in order; and by group where it asks for groups."""
    text, _, rest = query.partition("|")
    directives = _directives(rest)
    found = [note for note in notes if all(_fits(note, *word) for word in WORD.findall(text))]
    if "sort" in directives:
        field, _, direction = directives["sort"].partition(":")
        found.sort(key=lambda note: _sorted_by(note, field), reverse=direction == "desc")
    found = found[int(directives.get("offset", 0)) :]
    found = found[: int(directives["limit"])] if "limit" in directives else found
    if "group" not in directives:
        return found, None
    groups: dict[str, list[Note]] = {}
    for note in found:
        value = note.metadata.get(directives["group"])
        groups.setdefault(value if isinstance(value, str) and value else "(none)", []).append(note)
    return found, groups


def time_of(note: Note, field: str) -> str:
    """The frontmatter's time where it is RFC 3339, else the file's."""
    value = note.metadata.get(field)
    if isinstance(value, datetime.datetime):
        return rfc3339(value if value.tzinfo else value.replace(tzinfo=datetime.UTC))
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", value):
        return value
    return rfc3339(datetime.datetime.fromtimestamp(note.mtime).astimezone().replace(microsecond=0))


def _directives(text: str) -> dict[str, str]:
    found = {}
    for word in text.split():
        name, colon, value = word.partition(":")
        if not colon:
            raise Failure(f'failed to parse directives: invalid directive "{word}": missing colon')
        if name not in ("sort", "limit", "offset", "group"):
            raise Failure(f'failed to parse directives: unknown directive "{name}". Valid: sort, limit, offset, group')
        found[name] = value
    return found


def _fits(note: Note, minus: str, field: str, operator: str, value: str) -> bool:
    return _is_true(note, field, operator, value.strip('"')) is not bool(minus)


def _is_true(note: Note, field: str, operator: str, value: str) -> bool:
    if field in ("has", "missing"):
        return _exists(note, value) is (field == "has")
    if field in ("created", "modified"):
        return _compares(time_of(note, field)[:10], operator, _date(value))
    if field == "path":
        return note.relative.startswith(value)
    if field in ("", "body", "title"):
        texts = {"": [note.body, note.display_name], "body": [note.body], "title": [note.display_name]}[field]
        return any(value.lower() in text.lower() for text in texts)
    found = note.metadata.get(field, note.metadata.get(f"{field}s"))
    return value in found if isinstance(found, list) else str(found) == value


def _exists(note: Note, field: str) -> bool:
    return bool(note.metadata.get(field) or (field == "tag" and note.metadata.get("tags")))


def _compares(found: str, operator: str, value: str) -> bool:
    if operator == ">=":
        return found >= value
    if operator == "<=":
        return found <= value
    if operator in (">", "<"):
        return found > value if operator == ">" else found < value
    return found == value


def _date(value: str) -> str:
    days = {"today": 0, "yesterday": 1}.get(value)
    return value if days is None else (now() - datetime.timedelta(days=days)).strftime("%Y-%m-%d")


def _sorted_by(note: Note, field: str) -> "Any":
    if field in ("created", "modified"):
        return datetime.datetime.fromisoformat(time_of(note, field))
    return note.display_name if field == "title" else note.relative
