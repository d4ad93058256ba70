"""Boolean filters: `field=value` conditions, all, any or none of which have to hold.

data.NAME is a field of the frontmatter, equal to the value or a list that holds it; path is a path, a folder or a
glob; title is a part of the title; links-to and linked-by follow the links between notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_opennotes.notebook.globs import matches
from ferrule_opennotes.notebook.notes import Note, list_texts
from ferrule_opennotes.query.text import fold

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_opennotes.links import Links

FIELDS = ("path", "title", "links-to", "linked-by")
_GROUPS = ("and", "or", "not")
_NO_OPERATORS = ("!", "<", ">", "~")  # with the = that follows; taken for a name they would find nothing
_MAX_VALUE_CHARS = 1000  # characters of a value, as the CLI takes them


class Condition(NamedTuple):
    """One condition. group: `and`, `or`, `not`. field: as it was written. value: without blanks around it."""

    group: str
    field: str
    value: str


def find_problems(filters: JSONObject) -> list[str]:
    """What is wrong with filters: one sentence each, the place first."""
    found = []
    for group in _GROUPS:
        for position, text in enumerate(filters.get(group) or ()):
            if problem := _find_problem(text):
                found.append(f"filters.{group}[{position}]: {problem}")
    unknown = [name for name in filters if name not in _GROUPS]
    return found + [f"filters.{name}: there are and, or, not" for name in unknown]


def parse(filters: JSONObject | None) -> list[Condition]:
    """The conditions of filters that have no findings."""
    conditions = []
    for group in _GROUPS:
        for text in (filters or {}).get(group) or ():
            field, _, value = text.partition("=")
            conditions.append(Condition(group, field.strip(), value.strip()))
    return conditions


def select(notes: Sequence[Note], root: str, conditions: Sequence[Condition]) -> list[Note]:
    """The notes for which every `and` holds, one of the `or` if there are any, and none of the `not`; in their order.

    notes: all of the notebook. root: its root.
    """
    links = None
    if any(each.field.startswith("link") for each in conditions):
        from ferrule_opennotes.links import Links

        links = Links(notes, root)
    needed, any_of, excluded = (
        [_make_test(each, notes, links) for each in conditions if each.group == group] for group in _GROUPS
    )
    return [
        note
        for note in notes
        if all(test(note) for test in needed)
        and (not any_of or any(test(note) for test in any_of))
        and not any(test(note) for test in excluded)
    ]


def describe(conditions: Sequence[Condition]) -> str:
    """The conditions as one line, as they were carried out."""
    texts = {group: [_quote(each) for each in conditions if each.group == group] for group in _GROUPS}
    parts = list(texts["and"])
    if texts["or"]:
        parts.append(f"({' OR '.join(texts['or'])})" if len(texts["or"]) > 1 else texts["or"][0])
    return " AND ".join(parts + [f"NOT {text}" for text in texts["not"]])


def _quote(condition: Condition) -> str:
    value = condition.value.replace("'", "''")
    return f"{condition.field} = '{value}'"


def _find_problem(text: object) -> str | None:
    field, equals, value = str(text).partition("=")
    field, value = field.strip(), value.strip()
    if not equals:
        return f"{_shorten(text)} is no condition; write field=value"
    if field.endswith(_NO_OPERATORS):
        return f"{_shorten(text)} has another operator than =; what must not hold goes into 'not'"
    if field not in FIELDS and (not field.startswith("data.") or field == "data."):
        return f"there is no field {_shorten(field)}; there are data.NAME, {', '.join(FIELDS)}"
    if not value:
        return f"{_shorten(field)} has no value"
    if len(value) > _MAX_VALUE_CHARS:
        return f"the value has {len(value)} characters, {_MAX_VALUE_CHARS} are taken"
    return None


def _shorten(text: object) -> str:
    return repr(str(text)[:80])


def _make_test(condition: Condition, notes: Sequence[Note], links: Links | None) -> Callable[[Note], bool]:
    field, value = condition.field, condition.value
    if field == "path":
        return lambda note: _is_path(note.path, value)
    if field == "title":
        wanted = fold(value)
        return lambda note: wanted in fold(note.name)
    if links is not None and field == "links-to":
        return lambda note: any(_is_path(target, value) for target in links.targets(note))
    if links is not None and field == "linked-by":
        reached = {target for note in notes if _is_path(note.path, value) for target in links.targets(note)}
        return lambda note: note.path in reached
    name = field.removeprefix("data.")
    return lambda note: value in _list_values(note, name)


def _is_path(path: str, wanted: str) -> bool:
    """Whether a path is the wanted one, with or without `.md`, lies in that folder, or fits that glob."""
    wanted = wanted.removeprefix("./").lstrip("/")
    if any(character in wanted for character in "*?["):
        return matches(path, wanted) or path == wanted
    return path in (wanted, f"{wanted}.md") or path.startswith(wanted.rstrip("/") + "/")


def _list_values(note: Note, name: str) -> list[str]:
    """What a field of the frontmatter holds, as text: each item of a list, and `tags` and `tag` alike."""
    if name in ("tag", "tags"):
        return note.tags
    value: object = note.frontmatter
    for part in [name] if name in note.frontmatter else name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return list_texts(value)
