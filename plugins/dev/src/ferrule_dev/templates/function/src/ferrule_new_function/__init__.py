"""The tool `new_function`, which is one function."""

from __future__ import annotations

from ferrule import JSONObject, Range, ToolError, tool

TYPE_CHECKING = False

if TYPE_CHECKING:  # the annotations are texts, and to import it would cost each call most of an interpreter's start
    from typing import Annotated, Literal


@tool
def new_function(
    city: Annotated[str, "Name of the city to greet, such as Oslo"],
    times: Annotated[int, "How often to greet it", Range(1, 5)] = 1,
    tone: Annotated[Literal["plain", "warm"], "How friendly to be"] = "plain",
) -> JSONObject:
    """Greets a city by its name."""
    name = city.strip()
    if not name or any(letter.isdigit() for letter in name):
        raise ToolError("NOT_A_CITY", f"{city!r} is not the name of a city.", hint="Send the name without digits.")
    word = "Hello" if tone == "plain" else "A warm hello"
    return {"success": True, "greetings": [f"{word}, {name}!"] * times}
