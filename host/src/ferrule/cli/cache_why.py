"""`ferrule cache why`: the call that is asked about, looked at in a child where the plugin can be loaded."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from ferrule import discovery
from ferrule.admin import inventory
from ferrule.admin.suggestions import unknown_tool
from ferrule.calls.call import parse
from ferrule.cli.arguments import Pair, arguments
from ferrule.config import configuration
from ferrule.errors import FerruleError, InputMalformed
from ferrule.schema import schema_file
from ferrule.schema.arguments import prepare
from ferrule.text import strict_json
from ferrule.tool import computed_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel import Channel

_LARGEST = 4 << 20  # bytes of what there is to say


def explained(name: str, words: Sequence[str], *, from_stdin: bool) -> dict[str, Any]:
    """What `inspection.explain` finds out about a call. Raises FerruleError where the call could not be made."""
    from ferrule.supervision.supervisor import supervise

    settings = configuration.read()
    claims = discovery.scan()
    if name not in claims:
        raise unknown_tool(name, claims)
    tool = discovery.find(name, settings)
    deadline = time.monotonic() + configuration.deadline()
    schema = schema_file.static(tool) or computed_schema.computed(
        tool, min(deadline, time.monotonic() + inventory.SECONDS)
    )
    given = prepare(_arguments(words, schema, from_stdin=from_stdin), schema["parameters"])

    def look(channel: Channel) -> None:
        _look(channel, tool, given, settings, deadline)

    outcome = supervise(look, deadline=deadline, memory=settings.memory(name), size_limit=_LARGEST)
    if outcome.result is None:
        raise computed_schema.reported(outcome.failure or {})
    facts = strict_json.loads(outcome.result)
    return facts if isinstance(facts, dict) else {}


def _look(
    channel: Channel, tool: InstalledTool, given: dict[str, Any], settings: Configuration, deadline: float
) -> None:
    from ferrule.storage.failures import StoreFailed
    from ferrule.tool.call_info import CallInfo
    from ferrule.tool.context import Context
    from ferrule.tool.loader import load
    from ferrule.wrappers.artifacts.settings import WRAPPER as ARTIFACTS
    from ferrule.wrappers.artifacts.wrapper import ROOM
    from ferrule.wrappers.cache import inspection
    from ferrule.wrappers.cache.cached_call import NAME

    loaded = load(tool)
    context = Context(
        tool.name,
        deadline,
        credentials=loaded.credentials(),
        settings=settings.tool(tool.name),
        wrappers={NAME: inspection.table_of(settings)},
    )
    channel.secrets(context.secrets())
    context.call = CallInfo(loaded, given, context)
    wrappers = settings.wrappers()
    if ARTIFACTS in wrappers and context.call.result_policy.linkable:
        context.max_bytes = ROOM  # as that wrapper, which is outside of the cache, would have it
    try:
        channel.result(inspection.explain(context, inspection.opened(settings), is_on=NAME in wrappers))
    except (StoreFailed, ValueError) as failure:
        text = str(failure)
        raise FerruleError(f"{text[:1].upper()}{text[1:]}.") from None


def _arguments(words: Sequence[str], schema: dict[str, Any], *, from_stdin: bool) -> dict[str, Any]:
    if from_stdin:
        if words:
            raise click.UsageError("The arguments stand on the command line, or on stdin with --stdin.")
        return parse(sys.stdin.buffer.read() if sys.stdin else b"")
    if len(words) == 1 and words[0].lstrip()[:1] in ("{", "["):
        return parse(words[0].encode(errors="surrogateescape"), "The argument")
    try:
        return arguments([Pair(word) for word in words], schema)
    except ValueError as error:
        raise InputMalformed(f"{error}.") from None
