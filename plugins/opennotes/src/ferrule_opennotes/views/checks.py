"""What is wrong with the arguments of a call that the schema cannot say."""

from __future__ import annotations

from typing import Any

from ferrule_opennotes.answers import pages


def findings(arguments: dict[str, Any]) -> list[str]:
    """One sentence each, the argument's place first."""
    found = [
        f'params.{name}: it is no text; write it as one, such as "{_example(value)}"'
        for name, value in (arguments.get("params") or {}).items()
        if not isinstance(value, str)
    ]
    view = arguments.get("view")
    if view is not None and not view.strip():
        found.append("view: it is blank; leave it out to list all views")
    if view is None and arguments.get("params"):
        found.append("params: they are for a view, and 'view' names none")
    return found + pages.findings(arguments) + _bounds(arguments)


def _bounds(arguments: dict[str, Any]) -> list[str]:
    # The schema has no limits here, so a 0 that strict mode makes a model fill in arrives, and means nothing.
    negative = [name for name in ("limit", "offset") if (arguments.get(name) or 0) < 0]
    return [f"{name}: {arguments[name]} is less than {int(name == 'limit')}" for name in negative]


def _example(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(str(item) for item in value)[:60]
    return "" if value is None or isinstance(value, dict) else str(value)[:60]
