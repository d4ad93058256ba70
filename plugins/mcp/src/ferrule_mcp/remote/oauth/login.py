"""Log in at a server, for `ferrule mcp add` and `ferrule mcp login`: the result is a token for the credentials file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.utils import is_valid_client_metadata_url
from pydantic import ValidationError

from ferrule import ToolError
from ferrule.http import AsyncHTTPXTransport
from ferrule.text.invisible import without_invisible
from ferrule_mcp.remote.failures import describe_words, explain_failure
from ferrule_mcp.remote.guard import ServerGuard, describe_address, find_network, is_loopback, require_confidential
from ferrule_mcp.remote.oauth.client import LoginClient
from ferrule_mcp.remote.watched_transport import Watch, WatchedTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule import JSONObject
    from ferrule_mcp.remote.oauth.answer import Redirect

LOGIN_SECONDS = 300.0
"""How long a user has to log in."""

_REQUESTS_SECONDS = 60.0  # for all requests of a login together
_VERSION = "2025-11-25"
_UNAUTHORIZED = 401
_MAX_ANSWER_BYTES = 1 << 20
_MAX_WORDS_CHARS = 400
_QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": _VERSION}


# Long by its parameters, of which each is explained here and nowhere else.
def log_in(
    url: str,
    redirect: Redirect,
    *,
    command: str,
    client_id: str = "",
    client_secret: str = "",
    scope: str = "",
    network: Sequence[str] | None = None,
    seconds: float = LOGIN_SECONDS,
) -> JSONObject:
    """Log in, and return the token as the credentials file keeps it. Nothing is stored.

    Args:
        url: of the server, as its calls use it: the token is for this address.
        redirect: how the answer of the authorization server comes back.
        command: that logs in again, which errors name.
        client_id: of a client that the user has registered, or the https address of a document that describes one; ""
            to be registered by this login.
        client_secret: of that client, where it has one.
        scope: asked for in addition to what the server wants, as names with blanks between them.
        network: the permission of the server's tools; what names its own address where it is None.
        seconds: that the user has.

    Raises:
        ToolError: LOGIN_FAILED, LOGIN_NOT_NEEDED, TIMEOUT, INVALID_URL, and the errors of a request.
    """
    require_confidential(url)
    named = list(find_network(url) if network is None else network)
    # What belongs to a server of this machine may be on this machine, too. Nothing else leads there.
    guard = ServerGuard([*named, "loopback"] if is_loopback(url) else named)
    _require_client_document(client_id)
    client = LoginClient(url, redirect, client_id=client_id, client_secret=client_secret, scope=scope, seconds=seconds)
    watch = Watch()
    deadline = time.monotonic() + seconds + _REQUESTS_SECONDS
    try:
        anyio.run(_ask, url, client, AsyncHTTPXTransport(deadline, guard=guard), watch)
    except (OAuthFlowError, OAuthTokenError, ValidationError, ValueError) as error:
        raise _explain(error, watch, url) from None
    if not client.has_token:
        raise _explain_no_login(watch, url)
    if watch.exchange is not None and watch.exchange.status == _UNAUTHORIZED:
        raise ToolError(
            "LOGIN_FAILED",
            f"{describe_address(url)} refuses the token that its own authorization server has given.",
            hint="Ask who runs the server.",
        )
    return client.write_token(command)


async def _ask(url: str, client: LoginClient, transport: httpx2.AsyncBaseTransport, watch: Watch) -> None:
    """Ask the server what needs a login. The SDK logs in at the answer 401, and asks again."""
    rules = _Rules(watch, url)
    async with (
        httpx2.AsyncClient(
            transport=WatchedTransport(transport, watch, _MAX_ANSWER_BYTES),
            auth=client.provider,
            timeout=None,
            event_hooks={"request": [rules.check]},
        ) as http,
        http.stream("POST", url, json=_QUESTION, headers=_HEADERS),
    ):
        pass  # the answer is in the watch


def _require_client_document(client_id: str) -> None:
    """Raise ToolError LOGIN_FAILED where an address as a client id cannot be one."""
    if "://" in client_id and not is_valid_client_metadata_url(client_id):
        raise ToolError("LOGIN_FAILED", "The address of a client's document has https, and a path.")


class _Rules:
    """What holds for each request of a login.

    The SDK takes a metadata document that it cannot get for one that is not there, and goes on with addresses of the
    server itself. So nothing is sent any more once a request was refused, or has failed.
    """

    def __init__(self, watch: Watch, url: str) -> None:
        self._watch = watch
        self._url = url

    async def check(self, request: httpx2.Request) -> None:
        """Raise ToolError where the request must not be sent."""
        if self._watch.refusal or self._watch.reason or self._watch.excess:
            raise explain_failure(OAuthFlowError("no answer"), self._watch, self._url)
        require_confidential(str(request.url))


def _explain_no_login(watch: Watch, url: str) -> ToolError:
    """The error where the server has not asked for a token."""
    exchange = watch.exchange
    if (
        exchange is None
        or watch.refusal
        or watch.reason
        or exchange.status in (403, 404, 405)
        or exchange.status >= 500
    ):
        return explain_failure(OAuthFlowError("no answer"), watch, url)
    return ToolError(
        "LOGIN_NOT_NEEDED", "The server answers without a login.", hint="Add it, or call its tools, without one."
    )


def _explain(error: Exception, watch: Watch, url: str) -> ToolError:
    """The error of a login. What a server has said is quoted only where it is the words of an error."""
    if watch.refusal or watch.reason:
        return explain_failure(error, watch, url)
    exchange = watch.exchange
    said = describe_words(exchange) if exchange is not None and exchange.status >= 400 else ""
    if isinstance(error, OAuthRegistrationError):
        return ToolError(
            "LOGIN_FAILED",
            f"The authorization server does not register this client{said}.",
            hint="Register a client there by hand, and name it by --client-id.",
        )
    if isinstance(error, OAuthTokenError):
        return ToolError("LOGIN_FAILED", f"The authorization server has given no token{said}.", hint="Log in again.")
    if isinstance(error, OAuthFlowError):
        words = " ".join(without_invisible(str(error)).split())[:_MAX_WORDS_CHARS].rstrip(".")
        return ToolError("LOGIN_FAILED", f"The login is not safe, or not possible: {words}.", hint="Ask who runs it.")
    return ToolError("LOGIN_FAILED", f"The authorization server's answers cannot be read{said}.")
