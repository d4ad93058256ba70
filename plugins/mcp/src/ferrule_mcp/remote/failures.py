"""What went wrong with a server over HTTP, as one error that says what to do next."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcp import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

from ferrule import ToolError
from ferrule.http import parse_retry_after
from ferrule.text.invisible import without_invisible
from ferrule_mcp.remote.guard import describe_address

if TYPE_CHECKING:
    from ferrule_mcp.remote.watched_transport import Exchange, Watch

LOGIN = "ferrule mcp login"
"""The command that logs in, without the name of the server."""

_MAX_WORDS_CHARS = 500
_SCOPE = re.compile(r'scope="([!#-\[\]-~ ]{1,500})"')  # of RFC 6750, 3
_DECLINED = {"Elicitation not supported": "an answer of the user", "Sampling not supported": "a text of a model"}
_ROOTS = "List roots not supported"
_UNREADABLE, _CUT_OFF = "Failed to parse ", "SSE stream "  # the SDK's own words for what came
_PAGE = "text/html"
_TLS = "TLS"


def explain_failure(error: BaseException, watch: Watch, url: str, login: str = LOGIN) -> ToolError:
    """The error of a request. What was seen on the connection goes before what the SDK says of it.

    Args:
        error: what the SDK raised.
        watch: what was seen.
        url: of the server.
        login: the command that logs in there.
    """
    server = describe_address(url)
    if watch.refusal is not None:
        return watch.refusal
    if watch.excess:
        return ToolError("RESULT_TOO_LARGE", f"{server} sent more than {watch.excess:,} bytes.", hint="Ask for less.")
    if isinstance(error, TimeoutError):
        return ToolError("TIMEOUT", f"{server} has not answered in time.", hint="Try again, or ask for less.")
    if watch.reason:
        return _unreachable(server, watch.reason)
    if isinstance(error, MCPError) and error.message.startswith(_UNREADABLE):
        return _no_protocol(server, "its answer cannot be read")
    if isinstance(error, MCPError) and error.message.startswith(_CUT_OFF):
        return ToolError("NETWORK_ERROR", f"{server} has ended the connection without an answer.", hint="Try again.")
    if isinstance(error, MCPError) and _is_said_by_server(watch.exchange):
        return _explain_words(error)
    if watch.exchange is not None and (refused := _explain_status(watch.exchange, server, login)):
        return refused
    return (
        _explain_words(error) if isinstance(error, MCPError) else _no_protocol(server, "its answer is not that of MCP")
    )


def explain_declined(words: str) -> ToolError:
    """The error where a server has asked for something that a call cannot give. words: what it asked for."""
    return ToolError(
        "INPUT_REQUIRED",
        f"The server asked for {words} during the call, and got none.",
        hint="Give all that it needs as arguments, or use another tool.",
    )


def _unreachable(server: str, reason: str) -> ToolError:
    hint = (
        "Have the server's certificate repaired, or name the authority by SSL_CERT_FILE."
        if reason.startswith(_TLS)
        else "Check that the server runs, and its URL."
    )
    return ToolError("NETWORK_ERROR", f"{server} cannot be reached: {reason.rstrip('.')}.", hint=hint)


def _explain_status(exchange: Exchange, server: str, login: str) -> ToolError | None:
    """The error of an answer by its status and its kind; None where both are as they should be."""
    status, words = exchange.status, describe_words(exchange)
    if status == 401:
        return _explain_unauthorized(exchange, server, login)
    if 300 <= status < 400:
        return _explain_redirect(exchange, server)
    if status == 403:
        return _explain_forbidden(exchange, server, login)
    if status == 429:
        wait = parse_retry_after({"retry-after": exchange.retry_after})
        return ToolError("RATE_LIMIT", f"{server} was asked too often: HTTP 429{words}.", retry_after=wait)
    if status in (404, 405):
        return _no_protocol(server, f"it answers with HTTP {status}{words}")
    if status >= 400:
        hint = "The server has a fault. Try again later." if status >= 500 else None
        return ToolError("HTTP_ERROR", f"{server} answers with HTTP {status}{words}.", hint=hint)
    if exchange.content_type == _PAGE:
        return _no_protocol(server, "it answers with a web page")
    if exchange.content_type not in ("application/json", "text/event-stream"):
        return _no_protocol(server, f"it answers with {exchange.content_type or 'nothing'}")
    return None


def _explain_unauthorized(exchange: Exchange, server: str, login: str) -> ToolError:
    if exchange.is_authorized:
        return ToolError(
            "AUTH_INVALID",
            f"{server} refuses the credentials: HTTP 401{describe_words(exchange)}.",
            hint=f"Log in again by `{login}`, or set the credential anew.",
        )
    return ToolError(
        "AUTH_MISSING",
        f"{server} wants a login: HTTP 401.",
        hint="Add it with --login, or with a --header that holds a credential."
        if login == LOGIN
        else f"Log in by `{login}`, or add the server again with a --header that holds a credential.",
    )


def _explain_forbidden(exchange: Exchange, server: str, login: str) -> ToolError:
    """The error for HTTP 403; `details` has the `scope` where the server says which it wants."""
    found = _SCOPE.search(exchange.challenge) if "insufficient_scope" in exchange.challenge else None
    if found is None:
        hint = "The account or the token may not do this. Log in with more rights, or ask who runs the server."
        return ToolError("ACCESS_REFUSED", f"{server} refuses access: HTTP 403{describe_words(exchange)}.", hint=hint)
    scope = without_invisible(found[1])[:_MAX_WORDS_CHARS]
    return ToolError(
        "ACCESS_REFUSED",
        f"{server} refuses access: the login does not have the scope {scope}.",
        hint=f"Log in again by `{login} --scope '{scope}'`.",
        details={"scope": scope},
    )


def _explain_redirect(exchange: Exchange, server: str) -> ToolError:
    target = describe_address(exchange.location) if "://" in exchange.location else exchange.location.partition("?")[0]
    return ToolError(
        "HTTP_ERROR",
        f"{server} leads to {target} (HTTP {exchange.status}), which is not followed to another server.",
        hint="Add the server by that URL, if it is the one that you mean.",
    )


def _no_protocol(server: str, why: str) -> ToolError:
    return ToolError(
        "PROTOCOL_ERROR",
        f"{server} does not speak MCP over streamable HTTP: {why}.",
        hint="Check the path of the URL: many servers have /mcp.",
    )


def _explain_words(error: MCPError) -> ToolError:
    message = without_invisible(error.message).strip()[:_MAX_WORDS_CHARS] or "an error without a message"
    if message in _DECLINED:
        return explain_declined(_DECLINED[message])
    if message == _ROOTS:
        return explain_declined("the folders of the client")
    if error.code == INVALID_PARAMS:
        return ToolError("INVALID_INPUT", f"The server refuses the arguments: {message}", hint="Correct them.")
    if error.code == METHOD_NOT_FOUND:
        return ToolError("PROTOCOL_ERROR", f"The server does not know what it was asked: {message}")
    if error.code == UNSUPPORTED_PROTOCOL_VERSION:
        return ToolError("PROTOCOL_ERROR", f"The server speaks another version of MCP: {message}")
    return ToolError("TOOL_ERROR", f"The server failed: {message}", details={"code": error.code})


def _is_said_by_server(exchange: Exchange | None) -> bool:
    """Whether the last answer held a JSON-RPC error, whatever its status is."""
    if exchange is None or exchange.status in (401, 403):
        return False
    if exchange.content_type == "text/event-stream":
        return exchange.status < 300
    return isinstance(_object(exchange.body).get("error"), dict)


def describe_words(exchange: Exchange) -> str:
    """What the server says about the status, as `: some words`; "" where it says nothing that is for people."""
    found = _object(exchange.body)
    said = found.get("error_description") or found.get("message") or found.get("detail") or found.get("error")
    if isinstance(said, dict):
        said = said.get("message")
    if said is None and exchange.content_type == "text/plain":
        said = exchange.body[: 4 * _MAX_WORDS_CHARS].decode(errors="replace")
    text = " ".join(without_invisible(said).split())[:_MAX_WORDS_CHARS].rstrip(".") if isinstance(said, str) else ""
    return f": {text}" if text else ""


def _object(body: bytes) -> dict[str, object]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
