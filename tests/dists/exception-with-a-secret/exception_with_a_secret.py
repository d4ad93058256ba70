"""Raises, prints, sends, logs or returns its own credential."""

from ferrule import Credential, ToolError, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def credentials():
    return [Credential("key", environment="ALMANAC_KEY", path="almanac.key")]


@hookimpl
def execute(arguments, context):
    key = context.credential("key")
    how = arguments["how"]
    if how == "raise":
        raise ValueError(f"{arguments.get('before', '')}401 for https://almanac.example/?key={key}")
    if how == "print":
        print(f"GET https://almanac.example/?key={key}", flush=True)
    elif how == "event":
        context.event({"event": "request", "content": f"key={key}"})
    elif how == "error":
        raise ToolError("HTTP_ERROR", f"401 for key {key}", hint=f"Is {key} right?")
    return {"success": True, "url": f"https://almanac.example/?key={key}", key: 1}
