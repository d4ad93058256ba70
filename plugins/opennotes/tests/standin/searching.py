"""`notes list` and `notes search`: text for people, made as glamour makes it."""

import os
import re

from standin.adding import slug_of
from standin.behaviour import Behaviour
from standin.flags import Parsed
from standin.generation import Failure, Generation, log
from standin.notebooks import Notebook, required

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OFFLINE = (
    'failed to install markdown extension: IO Error: Failed to download extension "markdown" at URL '
    '"http://community-extensions.duckdb.org/v1.4.3/linux_amd64/markdown.duckdb_extension.gz" (ERROR Hostname lookup)'
)
_COLUMNS = 96
FIELDS = {"path", "title", "links-to", "linked-by"}
DATA = {"tag", "tags", "status", "priority", "assignee", "author", "type", "category", "project", "sprint"}


class Note:
    """A note as the CLI sees it. metadata: by YAML in jot; opennotes reads lines, so lists are text or lost."""

    def __init__(self, root: str, path: str, *, with_yaml: bool) -> None:
        self.absolute = path
        self.relative = os.path.relpath(path, root)
        with open(path, errors="replace") as file:
            self.content = file.read()
        self.mtime = os.stat(path).st_mtime
        self.metadata, self.body = parsed_by_yaml(self.content) if with_yaml else (by_lines(self.content), self.content)

    @property
    def display_name(self) -> str:
        title = self.metadata.get("title")
        return title if isinstance(title, str) and title else slug_of(os.path.basename(self.relative)[:-3])


def notes_of(generation: Generation, notebook: Notebook, behaviour: Behaviour, folder: str = "") -> list[Note]:
    if behaviour.is_offline and not generation.is_jot:
        raise Failure(OFFLINE)
    top = folder or notebook.root
    found = []
    for parent, _, names in os.walk(top):
        found += [os.path.join(parent, name) for name in names if name.endswith(".md")]
    return [Note(top, path, with_yaml=generation.is_jot) for path in sorted(found)]


def parsed_by_yaml(text: str) -> "tuple[dict[str, Any], str]":
    import yaml

    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if not found:
        return {}, text
    try:
        fields = yaml.safe_load(found[1])
    except yaml.YAMLError:
        return {}, text
    return (fields, text[found.end() :]) if isinstance(fields, dict) else ({}, text)


def by_lines(text: str) -> "dict[str, Any]":
    found = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    lines = found[1].splitlines() if found else []
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def list_notes(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    notebook = required(generation, parsed)
    try:
        notes = notes_of(generation, notebook, behaviour)
    except Failure:
        notes = []  # whatever went wrong, there are no notes
    show(notes)


def search(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    word = parsed.arguments[0] if parsed.arguments else ""
    notebook = required(generation, parsed)
    if parsed.text("sql"):
        raise Failure("the stand-in takes no SQL, which the tools never hand to the CLI")
    try:
        notes = notes_of(generation, notebook, behaviour)
    except Failure as failure:
        raise Failure(f"failed to search notes: {failure}") from None
    is_fuzzy = parsed.is_on("fuzzy")
    found = [note for note in notes if (_is_like(word, note) if is_fuzzy else _holds(word, note, generation))]
    if not found:
        print(f"No notes found matching '{word}'" if word else "No notes found")
        return
    how = "fuzzy matching" if is_fuzzy else "matching"
    print(f"Found {len(found)} note(s) {how} '{word}':\n" if word else f"Found {len(found)} note(s):\n")
    show(found)


def query(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    conditions = [(kind, *_condition(text)) for kind in ("and", "or", "not") for text in parsed.all(kind)]
    if not conditions:
        raise Failure("at least one condition is required (use --and, --or, or --not)")
    notebook = required(generation, parsed)
    log("NoteService", "executing boolean query", conditionCount=len(conditions))
    notes = notes_of(generation, notebook, behaviour)
    found = [note for note in notes if _fits(note, conditions, generation)]
    if not found:
        print("No notes found matching the specified conditions.")
        return
    print(f"Found {len(found)} note(s) matching {'conditions' if generation.is_jot else 'query'}:\n")
    show(found)


def show(notes: list[Note]) -> None:
    """What glamour makes of the markdown: a margin of two blanks, and lines filled up to 96 columns."""
    lines = ["No notes found."]
    if notes:
        lines = [f"### Notes ({len(notes)})", "", *(f"• [{note.display_name}] {note.relative}" for note in notes)]
    print("".join(["\n", *(f"  {line:<{_COLUMNS}}\n" for line in lines)]))


def _holds(word: str, note: Note, generation: Generation) -> bool:
    # The absolute path is searched as well, so the name of the notebook's folder is in every note.
    texts = (note.content, note.relative if generation.is_jot else note.absolute)
    return any(word.lower() in text.lower() for text in texts)


def _is_like(word: str, note: Note) -> bool:
    return any(_is_subsequence(word.lower(), text.lower()) for text in (note.display_name, note.body[:500]))


def _is_subsequence(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def _condition(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not equals:
        raise Failure(f"invalid condition: invalid condition format: {text} (expected field=value)")
    if field not in FIELDS and field.removeprefix("data.") not in DATA:
        raise Failure(f"invalid condition: invalid field: {field} (allowed: {', '.join(sorted(FIELDS | DATA))})")
    if not value:
        raise Failure(f"invalid condition: value cannot be empty for field: {field}")
    if len(value) > 1000:
        raise Failure("invalid condition: value too long (max 1000 chars)")
    return field, value


def _fits(note: Note, conditions: list[tuple[str, str, str]], generation: Generation) -> bool:
    by_kind: dict[str, list[bool]] = {"and": [], "or": [], "not": []}
    for kind, field, value in conditions:
        by_kind[kind].append(_is_true_of(note, field, value, generation))
    return all(by_kind["and"]) and (any(by_kind["or"]) or not by_kind["or"]) and not any(by_kind["not"])


def _is_true_of(note: Note, field: str, value: str, generation: Generation) -> bool:
    if field == "path":
        # opennotes escapes "_" for a LIKE that has no escape character, so it finds no path with one.
        import fnmatch

        return (generation.is_jot or "_" not in value) and fnmatch.fnmatchcase(note.absolute, f"*{value}")
    if field == "title":
        return note.metadata.get("title") == value or value in note.absolute
    if field in ("links-to", "linked-by"):
        return False
    return str(note.metadata.get(field.removeprefix("data."), "")) == value
