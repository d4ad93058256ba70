"""`ferrule run`: one call of a tool, as its executable makes it."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.calls.call import ForkRunner, StreamSource, ToolCall, answer, parse
from ferrule.calls.lookup import AdmittedLookup
from ferrule.calls.output import Output
from ferrule.calls.streams import Streams
from ferrule.cli.arguments import Pair, arguments, schema_of
from ferrule.cli.output import harmless
from ferrule.cli.selection import accept_own, complete, find_tool, json_option, require_known
from ferrule.config import configuration
from ferrule.errors import FerruleError, InputMalformed
from ferrule.supervision.bounded import BoundedProcess
from ferrule.supervision.signals import Signals
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.config import Configuration
    from ferrule.content import Item
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject


@click.command("run")
@click.argument("tool", shell_complete=complete)
@click.argument("words", nargs=-1, metavar="[JSON | KEY=VALUE...]")
@click.option("--dry-run", is_flag=True, help="Check the arguments, and execute nothing.")
@click.option("--trace", is_flag=True, help="Show what the call touches, and the permissions that it needs.")
@click.option("--confined", is_flag=True, help="With --trace: hold the call to the permissions that it has.")
@json_option
def command(tool: str, words: tuple[str, ...], dry_run: bool, trace: bool, confined: bool, as_json: bool) -> int:
    """Call a tool and print what its executable answers: one JSON document on stdout, text on stderr.

    The arguments are one JSON object, or KEY=VALUE in the types of the tool's schema, or KEY:=JSON as it is. A key
    that takes an array may come several times. With -, or with no arguments and something other than a terminal on
    stdin, the JSON object is read from there.

    On a terminal the document is indented; of an event the text is shown, and of an image or a file its path; a failure
    is shown once. With --json, and everywhere else, all is byte for byte the executable's. What a terminal would obey
    is spelt out.

    --trace is for authors. It shows the files, programs, hosts, variables and processes that the call touches, without
    those that every tool may, and prints the `permissions` for tool.json. The call is held to nothing then, unless
    --confined is there too. What a call does with other arguments is not seen.

    \b
    Examples:
      ferrule run web_fetch url=https://example.com limit=20
      ferrule run web_fetch '{"url": "https://example.com"}'
      ferrule run weather city=Oslo --dry-run
      ferrule run --trace weather city=Oslo

    Exit code: the executable's, 0 where the tool answered and 1 where it failed.
    """
    if confined and not trace:
        raise click.UsageError("--confined is for --trace; every other call is held to its permissions anyway.")
    pairs = _pairs(words)  # a usage error is reported before the streams are taken
    with suppress(FerruleError):  # which the call answers with
        BoundedProcess(lambda: accept_own([tool])).result(None)
    gc.disable()  # the child that executes the tool enables it, as an executable's does
    streams = Streams()
    with Signals() as signals:
        deadline = time.monotonic() + configuration.deadline()
        lookup = _Lookup(tool)
        source = _CommandSource(pairs, _text(words), StreamSource(streams, signals, deadline), deadline, lookup)
        if trace:
            return _trace(tool, source, deadline, streams, signals, dry_run, confined, as_json)
        call = ToolCall(tool, source, ForkRunner(signals), deadline, lookup=lookup, is_dry_run=dry_run, way="run")
        return answer(call, streams, signals, partial(_format_for_terminals, streams, as_json, tool))


def _trace(
    tool: str,
    source: _CommandSource,
    deadline: float,
    streams: Streams,
    signals: Signals,
    dry_run: bool,
    confined: bool,
    as_json: bool,
) -> int:
    from ferrule.calls.traced_runner import TracingRunner
    from ferrule.cli.tools import run_trace

    runner = TracingRunner(signals, is_confined=confined)
    call = ToolCall(tool, source, runner, deadline, resolve_tool=find_tool, is_dry_run=dry_run, way="run")
    return run_trace.trace(call, runner, streams, signals, as_json=as_json)


def _pairs(words: Sequence[str]) -> list[Pair] | None:
    """The words as pairs; None where the arguments are one JSON document, on the command line or on stdin."""
    if not words or words == ("-",) or (len(words) == 1 and words[0].lstrip()[:1] in ("{", "[")):
        is_without_input = not words and sys.stdin is not None and sys.stdin.isatty()
        return [] if is_without_input else None
    try:
        return [Pair(word) for word in words]
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None


def _text(words: Sequence[str]) -> bytes | None:
    """The JSON document that is among the words; None where stdin has it."""
    return os.fsencode(words[0]) if words and words != ("-",) else None


class _Lookup(AdmittedLookup):
    """The error for a tool that is not there names those that were probably meant."""

    def find_tool(self, name: str, settings: Configuration) -> InstalledTool:
        """See `AdmittedLookup`. Raises ToolUnknown."""
        require_known([name], discovery.scan())
        return super().find_tool(name, settings)


class _CommandSource:
    """Arguments that may stand on the command line: as pairs, or as a JSON document; else they are on stdin."""

    def __init__(
        self, pairs: list[Pair] | None, text: bytes | None, stdin: StreamSource, deadline: float, lookup: _Lookup
    ) -> None:
        self._lookup = lookup
        self._pairs = pairs
        self._text = text
        self._stdin = stdin
        self._deadline = deadline

    def read_input(self) -> bytes:
        """Return the JSON document; nothing where there are pairs."""
        if self._pairs is not None:
            return b""
        return self._stdin.read_input() if self._text is None else self._text

    def parse_arguments(self, data: bytes, tool: InstalledTool) -> JSONObject:
        """Return the pairs in the types of the schema, or the JSON object."""
        if self._pairs is None:
            return parse(data, "stdin" if self._text is None else "The argument")
        needs_schema = any(not pair.is_json for pair in self._pairs)
        schema = schema_of(tool, self._deadline, self._lookup.configuration()) if needs_schema else {}
        try:
            return arguments(self._pairs, schema)
        except ValueError as error:
            raise InputMalformed(f"{error}.") from None


def _format_for_terminals(streams: Streams, as_json: bool, tool: str, output: Output) -> Output:
    """The output as a user reads it, of each stream that is a terminal, which obeys nothing in it.

    Where both are, a failure stands there once: its document says all that the first line of stderr does.
    """
    document, text = output.document, output.text
    is_told = streams.stdout is not None and os.isatty(streams.stdout) and os.isatty(2) and not as_json
    if is_told and output.exit_code and text.startswith(f"{tool}: ".encode(errors="replace")):
        text = text.partition(b"\n")[2]
    if streams.stdout is not None and os.isatty(streams.stdout):
        document = harmless(document.decode()) if as_json else _format_document(document)
    if os.isatty(2):
        lines = text.splitlines(keepends=True)
        text = b"".join(map(_legible if as_json else _content, lines))
    return Output(document, text, output.exit_code)


def _format_document(document: bytes) -> bytes:
    from ferrule.content import items_in

    try:
        facts = json.loads(document)
        items = items_in(facts)
        texts = [_indent(facts)] if items is None else list(map(_show_item, items))
    except RecursionError:
        return harmless(document.decode())
    return harmless("\n".join(texts))


def _indent(facts: object) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False)


def _show_item(item: Item) -> str:
    """A text as it is; of a file, where it is, which a terminal may make a link of."""
    if item["type"] == "text":
        return item["text"]
    if item["type"] == "json":
        return _indent(item["value"])
    name = f"{item['name']}, " if item.get("name") else ""
    place = item.get("path") or f"{item['resource']}, read by artifact_read"
    return f"{item['type']} ({name}{item['mimeType']}, {item['bytes']:,} bytes): {place}"


def _content(line: bytes) -> bytes:
    """What an event says to the user; any other line as it is."""
    try:
        event = strict_json.loads(line)
    except strict_json.MalformedJSON:
        return _legible(line)
    if not isinstance(event, dict) or ("event" not in event and event.get("kind") != "config_required"):
        return _legible(line)
    content = event.get("content")
    return harmless(content) + b"\n" if isinstance(content, str) else _legible(line)


def _legible(line: bytes) -> bytes:
    return harmless(line.decode(errors="replace"))
