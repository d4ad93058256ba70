"""The client that a conformance suite starts, with the URL of its server as the last argument.

It logs in where the server wants that, by following the address of the login as a browser does. Then it lists the tools
and calls each.
"""

import json
import os
import sys
import time
from typing import Any

import httpx

from ferrule import ToolError
from ferrule_mcp.remote.oauth.login import log_in
from ferrule_mcp.remote.oauth.paste import PastedRedirect
from ferrule_mcp.remote.session import RemoteSession

_SECONDS = 20.0
_ECHO, _ECHOED = "json_schema_echo", "json_schema_2020_12_tool"
_WITHOUT_CALL = ("lookup_user",)  # a scenario about the list alone
_LOGINS = 3
_BEARER = {"Authorization": "Bearer {token}"}


class Token:
    """The credentials of a session: a token, which is not renewed."""

    def __init__(self, value: str) -> None:
        self._value = value

    def credential(self, name: str) -> str:
        return self._value

    def renew_credential(self, name: str, refused: str) -> str:
        return self._value


def log_in_by_http(url: str, scope: str) -> Token:
    led: list[str] = []
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")

    def browse(address: str) -> None:
        led.append(httpx.get(address).headers["location"])

    redirect = PastedRedirect(browse, lambda: led[-1])
    known = {name: context[name] for name in ("client_id", "client_secret") if name in context}
    if "cimd" in os.environ.get("MCP_CONFORMANCE_SCENARIO", ""):
        known = {"client_id": "https://conformance-test.local/client-metadata.json"}
    return Token(log_in(url, redirect, command="log in", scope=scope, **known)["access_token"])


def use(url: str, **options: Any) -> None:
    with RemoteSession.start(url, deadline=time.monotonic() + _SECONDS, **options) as session:
        session.initialize(os.environ.get("MCP_CONFORMANCE_ERA", ""))
        tools = {tool["name"]: tool for tool in session.list_tools()}
        for name, arguments in choose_calls(tools):
            session.call(name, arguments)


def choose_calls(tools: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the scenario names, or one of each tool."""
    named = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}").get("toolCalls")
    if named is not None:
        return [(one["name"], one["arguments"]) for one in named if one["name"] in tools]
    if _ECHO in tools:
        return [(_ECHO, {"schema": tools[_ECHOED]["inputSchema"]})]
    return [(name, {"a": 2, "b": 3}) for name in tools if name not in _WITHOUT_CALL]


def main() -> None:
    url = sys.argv[-1]
    options: dict[str, Any] = {}
    for _ in range(_LOGINS):
        try:
            return use(url, **options)
        except ToolError as error:
            if error.code not in ("AUTH_MISSING", "AUTH_INVALID", "ACCESS_REFUSED"):
                raise
            scope = str((error.details or {}).get("scope", ""))
            options = {"headers": _BEARER, "credentials": log_in_by_http(url, scope)}
    raise ToolError("LOGIN_FAILED", "Every login is refused.")


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"{error.code}: {error.message}")
