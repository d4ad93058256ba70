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

    Args:
        result: one JSON document, None where the work failed.
        failure: why, see `FerruleError.facts()`, None for a result. Neither holds a secret.
        events: JSON objects for stderr.
        text: the first 12 KiB that the work printed. Events and text may hold secrets; these values must not leave the
            host.
        denied: what the work wanted and was refused, of which one may be why it failed.
        is_said: whether the failure is what the process itself has said, in which a plugin ran.
        refused: the failures with which the host has answered questions of the process.
        is_unbegun: whether there was no process or descriptor for it, so that it can be done as well elsewhere.
    """

    __slots__ = ("denied", "events", "failure", "is_said", "is_unbegun", "refused", "result", "secrets", "text")

    def __init__(
        self,
        result: bytes | None,
        failure: ErrorFacts | None,
        events: Sequence[JSONObject] = (),
        text: bytes = b"",
        secrets: Sequence[str] = (),
        denied: Sequence[Denial] = (),
        *,
        is_said: bool = False,
        refused: Sequence[ErrorFacts] = (),
        is_unbegun: bool = False,
    ) -> None:
        self.is_unbegun = is_unbegun
        self.is_said = is_said
        self.refused = refused
        self.denied = denied
        self.result = result
        self.failure = failure
        self.events = events
        self.text = text
        self.secrets = secrets
