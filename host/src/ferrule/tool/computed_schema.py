"""The schema of a plugin that computes it: asked of its hook, in a supervised child."""

from __future__ import annotations

from ferrule.schema.schema_file import sound
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.supervision.channel import Channel

COMPUTED_SECONDS = 0.8
_MEMORY_MIB = 1024
_MAX_SCHEMA_BYTES = 1 << 20


def computed(tool: InstalledTool, deadline: float) -> dict[str, Any]:
    """The schema as the plugin's hook gives it, asked in a child that must answer by the deadline.

    Raises the error with which the plugin failed, and SchemaInvalid.
    """
    from ferrule.supervision.supervisor import supervise

    def ask(channel: Channel) -> None:
        from ferrule.tool.loader import load

        loaded = load(tool)
        channel.secrets(loaded.secrets())
        channel.result(loaded.schema())

    outcome = supervise(ask, deadline=deadline, memory=_MEMORY_MIB, size_limit=_MAX_SCHEMA_BYTES)
    if outcome.result is None:
        raise reported(outcome.failure or {})
    return sound(strict_json.loads(outcome.result), tool)


def reported(facts: dict[str, object]) -> FerruleError:
    """The failure that a child reported, as an error of this process."""
    from ferrule.errors import ToolError

    hint = facts.get("hint")
    details = facts.get("details")
    return ToolError(
        str(facts.get("code", "INTERNAL_ERROR")),
        str(facts.get("message", "The tool failed without a word.")),
        hint=hint if isinstance(hint, str) else None,
        details=details if isinstance(details, dict) else None,
    )
