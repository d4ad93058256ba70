"""Tokens of OAuth that expire: the host renews them, since no process of a tool may read or write the credentials file.

A token is an object of the credentials file where else a text stands. A login has written it. It has `access_token`,
and what the renewal needs: `refresh_token`, `expires_at` (seconds since 1970), `token_endpoint`, `client_id`, and where
the server wants them `client_secret`, `auth_method` and `resource`. `networks` are the own networks in which the
endpoint may be, `login` the command that logs in again.

All of it is from the file, and nothing from a tool: no tool can say where a refresh token is sent.
"""

from __future__ import annotations

import os
import time

from ferrule.errors import ToolError
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from typing import Protocol

    from ferrule.config.credentials_file import CredentialsFile
    from ferrule.text.json_types import JSONMapping, JSONObject

    class Credential(Protocol):
        """What a tool declares; see `ferrule.Credential`."""

        environment: str
        path: str


FOLDER = "renewals"
_MARGIN_SECONDS = 30.0  # before the end of a token at which it is renewed, so that it does not expire on its way
_REQUEST_SECONDS = 15.0
_LOCK_SECONDS = 30.0
_MAX_ANSWER_BYTES = 1 << 16
_MAX_LIFE_SECONDS = 10 * 365 * 86_400.0
_MAX_WORDS_CHARS = 200
_ENDED = ("invalid_grant", "invalid_client", "unauthorized_client")  # of RFC 6749, 5.2


def renew_value(credential: Credential, environ: Mapping[str, str], file: CredentialsFile, refused: str) -> None:
    """Renew the token that a credential has in the file, if it has one there, and if it is the value that counts.

    Args:
        credential: whose value it is.
        environ: in which a variable wins over the file.
        file: the credentials file, which may be older than what `renew` reads.
        refused: see `renew`.

    Raises:
        ToolError, FerruleError: as `renew`.
    """
    if file.token(credential.path) is not None and not environ.get(credential.environment, "").strip():
        renew(os.path.realpath(file.path), credential.path, refused)


def renew(path: str, key: str, refused: str = "") -> None:
    """Renew a token that has expired, or that is the one a server has refused. Its file then holds the new one.

    One process at a time does so: one that has waited for another finds that token renewed.

    Args:
        path: the credentials file.
        key: the dotted key of the token.
        refused: an access token; "" where none was refused.

    Raises:
        ToolError: AUTH_INVALID where the login is no longer valid, TIMEOUT, NETWORK_ERROR and HTTP_ERROR where the
            server that gives tokens does not do so now.
        FerruleError: where the file cannot be written.
    """
    if not _is_due(_read(path, key), refused):
        return
    try:
        with _lock(path, key):
            token = _read(path, key)
            if _is_due(token, refused):
                _renew_locked(path, key, token, is_refused=refused == token.get("access_token"))
    except TimeoutError:
        raise ToolError("TIMEOUT", f"Another process has been renewing the token {key} for too long.") from None


def _renew_locked(path: str, key: str, token: JSONObject, *, is_refused: bool) -> None:
    from ferrule.trust.credentials import credentials_writer

    if not token.get("refresh_token"):
        raise _login_ended(token)
    try:
        renewed = _request(token)
    except ToolError as error:
        if error.code == "AUTH_INVALID":  # it will not become valid again, so nobody asks once more
            without = {name: value for name, value in token.items() if name != "refresh_token"}
            credentials_writer.exchange(path, key, token, without)
        elif not is_refused and not _has_expired(token):
            return
        raise
    credentials_writer.exchange(path, key, token, renewed)


def _read(path: str, key: str) -> JSONObject:
    from ferrule.config.credentials_file import CredentialsFile

    return CredentialsFile(path).token(key) or {}


def _is_due(token: JSONMapping, refused: str) -> bool:
    if not token:
        return False
    return token.get("access_token") == refused or _has_expired(token, _MARGIN_SECONDS)


def _has_expired(token: JSONMapping, margin: float = 0.0) -> bool:
    end = token.get("expires_at")
    return isinstance(end, int | float) and end - margin <= time.time()


def _request(token: JSONObject) -> JSONObject:
    """The token as it is after its renewal. Raises ToolError."""
    from ferrule.http import AddressGuard, Client, RequestFailed

    deadline = time.monotonic() + _REQUEST_SECONDS
    endpoint = _endpoint(token)
    headers, form = _form(token)
    try:
        guard = AddressGuard(token.get("networks") or ())
        with (
            Client(deadline, guard=guard) as client,
            client.open("POST", endpoint, headers=headers, content=form) as response,
        ):
            return _read_answer(token, response.status, response.read(_MAX_ANSWER_BYTES))
    except RequestFailed as failed:
        raise ToolError(
            "NETWORK_ERROR",
            f"The login has expired, and {_server(endpoint)}, which renews it, cannot be reached: {failed.reason}.",
            hint="Try again later.",
        ) from None
    except ValueError:
        raise _login_ended(token) from None


def _endpoint(token: JSONMapping) -> str:
    endpoint = token.get("token_endpoint")
    networks = token.get("networks") or ()
    is_usable = isinstance(endpoint, str) and (
        endpoint.startswith("https://") or (endpoint.startswith("http://") and "loopback" in networks)
    )
    if not is_usable:
        raise _login_ended(token)
    return str(endpoint)


def _form(token: JSONMapping) -> tuple[dict[str, str], bytes]:
    """The headers and the body of the request of RFC 6749, 6."""
    from urllib.parse import quote, urlencode

    client, secret = str(token.get("client_id", "")), str(token.get("client_secret") or "")
    fields = {"grant_type": "refresh_token", "refresh_token": str(token["refresh_token"]), "client_id": client}
    if resource := token.get("resource"):
        fields["resource"] = str(resource)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if secret and token.get("auth_method") == "client_secret_basic":
        from base64 import b64encode

        login = f"{quote(client, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
    elif secret:
        fields["client_secret"] = secret
    return headers, urlencode(fields).encode()


def _read_answer(token: JSONObject, status: int, body: bytes) -> JSONObject:
    """The token with what the server has answered."""
    answer = _object(body)
    access = answer.get("access_token")
    if status == 200 and isinstance(access, str) and str(answer.get("token_type", "")).lower() == "bearer":
        renewed = {**token, "access_token": access}
        renewed.pop("expires_at", None)
        seconds = answer.get("expires_in")
        if isinstance(seconds, int | float) and 0 <= seconds <= _MAX_LIFE_SECONDS:
            renewed["expires_at"] = int(time.time() + seconds)
        if isinstance(fresh := answer.get("refresh_token"), str) and fresh:
            renewed["refresh_token"] = fresh
        return renewed
    error = answer.get("error")
    if error in _ENDED:
        raise _login_ended(token)
    said = f" ({error})" if isinstance(error, str) and error.isprintable() else ""
    raise ToolError(
        "HTTP_ERROR",
        f"The login has expired, and {_server(str(token['token_endpoint']))} has not renewed it: "
        f"HTTP {status}{said[:_MAX_WORDS_CHARS]}.",
        hint="Try again later.",
    )


def _login_ended(token: JSONMapping) -> ToolError:
    login = token.get("login")
    command = f"`{login}`" if isinstance(login, str) and login.isprintable() else "the command that has made the login"
    return ToolError("AUTH_INVALID", "The login is no longer valid.", hint=f"Log in again by {command}.")


def _object(body: bytes) -> JSONObject:
    try:
        return strict_json.loads_object(body)
    except ValueError:
        return {}


def _server(endpoint: str) -> str:
    """The host of an endpoint, for a message."""
    return endpoint.partition("://")[2].partition("/")[0].rpartition("@")[2]


def _lock(path: str, key: str) -> AbstractContextManager[object]:
    """The lock of one token. Where the state folder cannot be used, calls that come at once may each renew it."""
    from contextlib import nullcontext

    from ferrule.storage import locked, make_folder, state_folder
    from ferrule.text.sha256 import sha256_hex

    folder = os.path.join(state_folder(), FOLDER)
    try:
        make_folder(folder)
        lock = locked(os.path.join(folder, f"{sha256_hex(f'{path} {key}'.encode())}.lock"), _LOCK_SECONDS)
        return _Entered(lock)
    except TimeoutError:
        raise
    except OSError:
        return nullcontext()


class _Entered:
    """A lock that is held already."""

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        lock.__enter__()
        self._lock = lock

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._lock.__exit__(None, None, None)
