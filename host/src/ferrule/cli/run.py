"""`ferrule run`: one call of a tool, as its executable makes it."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from ferrule import discovery
from ferrule.admin import inventory
from ferrule.admin.suggestions import unknown_tool
from ferrule.calls.call import Call, parse
from ferrule.calls.streams import Streams
from ferrule.cli.arguments import Pair, arguments
from ferrule.cli.selection import complete, json_option
from ferrule.errors import InputMalformed
from ferrule.schema import schema_file
from ferrule.supervision.signals import Signals
from ferrule.text import strict_json
from ferrule.tool import computed_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config import configuration
    from ferrule.discovery import InstalledTool


@click.command("run")
@click.argument("tool", shell_complete=complete)
@click.argument("words", nargs=-1, metavar="[JSON | KEY=VALUE...]")
@click.option("--dry-run", is_flag=True, help="Check the arguments, and execute nothing.")
@json_option
def command(tool: str, words: tuple[str, ...], dry_run: bool, as_json: bool) -> int:
    """Call a tool and print what its executable answers: one JSON document on stdout, text on stderr.

    The arguments are one JSON object, or KEY=VALUE in the types of the tool's schema, or KEY:=JSON as it is. A key
    that takes an array may come several times. With -, or with no arguments and something other than a terminal on
    stdin, the JSON object is read from there.

    On a terminal the document is indented, and of an event the text is shown; with --json, and everywhere else, all is
    byte for byte the executable's.

    \b
    Examples:
      ferrule run web_fetch url=https://example.com limit=20
      ferrule run web_fetch '{"url": "https://example.com"}'
      ferrule run weather city=Oslo --dry-run

    Exit code: the executable's, 0 where the tool answered and 1 where it failed.
    """
    _pairs(words)  # a usage error is told before the streams are taken
    gc.disable()  # the child that executes the tool enables it, as an executable's does
    streams = Streams()
    with Signals() as signals:
        return _Run(tool, words, streams, signals, dry=dry_run, is_pretty=not as_json).answer()


def _pairs(words: Sequence[str]) -> list[Pair] | None:
    """The words as pairs; None where the arguments are one JSON document, on the command line or on stdin."""
    if not words or words == ("-",) or (len(words) == 1 and words[0].lstrip()[:1] in ("{", "[")):
        return None if words or not _stdin_is_terminal() else []
    try:
        return [Pair(word) for word in words]
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None


def _text(words: Sequence[str]) -> bytes | None:
    """The JSON document that is among the words; None where stdin has it."""
    return os.fsencode(words[0]) if words and words != ("-",) else None


def _stdin_is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


class _Run(Call):
    """A call whose arguments may stand on the command line."""

    def __init__(
        self, name: str, words: Sequence[str], streams: Streams, signals: Signals, *, dry: bool, is_pretty: bool
    ) -> None:
        super().__init__(name, {}, streams, signals, time.monotonic(), dry=dry)
        self._pairs = _pairs(words)
        self._text = _text(words)
        self._is_pretty = is_pretty

    def received(self) -> bytes:
        """What stands on the command line, and where nothing does, what is on stdin."""
        if self._pairs is not None:
            return b""
        return super().received() if self._text is None else self._text

    def found(self, settings: configuration.Configuration) -> InstalledTool:
        """The tool; the error for one that is not there names those that were probably meant."""
        claims = discovery.scan()
        if self.name not in claims:
            raise unknown_tool(self.name, claims)
        return super().found(settings)

    def arguments(self, data: bytes, tool: InstalledTool) -> dict[str, Any]:
        """The pairs in the types of the schema, or the JSON object."""
        if self._pairs is None:
            return parse(data, "stdin" if self._text is None else "The argument")
        needs_schema = any(not pair.is_json for pair in self._pairs)
        schema = (schema_file.static(tool) or self._computed(tool)) if needs_schema else {}
        try:
            return arguments(self._pairs, schema)
        except ValueError as error:
            raise InputMalformed(f"{error}.") from None

    def shown(self, document: bytes) -> bytes:
        """The document as a person reads it, where a person does."""
        if not self._is_pretty or self._streams.stdout is None or not os.isatty(self._streams.stdout):
            return document
        try:
            text = json.dumps(json.loads(document), indent=2, ensure_ascii=False)
        except RecursionError:
            return document
        return harmless(text)

    def reported(self, text: bytes) -> bytes:
        """The text with the content of each event in the event's place, where a person reads it."""
        if not self._is_pretty or not os.isatty(2):
            return text
        return b"".join(map(_content, text.splitlines(keepends=True)))

    def _computed(self, tool: InstalledTool) -> dict[str, Any]:
        return computed_schema.computed(tool, min(self.deadline, time.monotonic() + inventory.SECONDS))


def _content(line: bytes) -> bytes:
    """What an event says to a person; any other line as it is."""
    try:
        event = strict_json.loads(line)
    except strict_json.MalformedJSON:
        return line
    content = event.get("content") if isinstance(event, dict) and "kind" in event else None
    return harmless(content) + b"\n" if isinstance(content, str) else line


def harmless(text: str) -> bytes:
    """Whatever a page or a plugin has put into a string, the terminal is not to obey it."""
    return "".join(_visible(letter) for letter in text).encode()


def _visible(letter: str) -> str:
    return letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]
