"""What happens while a question is under way: on stderr the calls of tools, on a terminal the answer as it comes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TextIO

from ferrule.cli import note, plain
from ferrule_ask.terminal.live_text import LiveText

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_MAX_ARGUMENTS_CHARS = 200  # of a tool's arguments that are shown


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees what is written there."""
    return stream is not None and stream.isatty()


class Events:
    """Prints a tool's call on stderr as it happens: on a terminal when it begins, else when it has ended.

    Args:
        is_quiet: of what happens to single questions.

    warnings: sentences that have been printed so far. text: the answer, as far as it was shown.
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._is_live = is_terminal(sys.stderr)
        self._begun = ""
        self._reply = 0
        self.warnings: list[str] = []
        self.text = LiveText()

    def __call__(self, kind: str, facts: JSONMapping) -> None:
        """Take an event of the client."""
        if self._is_quiet and kind != "warning":
            return
        if kind == "text":
            self._say(facts["text"], facts["reply"])
            return
        self.text.end_line()
        if kind == "tool_call":
            self._begin(plain(f"{facts['tool']} {_shortened(facts['input'])} …"))
        elif kind == "tool_result":
            self._finish(f" {facts['seconds']:.1f} s{', failed' if facts['is_error'] else ''}")
        elif kind == "retry":
            self.text.begin_again()
            note(f"{facts['code']}: asking again in {facts['seconds']:.1f} s")
        elif kind == "wait":
            note(f"The next turn is in {facts['seconds']:.0f} s, at the pace that the provider allows.")
        elif kind == "warning":
            self.warnings.append(facts["message"])
            note(f"warning: {facts['message']}")

    def close(self) -> None:
        """Leave no line unfinished."""
        self.text.end_line()
        if self._begun:
            self._finish("")

    def _say(self, text: str, reply: int) -> None:
        if reply != self._reply:
            self.text.begin_next()
        self._reply = reply
        self.text.add(text)

    def _begin(self, text: str) -> None:
        self.close()
        self._begun = text
        if self._is_live:
            _echo(text, ends=False)

    def _finish(self, text: str) -> None:
        _echo(text if self._is_live else self._begun + text)
        self._begun = ""


def _echo(text: str, *, ends: bool = True) -> None:
    import click

    click.echo(text, nl=ends, err=True)


def _shortened(arguments: object) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= _MAX_ARGUMENTS_CHARS else f"{text[: _MAX_ARGUMENTS_CHARS - 1]}…"
