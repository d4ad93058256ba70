"""`ferrule cache why`: the call that is asked about, looked at in a child where the plugin can be loaded."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ferrule.calls.call import parse
from ferrule.cli.arguments import Pair, arguments, schema_of
from ferrule.cli.selection import find_tool
from ferrule.config import configuration
from ferrule.errors import FerruleError, InputMalformed, ToolError
from ferrule.schema.arguments import prepare
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject

_MAX_ANSWER_BYTES = 4 << 20  # bytes of what there is to say


def explain_call(name: str, words: Sequence[str], *, from_stdin: bool) -> JSONObject:
    """What `inspection.explain` finds out about a call. Raises FerruleError where the call could not be made."""
    from ferrule.plugin.runs import RunZygote
    from ferrule.plugin.surroundings import Surroundings
    from ferrule.supervision.supervisor import supervise
    from ferrule.trust.door.admission import admit

    settings = configuration.read()
    tool = find_tool(name, settings)
    deadline = time.monotonic() + configuration.deadline()
    schema = schema_of(tool, deadline, settings)
    given = prepare(_arguments(words, schema, from_stdin=from_stdin), schema["parameters"])

    def look(channel: Channel) -> None:
        _look(channel, tool, given, settings, deadline)

    with RunZygote(tool, settings) as runs:
        policy = admit(tool, settings).policy()
        allowed = Surroundings(tool, policy)
        outcome = supervise(
            look,
            deadline=deadline,
            memory=settings.memory(name),
            size_limit=_MAX_ANSWER_BYTES,
            policy=policy,
            secrets=allowed.secrets,
            answer=allowed.answer,
            runs=runs,
        )
    if outcome.result is None:
        raise ToolError.from_facts(outcome.failure or {})
    facts = strict_json.loads(outcome.result)
    return facts if isinstance(facts, dict) else {}


def _look(channel: Channel, tool: InstalledTool, given: JSONObject, settings: Configuration, deadline: float) -> None:
    from ferrule.content.artifacts.settings import NAME as ARTIFACTS
    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.credential_values import ask_for_values
    from ferrule.plugin.hooks.result_policy import wanted_wrappers
    from ferrule.plugin.loader import load
    from ferrule.plugin.wrapper_context import CallInfo, WrapperContext
    from ferrule.storage import StorageError
    from ferrule.wrappers.artifacts.wrapper import MAX_STORED_BYTES
    from ferrule.wrappers.cache import inspection
    from ferrule.wrappers.cache.settings import NAME

    loaded = load(tool)
    credentials = loaded.credentials()
    values = ask_for_values(channel, tool.name, credentials)
    own = settings.tool(tool.name)
    plain = Context(tool.name, deadline, credentials=credentials, settings=own, values=values)
    context = WrapperContext(plain, {NAME: settings.wrapper(NAME)})
    context.call = CallInfo(loaded, given, context)
    policy = context.call.result_policy
    wrappers = {**wanted_wrappers(policy, settings.wrapper_tables()), **settings.wrappers()}
    if ARTIFACTS in wrappers and policy.linkable:
        context.max_bytes = MAX_STORED_BYTES  # as that wrapper, which is outside of the cache, would have it
    try:
        channel.result(
            inspection.explain(context, inspection.open_configured(settings, tool.name), is_on=NAME in wrappers)
        )
    except (StorageError, ValueError) as failure:
        text = str(failure)
        raise FerruleError(f"{text[:1].upper()}{text[1:]}.") from None


def _arguments(words: Sequence[str], schema: JSONObject, *, from_stdin: bool) -> JSONObject:
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
