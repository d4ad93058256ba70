"""Ask a model, which may call a tool."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from ferrule.cli import complete, counted, harmless, json_option, note, plain, print_indented, print_json
from ferrule.errors import CredentialsMalformed, FerruleError
from ferrule_ask.answer import Answer, Plan

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_MAX_CONTEXT_BYTES = 32 << 20  # more than the API takes as a whole request
_MAX_ARGUMENTS_CHARS = 200  # of a tool's arguments that are shown


@click.command("ask")
@click.argument("prompt", metavar="QUESTION")
@click.option("--context", "source", metavar="FILE", help="A file with what the question is about; - is stdin.")
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME", shell_complete=complete, help="Offer this tool; may be repeated."
)
@click.option("--no-tools", is_flag=True, help="Offer no tool.")
@click.option("--model", metavar="NAME", help="The model to ask.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="The most that the model may write.")
@click.option("--plan", "is_plan", is_flag=True, help="Say what the question would take, and send nothing.")
@json_option
def command(
    prompt: str,
    source: str | None,
    tools: tuple[str, ...],
    no_tools: bool,
    model: str | None,
    max_tokens: int | None,
    is_plan: bool,
    as_json: bool,
) -> int:
    """Put a QUESTION to a model of Anthropic, and print its answer on stdout.

    The model may call one tool, once; stderr shows the call as it happens. Offered is the first of the tools
    web_search_*, by name, that has its keys; --tool names others. A question for which a tool is called takes two
    requests to the model, and costs about twice as much as one without.

    The model's key is looked up in ANTHROPIC_API_KEY, in the credentials file, and in ~/.stps/anthropic_api_key.

    \b
    Examples:
      ferrule ask "Who won yesterday's match in Oslo?"
      ferrule ask "What is this about?" --context notes.txt --no-tools
      git diff | ferrule ask "Is there a defect in this?" --context - --plan

    Exit code: 0 where the model has answered, 1 where it has not or its answer was cut off.
    """
    if no_tools and tools:
        raise click.UsageError("--tool and --no-tools exclude each other.")
    context = None if source is None else _context(source)
    if not prompt.strip():
        raise click.UsageError("QUESTION is blank.")
    from ferrule_ask import Client

    with closing(_Calls()) as event, Client(tools=() if no_tools else tools or None, event=event) as client:
        ask = client.plan if is_plan else client.ask
        reply = ask(context, prompt, model=model, max_tokens=max_tokens)
        left_out = client.left_out
    for name, reason in left_out if tools or _is_terminal(sys.stderr) else ():
        note(f"{name} is not offered: {reason}")
    if as_json:
        omissions = [{"tool": name, "reason": reason} for name, reason in left_out]
        print_json({**reply._asdict(), "left_out": omissions, "warnings": event.warnings})
    elif isinstance(reply, Plan):
        _print_plan(reply)
    else:
        _print_answer(reply)
    return int(isinstance(reply, Answer) and reply.code is not None)


class _Calls:
    """Prints a tool's call on stderr as it happens: on a terminal when it begins, else when it has ended.

    warnings: sentences that have been printed so far.
    """

    def __init__(self) -> None:
        self._is_live = _is_terminal(sys.stderr)
        self._begun = ""
        self.warnings: list[str] = []

    def __call__(self, kind: str, facts: JSONMapping) -> None:
        """Take an event of the client."""
        if kind == "tool_call":
            self._begin(plain(f"{facts['tool']} {_shortened(facts['input'])} …"))
        elif kind == "tool_result":
            self._finish(f" {facts['seconds']:.1f} s{', failed' if facts['is_error'] else ''}")
        elif kind == "retry":
            note(f"{facts['code']}: asking again in {facts['seconds']:.1f} s")
        elif kind == "warning":
            self.warnings.append(facts["message"])
            note(f"warning: {facts['message']}")

    def close(self) -> None:
        """Leave no line unfinished."""
        if self._begun:
            self._finish("")

    def _begin(self, text: str) -> None:
        self.close()
        self._begun = text
        if self._is_live:
            click.echo(text, nl=False, err=True)

    def _finish(self, text: str) -> None:
        click.echo(text if self._is_live else self._begun + text, err=True)
        self._begun = ""


def _context(source: str) -> str:
    """The text of a file or of stdin. Raises FerruleError where it cannot be read, is no text, or is too large."""
    name = "stdin" if source == "-" else source
    if source == "-" and sys.stdin is None:
        raise FerruleError("stdin cannot be read: it is closed.")
    try:
        with sys.stdin.buffer if source == "-" else Path(source).open("rb") as file:
            data = file.read(_MAX_CONTEXT_BYTES + 1)
    except OSError as error:
        raise FerruleError(f"{name} cannot be read: {error.strerror}.") from None
    if len(data) > _MAX_CONTEXT_BYTES:
        raise FerruleError(f"{name} is larger than 32 MiB, which no model takes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FerruleError(f"{name} is not text in UTF-8.") from None


def _shortened(arguments: object) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= _MAX_ARGUMENTS_CHARS else f"{text[: _MAX_ARGUMENTS_CHARS - 1]}…"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _print_answer(answer: Answer) -> None:
    if answer.text is not None and sys.stdout is not None:
        text = harmless(answer.text).decode() if _is_terminal(sys.stdout) else answer.text
        sys.stdout.write(f"{text}\n")  # click would take colours out of it
        sys.stdout.flush()
    if answer.code is not None:
        note(f"Error: {answer.code}: {answer.error or 'The model has not answered.'}")
    if answer.code == "AUTH_MISSING" and _has_no_key():
        note("Run: ferrule credentials set ask api_key")


def _has_no_key() -> bool:
    """Whether there is no key at all, rather than one that has to be mended where it is."""
    from ferrule_ask.keys import ANTHROPIC, Keys

    try:
        return Keys().find(ANTHROPIC.environment) is None
    except CredentialsMalformed:
        return False


def _print_plan(plan: Plan) -> None:
    click.echo(f"At most {counted(plan.requests_max, 'request')}, and retries where the server fails.")
    print_indented(
        f"Tools offered:  {', '.join(plan.tools) or 'none'}",
        f"Input:          {plan.input_tokens:,} tokens in the first request, estimated",
        f"Output:         {plan.output_tokens_max:,} tokens at most",
        f"Cost:           {_cost(plan)}",
    )


def _cost(plan: Plan) -> str:
    if plan.cost_min is None or plan.cost_max is None:
        return "not known: there is no price for this model"
    return f"{plan.cost_min:.5f} to {plan.cost_max:.5f} US dollars"
