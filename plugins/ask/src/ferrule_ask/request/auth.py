"""Where requests go, and with which key: the same as the official SDK."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from ferrule_ask.keys import Keys
    from ferrule_ask.settings import Settings

_PATH = "v1/messages"
_OWN = ("localhost", "127.0.0.1", "::1")


def endpoint(base_url: str) -> str:
    """The address of the Messages API. A path of the base URL stays, with or without a slash at its end."""
    return base_url + ("" if base_url.endswith("/") else "/") + _PATH


def is_in_clear(base_url: str) -> bool:
    """Whether a key would go through a network unencrypted."""
    try:
        parts = urlsplit(base_url)
        return parts.scheme.lower() == "http" and parts.hostname not in _OWN
    except ValueError:
        return False


def secret(keys: Keys) -> str:
    """The key: ANTHROPIC_API_KEY of the session or environment, then ANTHROPIC_AUTH_TOKEN, then a file's API key.

    A user who sets the token for a gateway does not want a key from a file sent there. Raises CallFailed.
    """
    from ferrule.errors import CredentialsMalformed
    from ferrule_ask.keys import ANTHROPIC, SESSION, how_to_set

    token = os.environ.get("ANTHROPIC_AUTH_TOKEN", "").strip()
    try:
        found = keys.find(ANTHROPIC.environment, ANTHROPIC.path)
    except CredentialsMalformed as error:
        if not token or os.environ.get(ANTHROPIC.environment, "").strip():
            raise CallFailed("AUTH_MISSING", f"{error.message} {error.hint or ''}".strip(), was_sent=False) from None
        found = None
    if token and (found is None or not found.source.startswith((SESSION, "environment"))):
        return _sendable(token)
    if found is None:
        sentence = f"There is no key for the model. {how_to_set(ANTHROPIC)}"
        raise CallFailed("AUTH_MISSING", sentence, was_sent=False)
    return found.value


def headers(settings: Settings, key: str) -> Mapping[str, str]:
    """The headers of a request."""
    from ferrule import __version__

    return {
        "authorization": f"Bearer {key}",
        "anthropic-version": settings.api_version,
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": f"ferrule/{__version__}",
    }


def _sendable(token: str) -> str:
    from ferrule import Credential

    if not Credential.is_sendable(token):
        sentence = "The value of ANTHROPIC_AUTH_TOKEN cannot be a token: it holds a blank, or is not ASCII. Correct it."
        raise CallFailed("AUTH_MISSING", sentence, was_sent=False)
    return token
