"""A function as a tool for each kind of result; it declares no result policy."""

from __future__ import annotations

from typing import Annotated, Any

import kinds

from ferrule import Context, tool

City = Annotated[str, "Name of a city."]


@tool(credentials=[kinds.CREDENTIAL])
def function_object(city: City, *, context: Context) -> dict[str, Any]:
    """Returns one kind of result."""
    return kinds.an_object(city, context)


@tool(credentials=[kinds.CREDENTIAL])
def function_text(city: City, *, context: Context) -> str:
    """Returns one kind of result."""
    return kinds.a_text(city, context)


@tool(credentials=[kinds.CREDENTIAL])
def function_image(city: City, *, context: Context) -> Any:
    """Returns one kind of result."""
    return kinds.an_image(city, context)


@tool(credentials=[kinds.CREDENTIAL])
def function_file(city: City, *, context: Context) -> list[Any]:
    """Returns one kind of result."""
    return kinds.a_file(city, context)


@tool(credentials=[kinds.CREDENTIAL])
def function_large(city: City, *, context: Context) -> dict[str, Any]:
    """Returns one kind of result."""
    return kinds.a_large_object(city, context)


@tool(credentials=[kinds.CREDENTIAL])
def function_failure(city: City, *, context: Context) -> dict[str, Any]:
    """Returns one kind of result."""
    return kinds.a_failure(city, context)


@tool(credentials=[kinds.CREDENTIAL])
def function_events(city: City, *, context: Context) -> dict[str, Any]:
    """Returns one kind of result."""
    return kinds.events(city, context)
