"""What the tools of this distribution return: one function for each kind of result."""

from __future__ import annotations

from typing import Any

from ferrule import Context, Credential, File, Image, ToolError

CREDENTIAL = Credential("key", environment="KINDS_KEY", path="kinds.key", url="https://kinds.example/keys")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
LARGE_CHARACTERS = 70_000  # more than the client of an executable reads


def key(context: Context) -> str:
    """The credential, or `none`."""
    try:
        return context.credential("key")
    except ToolError:
        return "none"


def an_object(city: str, context: Context) -> dict[str, Any]:
    return {"city": city, "key": key(context)}


def a_text(city: str, context: Context) -> str:
    return f"Wind in {city}, key {key(context)}."


def an_image(city: str, context: Context) -> Image:
    return Image(PNG, name="wind.png")


def a_file(city: str, context: Context) -> list[Any]:
    return [f"The table of {city}.", File(f"city,key\n{city},{key(context)}\n".encode(), name="wind.csv")]


def a_large_object(city: str, context: Context) -> dict[str, Any]:
    return {"city": city, "text": "x" * LARGE_CHARACTERS}


def a_failure(city: str, context: Context) -> dict[str, Any]:
    raise ToolError("NO_LUCK", f"No wind in {city}, key {key(context)}.", hint="Try again tomorrow.")


def events(city: str, context: Context) -> dict[str, Any]:
    context.event({"event": "progress", "progress": 1, "total": 2, "message": f"Half of {city}"})
    context.event({"event": "note", "content": f"Key {key(context)} for {city}"})
    return {"city": city, "key": key(context)}
