"""What a question would take, worked out before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask import messages
from ferrule_ask.answer import Plan
from ferrule_ask.conversation import LONGEST_RESULT
from ferrule_ask.prices import likely_tokens, most_tokens, price_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule_ask.protocols import Offer
    from ferrule_ask.settings import Settings

_BLOCKS = 4_096  # bytes that JSON may take around what the model and the tool say
_BYTES_OF_A_TOKEN = 16  # that one token of output stands for at the most, when it is sent back


def plan(context: str | None, prompt: str, settings: Settings, offers: Sequence[Offer]) -> Plan:
    """The plan of a question with these tools on offer."""
    size = len(messages.encode(messages.first_request(settings, messages.question(context, prompt), offers)))
    likely, requests = likely_tokens(size), 2 if offers else 1
    most = most_tokens(size)
    if offers:
        most += most_tokens(size + LONGEST_RESULT + _BLOCKS + settings.max_tokens * _BYTES_OF_A_TOKEN)
    output = requests * settings.max_tokens
    price = price_of(settings.model, settings.prices)
    return Plan(
        requests_max=requests,
        input_tokens=likely,
        output_tokens_max=output,
        cost_min=float(price.cost(likely, 0)) if price else None,
        cost_max=float(price.cost(most, output)) if price else None,
        tools=tuple(offer.name for offer in offers),
    )
