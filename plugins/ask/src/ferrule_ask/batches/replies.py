"""What a result of a batch is for the question that waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask.models.batch_api import BatchResult
from ferrule_ask.models.dialogue import MessageUnreadable
from ferrule_ask.request import errors
from ferrule_ask.request.errors import CallFailed

if TYPE_CHECKING:
    from ferrule_ask.batches.route import Route
    from ferrule_ask.models.dialogue import Reply


def make_failure(name: str, sentence: str, *, is_refused: bool) -> BatchResult:
    """The result of a request of which a batch has none. is_refused: whether the provider took no batch at all."""
    said = f"The provider refused the batch: {sentence}" if is_refused else sentence
    return BatchResult(name, None, "INVALID_REQUEST" if is_refused else "API_ERROR", said)


def read_reply(result: BatchResult, route: Route) -> Reply:
    """The reply in a result. Raises CallFailed: `was_sent` if it may be charged."""
    if result.response is None:
        was_sent = result.code == "API_ERROR"  # what expired, was cancelled or refused never came to the model
        raise CallFailed(result.code, f"{result.sentence} Run the same command again.", was_sent=was_sent)
    if result.response.status != 200:
        failure = errors.refusal(result.response, route.secret, route.provider)
        failure.was_sent = False  # it is not charged
        raise failure
    try:
        return route.provider.read(result.response)
    except MessageUnreadable as error:
        raise errors.unreadable(result.response, str(error), route.secret, route.provider) from None
