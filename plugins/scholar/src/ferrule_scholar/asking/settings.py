"""What the admin has decided for the tools of papers: the contact, how long services get, where they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule.errors import ToolError

if TYPE_CHECKING:
    from ferrule import Context

EMAIL, EMAIL_VARIABLE = "email", "FERRULE_SCHOLAR_EMAIL"
PATIENCE, PATIENCE_VARIABLE = "patience_seconds", "FERRULE_SCHOLAR_PATIENCE_SECONDS"
_PATIENCE_SECONDS = 8.0  # that all services get together, in which most answer several times
_MAX_PATIENCE_SECONDS = 60.0
_LEFT_SECONDS = 2.0  # of the call, to make an answer of what has come
_ADDRESS = re.compile(r"[^\s@<>()]+@[^\s@<>()]+\.[A-Za-z]{2,}")


def contact_of(context: Context) -> str:
    """The e-mail address by which services may reach the user; "" where none is set. Raises ToolError."""
    value = str(context.setting(EMAIL, EMAIL_VARIABLE) or "").strip()
    if value and not (_ADDRESS.fullmatch(value) and value.isascii()):
        hint = f"Set {EMAIL_VARIABLE}, or {EMAIL} in [tools.{context.tool}] of config.toml, to your address."
        raise _configuration_error("The contact for services of papers is no e-mail address.", hint)
    return value


def patience_of(context: Context) -> float:
    """The seconds that services get together, within what is left of the call."""
    try:
        seconds = float(context.setting(PATIENCE, PATIENCE_VARIABLE) or _PATIENCE_SECONDS)
    except (TypeError, ValueError):
        seconds = _PATIENCE_SECONDS
    if not 0 < seconds <= _MAX_PATIENCE_SECONDS:
        seconds = _PATIENCE_SECONDS
    return min(seconds, max(0.5, context.remaining() - _LEFT_SECONDS))


def share_of_patience(context: Context, later: int) -> float:
    """The seconds for services of one step, which leave as much of the call to each of the steps that may follow.

    later: how many these are.
    """
    return min(patience_of(context), max(0.5, (context.remaining() - _LEFT_SECONDS) / (later + 1)))


def endpoint_of(context: Context, setting: str, variable: str, otherwise: str) -> str:
    """The URL of a service without a slash at its end. Raises ToolError CONFIG_ERROR where what is named is none."""
    value = str(context.setting(setting, variable) or "").strip().rstrip("/")
    if not value:
        return otherwise
    try:
        parts = urlsplit(value)
        is_place = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        is_place = False
    if not is_place or parts.username is not None:
        hint = f"Write it as https://HOST/PATH, or unset {variable}."
        raise _configuration_error(f"{variable} (or the setting {setting}) names no http or https URL.", hint)
    return value


def _configuration_error(message: str, hint: str) -> ToolError:
    details = {"kind": "config", "retryable": False, "suggestedAction": "inform_user"}
    return ToolError("CONFIG_ERROR", message, hint=hint, details=details)
