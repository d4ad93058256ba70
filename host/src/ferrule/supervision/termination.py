"""Failures of calls whose process ended, or had to be ended, before it had answered."""

from __future__ import annotations

import os

from ferrule.errors import DeadlinePassed, ToolCrashed
from ferrule.supervision.signals import name_signal

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.errors import FerruleError
    from ferrule.text.json_types import JSONObject


def explain_status(status: int | None) -> FerruleError:
    """Why a child that has not answered has ended, by `os.waitpid`; None: it has closed the channel."""
    if status is None:
        return ToolCrashed("The tool closed the descriptor on which the host waits for its answer.")
    if os.WIFSIGNALED(status):
        return _ended_by_signal(os.WTERMSIG(status))
    code = os.WEXITSTATUS(status)
    if code == 0:
        return ToolCrashed("The tool ended its process, or closed all descriptors, before it had answered.")
    return ToolCrashed(f"The tool ended its process with exit code {code} before it had answered.")


def wrapper_failed(wrapper: str, error: str) -> JSONObject:
    """The event that says why a wrapper counts as absent."""
    return {"event": "wrapper_failed", "wrapper": wrapper, "error": error}


def name_wrapper(wrapper: str, reason: FerruleError) -> FerruleError:
    """The same failure, with the wrapper whose code ran by what the process said last."""
    if isinstance(reason, DeadlinePassed):
        return DeadlinePassed(
            f"The wrapper {wrapper} had not let the tool begin when the call's time was over.",
            admin="Switch it off, with `enabled = false` in its table or in FERRULE_WRAPPERS.",
        )
    return ToolCrashed(
        f"{reason.message} It had said that the wrapper {wrapper} runs.",
        admin="`ferrule doctor` finds a wrapper that cannot be loaded. The tool's own code runs in the same process.",
    )


def deadline_passed() -> DeadlinePassed:
    """The failure of a call whose time is over."""
    return DeadlinePassed(
        "The tool had not answered when the call's time was over.",
        hint="Ask for less.",
        admin="Where the client waits longer, raise FERRULE_DEADLINE (seconds).",
    )


def _ended_by_signal(number: int) -> FerruleError:
    return ToolCrashed(f"The tool's process was ended by {name_signal(number)}.")
