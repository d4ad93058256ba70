"""Tools that a provider would refuse, and the whole request with them, whatever is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.tools.protocols import ToolOffer


def find_refusal(form: ProviderFormat, schema: JSONMapping) -> str | None:
    """Why the provider of a form would refuse a tool; None where it takes it."""
    try:
        return next((loss.message for loss in form.losses(schema) if loss.refused), None)
    except ValueError as error:  # of a tool that the caller brings, whose schema breaks a rule
        return str(error)


def split_offers(form: ProviderFormat, offers: Sequence[ToolOffer]) -> tuple[list[ToolOffer], list[tuple[str, str]]]:
    """The tools that the provider of a form takes, and name and reason of the others."""
    reasons = [(offer, find_refusal(form, offer.schema)) for offer in offers]
    return [offer for offer, why in reasons if why is None], [(offer.name, why) for offer, why in reasons if why]
