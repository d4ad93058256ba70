"""The tool `example`: greets a city. Replace the bodies of the functions, and `schema.json`, with your own."""

from __future__ import annotations

from typing import Any

from ferrule import Context, ToolError, hookimpl, static_schema


@hookimpl
def schema() -> dict[str, Any]:
    """Describe the tool: its name, what it does, and its parameters, as `schema.json` says."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    """Say what is wrong with the arguments that the schema cannot say."""
    return [] if arguments["city"].strip() else ["city: it is blank"]


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do the work and return a JSON object; raise ToolError where there is no answer."""
    city = arguments["city"].strip()
    if any(letter.isdigit() for letter in city):
        raise ToolError("NOT_A_CITY", f"{city!r} is not the name of a city.", hint="Send the name without digits.")
    return {"success": True, "greeting": f"Hello, {city}!"}
