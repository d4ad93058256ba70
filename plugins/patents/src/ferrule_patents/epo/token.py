"""The token by which the EPO knows a key for twenty minutes: each call asks for one of its own, and keeps none."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule.http import Client, RequestFailed

if TYPE_CHECKING:
    from ferrule import Context

_MAX_BYTES = 1 << 16
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
_REFUSED = (400, 401, 403)
_HINT = "See that key and secret are those of your app at https://developers.epo.org/user/apps."


def get_token(place: str, key: str, secret: str, context: Context) -> str:
    """A token.

    Args:
        place: the URL that gives them.

    Raises:
        ToolError AUTH_INVALID, NETWORK_ERROR or API_ERROR; none of its texts has the key.
    """
    pair = b64encode(f"{key}:{secret}".encode()).decode()
    headers = {**_FORM, "Authorization": f"Basic {pair}"}
    try:
        with Client(context.deadline, headers=headers) as client:
            response = client.open("POST", place, content=b"grant_type=client_credentials")
            status, body = response.status, response.read(_MAX_BYTES)
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"EPO gave no answer: {failed.reason}.") from None
    if status in _REFUSED:
        raise ToolError("AUTH_INVALID", f"EPO refused the key and its secret (HTTP {status}).", hint=_HINT)
    if status != 200:
        raise ToolError("API_ERROR", f"EPO answered with HTTP {status} where a token was asked for.")
    return _read_token(body)


def _read_token(body: bytes) -> str:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    token = document.get("access_token") if isinstance(document, dict) else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise ToolError("API_ERROR", "EPO sent something else than a token.")
    return token
