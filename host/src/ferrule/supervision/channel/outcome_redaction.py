"""What a call's outcome says, as far as it may be said: without secrets, and with what was refused."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrule.confinement.policy import Denial
    from ferrule.errors import ErrorFacts


def redact_outcome(
    result: bytes | None, failure: ErrorFacts | None, secrets: Sequence[str], go_on: Callable[[], None]
) -> tuple[bytes | None, ErrorFacts | None]:
    """The outcome without secrets.

    Args:
        go_on: raises a FerruleError where the call ends meanwhile.
    """
    from ferrule.text.redaction import Redaction, redact_value

    if result is not None:
        return Redaction(secrets).of_json(result, go_on), None
    return None, redact_value(failure, secrets)


def with_reported(known: Sequence[Denial], reported: Sequence[tuple[str, str]]) -> list[Denial]:
    """What was refused, with what the process itself says of that, also where it went on."""
    from ferrule.confinement.denials import KINDS
    from ferrule.confinement.policy import Denial

    said = [Denial(kind, what) for kind, what in reported if kind in KINDS]
    return list(dict.fromkeys([*known, *said]))


def redact_denial(denial: Denial, secrets: Sequence[str]) -> Denial:
    """The same, where a secret may be part of a path."""
    from ferrule.confinement.policy import Denial
    from ferrule.text.redaction import redact_value

    return Denial(denial.kind, str(redact_value(denial.what, secrets)))
