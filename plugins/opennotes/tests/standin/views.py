"""`notes view`: the list of views, which comes in any order, and their execution in either generation's form."""

import json
import os

from standin.behaviour import Behaviour
from standin.flags import Parsed
from standin.generation import Failure, Generation, now
from standin.notebooks import Notebook, read, required
from standin.searching import OFFLINE, Note, notes_of, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STATUSES = "backlog,todo,in-progress,reviewing,testing,deploying,done"
UPDATED = "metadata->>'updated_at' DESC"
CREATED = "metadata->>'created_at' DESC"
ABOUT = {
    "today": "Notes created or updated today",
    "recent": "Recently modified notes (last 20)",
    "kanban": "Notes grouped by status column",
    "untagged": "Notes without any tags",
    "orphans": "Notes with no incoming links (no other notes reference them)",
    "broken-links": "Notes containing links to non-existent files",
}


def _parameter(name: str, kind: str, default: str, about: str) -> "dict[str, Any]":
    return {"name": name, "type": kind, "required": False, "default": default, "description": about}


def _condition(field: str, operator: str, value: str) -> dict[str, str]:
    return {"logic": "AND", "field": f"metadata->>'{field}'", "operator": operator, "value": value}


OPENNOTES: "dict[str, dict[str, Any]]" = {
    "today": {"query": {"conditions": [_condition("created_at", ">=", "{{today}}")], "order_by": UPDATED, "limit": 50}},
    "recent": {"query": {"order_by": UPDATED, "limit": 20}},
    "kanban": {
        "parameters": [_parameter("status", "list", STATUSES, "Comma-separated list of status values")],
        "query": {
            "conditions": [_condition("status", "IN", "{{status}}")],
            "order_by": f"(metadata->>'priority')::INTEGER DESC, {UPDATED}",
        },
    },
    "untagged": {"query": {"conditions": [_condition("tags", "IS NULL", "")], "order_by": CREATED}},
    "orphans": {
        "parameters": [
            _parameter("definition", "string", "no-incoming", "Definition type: no-incoming, no-links, or isolated")
        ],
        "query": {"order_by": CREATED},  # and that is all: every note is shown
    },
    "broken-links": {"query": {"order_by": UPDATED}},
}
JOT: "dict[str, dict[str, Any]]" = {
    "today": {"query": "modified:>=today | sort:modified:desc"},
    "recent": {"query": "| sort:modified:desc limit:20"},
    "kanban": {"description": "Notes grouped by status", "query": "has:status | group:status sort:title:asc"},
    "untagged": {"query": "missing:tag | sort:created:desc"},
    "orphans": {"type": "special"},
    "broken-links": {"type": "special"},
}


def view(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    notebook = required(generation, parsed)
    if parsed.is_on("list") or not parsed.arguments:
        _show_list(_listed(generation, notebook, behaviour), parsed.text("format"))
        return
    name = parsed.arguments[0]
    definition = _found(name, generation, notebook, behaviour)
    parameters = _parameters(parsed.text("param"))
    if generation.is_jot:
        _run_in_jot(name, definition, parameters, parsed.text("format"), generation, notebook, behaviour)
    else:
        _run_in_opennotes(definition, parameters, notebook, behaviour)


def built_in(generation: Generation, behaviour: Behaviour) -> "dict[str, dict[str, Any]]":
    views = JOT if generation.is_jot else OPENNOTES
    named = {name: {"name": name, "description": ABOUT[name], **view} for name, view in views.items()}
    return named | {name: {"name": name, **view} for name, view in behaviour.views.items()}


def _custom(file: str) -> "dict[str, dict[str, Any]]":
    """The views of a configuration: an object by name. A list of them, which the help shows, is not read."""
    try:
        views = json.loads(read(file)).get("views")
    except (OSError, ValueError):
        return {}
    return views if isinstance(views, dict) else {}


def _listed(generation: Generation, notebook: Notebook, behaviour: Behaviour) -> "list[dict[str, Any]]":
    """Each name once. opennotes lists a custom view of a built-in's name as the built-in, jot as what it is."""
    sources = [
        ("built-in", built_in(generation, behaviour)),
        ("global", _custom(str(generation.global_config))),
        ("notebook", _custom(notebook.config_file)),
    ]
    import random

    if generation.is_jot:
        sources.reverse()
    listed: dict[str, dict[str, Any]] = {}
    for origin, views in sources:
        shuffled = list(views.values())
        random.shuffle(shuffled)
        for definition in shuffled:
            # The name is the one inside, so a definition without one is listed as "".
            entry = {"name": definition.get("name", ""), "origin": origin}
            entry["description"] = definition.get("description", "")
            if definition.get("parameters"):
                entry["parameters"] = definition["parameters"]
            listed.setdefault(entry["name"], entry)
    return list(listed.values())


def _show_list(views: "list[dict[str, Any]]", form: str) -> None:
    if form == "json":
        print(json.dumps({"views": views}, separators=(",", ":"), ensure_ascii=False))
        return
    print("\nAVAILABLE VIEWS\n")
    for entry in views:
        print(f"  {entry['name']:<20} {entry['description']}")


def _found(name: str, generation: Generation, notebook: Notebook, behaviour: Behaviour) -> "dict[str, Any]":
    files = (notebook.config_file, str(generation.global_config))
    for views in (*map(_custom, files), built_in(generation, behaviour)):
        if name in views:
            return views[name]
    how = f"failed to get view '{name}'" if generation.is_jot else "failed to load view"
    raise Failure(f"{how}: view not found: {name}")


def _parameters(text: str) -> dict[str, str]:
    """Split at every comma, so a list of values falls apart."""
    found = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise Failure(f"failed to parse parameters: invalid parameter format: {part} (expected key=value)")
        found[name.strip()] = value.strip()
    return found


def _checked(definition: "dict[str, Any]", given: dict[str, str], problem: str) -> dict[str, str]:
    known = {parameter["name"]: parameter for parameter in definition.get("parameters", [])}
    for name, parameter in known.items():
        if parameter.get("required") and name not in given:
            raise Failure(f"{problem}: missing required parameter: {name}")
    for name in given:
        if name not in known:
            raise Failure(f"{problem}: unknown parameter: {name}")
    return {name: parameter["default"] for name, parameter in known.items() if parameter.get("default")} | given


def _run_in_opennotes(
    definition: "dict[str, Any]", given: dict[str, str], notebook: Notebook, behaviour: Behaviour
) -> None:
    """SQL over the folder of the configuration, whatever its root is. `--format` is ignored."""
    from standin import sql

    values = _checked(definition, given, "failed to generate query")
    if behaviour.is_offline:
        raise Failure(f"database connection failed: {OFFLINE}")
    query = definition["query"]
    where, bound = [], []
    for condition in query.get("conditions", []):
        text = _resolved(condition["value"], values)
        items = [item.strip() for item in text.split(",")] if condition["operator"] == "IN" else [text]
        marks = {"IN": f"({','.join('?' * len(items))})", "IS NULL": ""}.get(condition["operator"], "?")
        where.append(f"{condition['field']} {condition['operator']} {marks}")
        bound += items if marks else []
    glob = os.path.join(notebook.folder, "**", "*.md").replace("'", "''")
    statement = f"SELECT * FROM read_markdown('{glob}', include_filepath:=true)"
    statement += f" WHERE {' AND '.join(where)}" if where else ""
    statement += f" ORDER BY {query['order_by']}" if query.get("order_by") else ""
    statement += f" LIMIT {query['limit']}" if query.get("limit") else ""
    try:
        rows = sql.queried(statement, bound, behaviour.sql_seconds)
    except Failure as failure:
        raise Failure(f"failed to execute view: {failure}") from None
    print(sql.as_json(rows), end="")


def _resolved(text: str, values: dict[str, str]) -> str:
    if text.startswith("{{") and text.endswith("}}"):
        text = values.get(text.strip("{}"), text)
    return text.replace("{{today}}", now().strftime("%Y-%m-%d"))


def _run_in_jot(
    name: str,
    definition: "dict[str, Any]",
    given: dict[str, str],
    form: str,
    generation: Generation,
    notebook: Notebook,
    behaviour: Behaviour,
) -> None:
    from standin import dsl

    values = _checked(definition, given, "invalid parameters")
    notes = notes_of(generation, notebook, behaviour)
    groups = None
    if definition.get("type") != "special":
        query = definition.get("query", "")
        for parameter, value in values.items():
            query = query.replace(f"{{{{{parameter}}}}}", value)
        try:
            notes, groups = dsl.executed(query, notes)
        except Failure as failure:
            raise Failure(f"failed to execute view '{name}': {failure}") from None
    if not notes:
        print(f"View '{name}': No notes found")  # whatever the format
    elif form != "json":
        print(f"View '{name}' ({len(notes)} notes):\n")
        show(notes)
    elif groups:
        grouped = {group: [_as_json(note) for note in members] for group, members in sorted(groups.items())}
        print(json.dumps({"groups": grouped, "count": len(notes)}, indent=2, ensure_ascii=False))
    else:
        print(json.dumps({"notes": [_as_json(note) for note in notes], "count": len(notes)}, indent=2, default=str))


def _as_json(note: Note) -> "dict[str, Any]":
    """The path of the file is relative, too, as the index has no other."""
    from standin import dsl

    metadata = {name: str(value) if _is_date(value) else value for name, value in sorted(note.metadata.items())}
    metadata |= {name: dsl.time_of(note, name) for name in ("created", "modified")}
    file = {"filepath": note.relative, "relative": note.relative}
    return {"file": file, "content": note.body, "metadata": dict(sorted(metadata.items()))}


def _is_date(value: "Any") -> bool:
    return hasattr(value, "isoformat")
