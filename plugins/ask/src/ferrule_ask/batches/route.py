"""Where batches go: a provider that has them, and the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule_ask.models.batch_api import BatchAPI, Exchange
    from ferrule_ask.models.provider import Provider


class BatchesUnavailable(FerruleError):
    """The provider of a model has no batches."""


class Route(NamedTuple):
    """Where batches go. url: of one request that is sent alone."""

    provider: Provider
    api: BatchAPI
    url: str
    secret: str
    exchange: Exchange


def require_api(provider: Provider) -> BatchAPI:
    """The batches of a provider, which has them as its `batches`. Raises BatchesUnavailable."""
    api: BatchAPI | None = getattr(provider, "batches", None)
    if api is None:
        raise BatchesUnavailable(f"{provider.name} has no batches.", hint="Ask without --batch, or another model.")
    return api
