"""Public through `ferrule.installed`: what a plugin, or a program of the user's, has another tool do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ferrule.errors import AnswerMissing
from ferrule.plugin.hooks.context import ANSWER_BYTES
from ferrule.supervision.channel.channel import current_channel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONMapping, JSONObject


def run_tool(
    name: str,
    arguments: JSONMapping,
    *,
    deadline: float,
    operation: str = "",
    max_bytes: int = ANSWER_BYTES,
) -> Outcome:
    """Run an installed tool, and say how that ended; never raises for anything that the tool does.

    In the process of a tool, the host that runs it runs the other one: by its own permissions, settings and
    credentials, for tools that the list `tools` of the caller's permissions names. Its result comes without secrets;
    what it prints is written to stderr. In a program of the user's, no other thread may be running.

    Args:
        deadline: an instant of `time.monotonic()`.
        operation: one of those that its `tool.json` names; empty, and it is executed, with arguments that have to fit
            its schema.
        max_bytes: of the result.

    Raises:
        AnswerMissing where the host does not answer.
    """
    from ferrule.plugin.called_tool import outcome_in
    from ferrule.plugin.runs import run_called
    from ferrule.supervision.channel.questions import RUN

    question: JSONObject = {
        RUN: name, "operation": operation, "arguments": dict(arguments), "deadline": deadline, "max_bytes": max_bytes,
    }  # fmt: skip
    channel = current_channel()
    answer = run_called(question) if channel is None else channel.ask(question)
    if answer is None:
        raise AnswerMissing()
    outcome = outcome_in(answer)
    if outcome.text:
        sys.stderr.write(outcome.text.decode(errors="replace"))
    return outcome


def find_configured(tools: Sequence[str]) -> dict[str, bool | None]:
    """Whether all is set that each tool says to need, in the keys `credentials` and `settings` of its `tool.json`.

    None where that is not known without running the tool's code. In the process of a tool, the host that runs it
    answers, for those that the tool's list `tools` of permissions names. Raises AnswerMissing, ConfigurationMalformed.
    """
    from ferrule.plugin.surroundings import CONFIGURED, answer_configured

    channel = current_channel()
    question: JSONObject = {CONFIGURED: list(tools)}
    answer = answer_configured(question) if channel is None else channel.ask(question)
    found = (answer or {}).get(CONFIGURED)
    return {name: found.get(name) if isinstance(found, dict) else None for name in tools}


def has_operation(tool: str, operation: str) -> bool:
    """Whether an installed tool has an operation that other tools may have run. False if there is no such tool."""
    from ferrule import discovery
    from ferrule.errors import ToolError
    from ferrule.plugin.called_tool import find_operation

    claims = discovery.scan().get(tool, [])
    try:
        return len(claims) == 1 and bool(find_operation(claims[0], operation))
    except ToolError:
        return False
