"""How a supervised piece of work ended."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.policy import Denial
    from ferrule.errors import ErrorFacts
    from ferrule.text.json_types import JSONObject


class Outcome:
    """How a supervised piece of work ended: with a result or with a failure.

    result: one JSON document, None where the work failed. failure: why, as of `FerruleError.facts()`, None where there
    is a result. Neither holds a secret. events: JSON objects for stderr. text: the first 12 KiB that the work printed.
    Events and text may hold secrets; these values must not leave the host. denied: what the work wanted and was
    refused, of which one may be why it failed.
    """

    __slots__ = ("denied", "events", "failure", "result", "secrets", "text")

    def __init__(
        self,
        result: bytes | None,
        failure: ErrorFacts | None,
        events: Sequence[JSONObject] = (),
        text: bytes = b"",
        secrets: Sequence[str] = (),
        denied: Sequence[Denial] = (),
    ) -> None:
        self.denied = denied
        self.result = result
        self.failure = failure
        self.events = events
        self.text = text
        self.secrets = secrets
