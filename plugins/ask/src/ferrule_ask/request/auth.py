"""Where requests go, and with which key: the same as the official SDK of each provider."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from ferrule_ask.keys import Keys
    from ferrule_ask.models.provider import Provider
    from ferrule_ask.settings import Settings

_OWN = ("localhost", "127.0.0.1", "::1")


def is_in_clear(base_url: str) -> bool:
    """Whether a key would go through a network unencrypted."""
    try:
        parts = urlsplit(base_url)
        return parts.scheme.lower() == "http" and parts.hostname not in _OWN
    except ValueError:
        return False


def secret(keys: Keys, provider: Provider) -> str:
    """The key: of the session or environment, then the provider's token, then a key of a file; "" where none is wanted.

    A user who sets the token for a gateway does not want a key from a file sent there. Raises CallFailed.
    """
    from ferrule.errors import CredentialsMalformed
    from ferrule_ask.keys import SESSION, how_to_set

    credential = provider.key
    if credential is None:
        return ""
    token = os.environ.get(provider.token_variable, "").strip() if provider.token_variable else ""
    try:
        found = keys.find(credential.environment, credential.path)
    except CredentialsMalformed as error:
        if not token or os.environ.get(credential.environment, "").strip():
            raise CallFailed("AUTH_MISSING", f"{error.message} {error.hint or ''}".strip(), was_sent=False) from None
        found = None
    if token and (found is None or not found.source.startswith((SESSION, "environment"))):
        return _sendable(token, provider.token_variable)
    if found is None:
        sentence = f"There is no key for the model. {how_to_set(credential)}"
        raise CallFailed("AUTH_MISSING", sentence, was_sent=False)
    return found.value


def headers(settings: Settings, key: str) -> Mapping[str, str]:
    """The headers of a request."""
    from ferrule import __version__

    return {
        **settings.provider.headers(settings, key),
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": f"ferrule/{__version__}",
    }


def _sendable(token: str, variable: str) -> str:
    from ferrule import Credential

    if not Credential.is_sendable(token):
        sentence = f"The value of {variable} cannot be a token: it holds a blank, or is not ASCII. Correct it."
        raise CallFailed("AUTH_MISSING", sentence, was_sent=False)
    return token
