"""Work with plugin code, in a process of its own that is held and has a limit."""

from __future__ import annotations

import os
import time

from ferrule.errors import DeadlinePassed, FerruleError, ToolBroken, ToolError
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.errors import ErrorFacts
    from ferrule.supervision.channel.channel import Channel
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONMapping

LOAD_SECONDS = 5.0  # that one plugin gets to be loaded and to say what it is
_GRACE_SECONDS = 1.0  # in which the process that stands between says that the plugin was late
_INTERRUPTED = "The call was interrupted by"
_MAX_BYTES = 1 << 20


def run_supervised(
    work: Callable[[Channel], None],
    policy: Policy,
    secrets: Sequence[str] = (),
    seconds: float = LOAD_SECONDS,
    tools: Sequence[str] = (),
) -> object:
    """Do work with plugin code in a child; its result, or the error with which it failed.

    Another process stands between: a plugin that sends its parent a signal ends no listing of other tools.

    Args:
        policy: what the child is held to.
        secrets: values in its environment that no output may hold.
        seconds: that it may take.
        tools: that it loads, besides that of the policy. It may have as much memory as any of them for a call.

    Raises:
        CallInterrupted.
    """
    from ferrule.config.configuration import read
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.supervisor import supervise

    deadline, memory = time.monotonic() + seconds, read().loading_memory(policy.tool, *tools)

    def stand_between(channel: Channel) -> None:
        inner = supervise(work, deadline=deadline, memory=memory, size_limit=_MAX_BYTES, policy=policy, secrets=secrets)
        os.write(2, inner.text)
        channel.secrets(inner.secrets)
        if inner.result is None:
            raise _of_facts(inner.failure)
        channel.result(strict_json.loads(inner.result))

    with Signals() as signals:
        limit = deadline + _GRACE_SECONDS
        outcome = supervise(stand_between, deadline=limit, memory=memory, size_limit=_MAX_BYTES, signals=signals)
        if signals.interrupted:
            raise signals.interrupted
    return strict_json.loads(_result_of(outcome, seconds))


def _result_of(outcome: Outcome, seconds: float) -> bytes:
    if outcome.result is None:
        raise _error_of(outcome, seconds)
    return outcome.result


def _of_facts(facts: ErrorFacts | None) -> FerruleError:
    error = ToolError.from_facts(facts or {})
    if facts is not None and _INTERRUPTED in error.message:
        error.message = error.message.replace(_INTERRUPTED, "The plugin has ended the host's process by")
        error.message = error.message.replace("before the tool had answered", "while it was loaded")
    return error


def _error_of(outcome: Outcome, seconds: float) -> FerruleError:
    from ferrule.text.redaction import redact

    failure: JSONMapping = outcome.failure or {}
    if os.environ.get("FERRULE_DEBUG"):
        os.write(2, redact(outcome.text, outcome.secrets))
    if failure.get("code") == DeadlinePassed.code:
        hint = "What it does while it is imported belongs into execute."
        details = {"seconds": seconds}
        return ToolBroken(f"It had not said what it is after {seconds:.0f} s.", hint=hint, details=details)
    return ToolError.from_facts(failure)
