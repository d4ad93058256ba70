"""The schema of a plugin that computes it: asked of its hook, in a supervised child."""

from __future__ import annotations

from ferrule.schema.schema_file import require_valid
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel import Channel
    from ferrule.text.json_types import JSONObject

COMPUTED_SECONDS = 0.8
_MEMORY_MIB = 1024
_MAX_SCHEMA_BYTES = 1 << 20


def compute_schema(tool: InstalledTool, deadline: float) -> JSONObject:
    """The schema as the plugin's hook gives it, asked in a child that must answer by the deadline.

    Raises the error with which the plugin failed, and SchemaInvalid.
    """
    from ferrule.errors import ToolError
    from ferrule.supervision.supervisor import supervise

    def ask(channel: Channel) -> None:
        from ferrule.tool.loader import load

        loaded = load(tool)
        channel.secrets(loaded.secrets())
        channel.result(loaded.schema())

    outcome = supervise(ask, deadline=deadline, memory=_MEMORY_MIB, size_limit=_MAX_SCHEMA_BYTES)
    if outcome.result is None:
        raise ToolError.from_facts(outcome.failure or {})
    return require_valid(strict_json.loads(outcome.result), tool)
