"""Where a provider is asked: its own place, or the one that the admin names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule.errors import ToolError

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule_websearch.provider import Provider


def endpoint_of(provider: Provider, context: Context) -> str:
    """The URL to ask, without a query.

    Raises ToolError NETWORK_ERROR where what is named is none, and CONFIG_ERROR where none is named, but has to be.
    """
    if missing := missing_endpoint(provider, context):
        raise missing
    named = _named(provider, context)
    try:
        place = provider.endpoint_at(named) if named else provider.endpoint
        parts = urlsplit(place)
    except ValueError:
        raise unusable_endpoint(provider) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise unusable_endpoint(provider)
    if parts.username is not None:
        raise unusable_endpoint(provider, "holds a user name or a password, which are not sent")
    return parts.geturl()


def missing_endpoint(provider: Provider, context: Context) -> ToolError | None:
    """The error CONFIG_ERROR for a server of the user's own that is named nowhere; None where a place is known."""
    if provider.endpoint or _named(provider, context):
        return None
    setting = provider.endpoint_setting
    key = f", or {setting} in [tools.{context.tool}] of config.toml," if setting else ""
    return ToolError(
        "CONFIG_ERROR",
        f"{provider.name} is a server of your own, and its URL is not set.",
        hint=f"Set {provider.endpoint_variable}{key} to the URL of your server.",
    )


def unusable_endpoint(provider: Provider, why: str = "does not name an http or https URL without a query") -> ToolError:
    """The error for a place that cannot be asked. It is not shown, because it may hold a password."""
    name = provider.endpoint_variable
    by_setting = provider.endpoint_setting and not os.environ.get(name, "").strip()
    place = f"The setting {provider.endpoint_setting}" if by_setting else f"The environment variable {name}"
    return ToolError(
        "NETWORK_ERROR",
        f"{place} {why}.",
        hint=f"Write it as https://HOST/PATH{'' if by_setting or not provider.endpoint else f', or unset {name}'}.",
    )


def _named(provider: Provider, context: Context) -> str:
    if provider.endpoint_setting:
        return str(context.setting(provider.endpoint_setting, provider.endpoint_variable) or "").strip()
    return os.environ.get(provider.endpoint_variable, "").strip()
