"""The schema of a plugin that computes it: asked of its hook, in a supervised child."""

from __future__ import annotations

import time

from ferrule.schema.schema_file import require_valid
from ferrule.supervision.processes import seconds_since_start
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject

COMPUTED_SECONDS = 0.5
"""From the start of the process. The client's alarm rings 1 s after that, and ends the client."""

_FRESH_SECONDS = 5.0  # no client waits for an older process, which has become an executable by `exec` only
_MAX_SCHEMA_BYTES = 1 << 20


def client_deadline(imported: float) -> float:
    """The instant of `time.monotonic()` by which an executable must have its schema. imported: when it came to run."""
    age = seconds_since_start()
    started = imported if age is None or age > _FRESH_SECONDS else min(imported, time.monotonic() - age)
    return started + COMPUTED_SECONDS


def compute_schema(tool: InstalledTool, deadline: float, settings: Configuration | None = None) -> JSONObject:
    """The schema as the plugin's hook gives it, asked in a child that must answer by the deadline.

    settings: the configuration, which is read where it is not given.

    Raises the error with which the plugin failed, DeadlinePassed where it is late, and SchemaInvalid.
    """
    from ferrule.config import configuration
    from ferrule.errors import DeadlinePassed, ToolError

    late = DeadlinePassed(f"{tool.name} of {tool.source} had not given its schema in time.", hint=_late(tool))
    if time.monotonic() >= deadline:
        raise late  # on a machine so busy, another process would take the time in which the client is still there
    from ferrule.supervision.supervisor import supervise
    from ferrule.trust.credentials.claims import given_secrets
    from ferrule.trust.load_policy import policy_for_loading

    def ask(channel: Channel) -> None:
        from ferrule.plugin.loader import load

        channel.result(load(tool).schema())

    settings = configuration.read() if settings is None else settings
    policy = policy_for_loading(tool, settings)
    outcome = supervise(
        ask,
        deadline=deadline,
        memory=settings.loading_memory(tool.name),
        size_limit=_MAX_SCHEMA_BYTES,
        policy=policy,
        secrets=given_secrets(tool, policy.environment or {}),
    )
    if outcome.failure and outcome.failure["code"] == DeadlinePassed.code:
        raise late
    if outcome.result is None:
        raise ToolError.from_facts(outcome.failure or {})
    return require_valid(strict_json.loads(outcome.result), tool)


def _late(tool: InstalledTool) -> str:
    return (
        f"Ship the schema as a file, which takes no time: beside {tool.module}, as schema.json of a package or "
        "NAME.schema.json of a module. What else it does while it is imported belongs into execute."
    )
