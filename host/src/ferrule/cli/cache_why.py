"""`ferrule cache why`: the call that is asked about, looked at in a child where the plugin can be loaded."""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ferrule import configuration, discovery, inventory, schemas, strict_json
from ferrule.arguments import prepare
from ferrule.call import parse
from ferrule.cli.selection import unknown
from ferrule.errors import FerruleError, InputMalformed
from ferrule.key_values import Pair, arguments

if TYPE_CHECKING:
    from ferrule.channel import Channel
    from ferrule.configuration import Configuration
    from ferrule.discovery import InstalledTool

_LARGEST = 4 << 20  # bytes of what there is to say


def explained(name: str, words: Sequence[str], *, from_stdin: bool) -> dict[str, Any]:
    """What `inspection.explain` finds out about a call. Raises FerruleError where the call could not be made."""
    from ferrule.supervisor import supervise

    settings = configuration.read()
    claims = discovery.scan()
    if name not in claims:
        raise unknown(name, claims)
    tool = discovery.find(name, settings)
    deadline = time.monotonic() + configuration.deadline()
    schema = schemas.static(tool) or schemas.computed(tool, min(deadline, time.monotonic() + inventory.SECONDS))
    given = prepare(_arguments(words, schema, from_stdin=from_stdin), schema["parameters"])

    def look(channel: "Channel") -> None:
        _look(channel, tool, given, settings, deadline)

    outcome = supervise(look, deadline=deadline, memory=settings.memory(name), size_limit=_LARGEST)
    if outcome.result is None:
        raise schemas.reported(outcome.failure or {})
    facts = strict_json.loads(outcome.result)
    return facts if isinstance(facts, dict) else {}


def _look(
    channel: "Channel", tool: "InstalledTool", given: dict[str, Any], settings: "Configuration", deadline: float
) -> None:
    from ferrule.artifacts.settings import WRAPPER as ARTIFACTS
    from ferrule.artifacts.wrapper import ROOM
    from ferrule.caching import inspection
    from ferrule.caching.calls import NAME
    from ferrule.context import Context
    from ferrule.loading import load
    from ferrule.storage.failures import StoreFailed
    from ferrule.wrapped_call import WrappedCall

    loaded = load(tool)
    context = Context(
        tool.name,
        deadline,
        credentials=loaded.credentials(),
        settings=settings.tool(tool.name),
        wrappers={NAME: inspection.table_of(settings)},
    )
    channel.secrets(context.secrets())
    context.call = WrappedCall(loaded, given, context)
    wrappers = settings.wrappers()
    if ARTIFACTS in wrappers and context.call.results.linkable:
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
