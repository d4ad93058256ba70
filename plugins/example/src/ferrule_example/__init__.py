"""The tool `example`.

Replace the bodies of the functions, and `schema.json`, with your own.
"""

from __future__ import annotations

from ferrule import Context, JSONObject, ToolError, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    """Describe the tool: its name, what it does, and its parameters, as `schema.json` says."""
    return static_schema(__file__)


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    """Say what is wrong with the arguments that the schema cannot say."""
    return [] if arguments["city"].strip() else ["city: it is blank"]


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    """Do the work and return a JSON object; raise ToolError if there is no answer."""
    city = arguments["city"].strip()
    if any(letter.isdigit() for letter in city):
        raise ToolError("NOT_A_CITY", f"{city!r} is not the name of a city.", hint="Send the name without digits.")
    return {"success": True, "greeting": f"Hello, {city}!"}
