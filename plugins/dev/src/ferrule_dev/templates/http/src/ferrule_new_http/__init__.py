"""The tool `new_http`, which asks an HTTP service."""

from __future__ import annotations

from typing import Annotated

from ferrule import Context, Credential, JSONObject, Range, tool

KEY = Credential(
    "api_key",
    environment="NEW_HTTP_API_KEY",
    path="new_http.api_key",
    url="https://new-http.example/keys",
    description="an API key",
)


@tool(credentials=[KEY])
def new_http(
    city: Annotated[str, "Name of the city, such as Oslo"],
    days: Annotated[int, "Days to look ahead", Range(1, 7)] = 3,
    *,
    context: Context,
) -> JSONObject:
    """Tells the weather of a city for the next days."""
    from ferrule_new_http.service import ask

    answer = ask({"city": city, "days": str(days)}, context)
    return {"success": True, "days": answer["days"]}
