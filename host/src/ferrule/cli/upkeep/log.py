"""`ferrule log`: the journal of calls, listed, filtered, followed and summed up."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ferrule.cli.output import counted, home_as_tilde, note, plain, print_json, print_table, print_text
from ferrule.cli.selection import json_option
from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule.journal.entries import DamagedLine, JournalReader
from ferrule.journal.record import is_on, journal_settings
from ferrule.journal.selection import Selection, caller_of, parse_instant
from ferrule.journal.summary import summarise
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.journal.entries import Entry
    from ferrule.journal.summary import ToolSummary

_POLL_SECONDS = 0.2  # between two looks at the journal while it is followed
_HEADINGS = ("TIME", "TOOL", "CALLER", "OUTCOME", "SECONDS", "IN", "OUT", "DENIED")
_SUMMARY_HEADINGS = ("TOOL", "CALLS", "FAILED", "DENIED", "P50", "P95", "IN", "OUT", "FAILURES")
_MAX_ADVICE = 20
_SWITCH_ON = "Write `enabled = true` into the table [journal] of config.toml."


@click.command("log")
@click.option("--tool", "tools", multiple=True, metavar="TOOL", help="Only calls of this tool; may come several times.")
@click.option("--since", metavar="WHEN", help="Only calls since then: 30m, 2h, 7d, or a date such as 2026-05-01.")
@click.option(
    "--caller", default="", metavar="TEXT", help="Only calls by an agent, client or way with this text in it."
)
@click.option("--failed", is_flag=True, help="Only calls that failed.")
@click.option("--denied", is_flag=True, help="Only calls that were denied something.")
@click.option("--last", type=click.IntRange(min=0), default=100, show_default=True, help="The most calls; 0 for all.")
@click.option("--summary", is_flag=True, help="Sum the calls up, tool by tool.")
@click.option("--follow", is_flag=True, help="Go on with the calls that come, until Ctrl-C.")
@json_option
# Long by its help and by a parameter for each option.
def command(
    tools: tuple[str, ...],
    since: str | None,
    caller: str,
    failed: bool,
    denied: bool,
    last: int,
    summary: bool,
    follow: bool,
    as_json: bool,
) -> int:
    """Show the journal: who called which tool when, how it ended, how long it took, how much it read and wrote.

    The journal is off until config.toml says `enabled = true` in [journal]. Arguments are kept as hashes, unless the
    admin wants them. --summary counts all calls that are selected, and --last does not apply to it. With --json and
    --follow, each call is one line of JSON.

    \b
    Examples:
      ferrule log --tool web_fetch --since 2h --failed
      ferrule log --summary --since 7d
      ferrule log --follow --denied

    Exit code: 1 where the journal cannot be read, 0 otherwise, after Ctrl-C too.
    """
    if follow and summary:
        raise click.UsageError("--follow and --summary exclude each other.")
    settings = configuration.read()
    path = journal_settings(settings).path
    if not is_on(settings):
        note(f"The journal is off, so no call is written down. {_SWITCH_ON}")
    selection = Selection(tools, _instant(since), caller, failed, denied)
    reader = JournalReader(path)
    calls, damaged = _selected(reader, selection, is_last=not follow)
    if summary:
        _print_summary(summarise(calls), damaged, as_json)
        return 0
    calls = calls[-last:] if last else calls
    if follow:
        _print_followed(calls, as_json)
        return _follow(reader, selection, as_json)
    if as_json:
        print_json({"path": path, "on": is_on(settings), "calls": calls, "damaged": damaged})
    else:
        print_table(_HEADINGS, map(_row, calls))
        print_text(f"{counted(len(calls), 'call')}, {home_as_tilde(path)}")
        for advice in _advice(calls):
            print_text(advice, hanging=2)
    return 0


def _advice(calls: Iterable[Entry]) -> list[str]:
    """What an administrator can do about the calls that failed, a line for each tool and way."""
    return list(dict.fromkeys(f"{call['tool']}: {call['advice']}" for call in calls if call.get("advice")))[
        -_MAX_ADVICE:
    ]


def _instant(since: str | None) -> datetime | None:
    try:
        return parse_instant(since, datetime.now(UTC)) if since else None
    except ValueError as error:
        raise click.UsageError(f"--since: {error}.") from None


def _selected(reader: JournalReader, selection: Selection, *, is_last: bool) -> tuple[list[Entry], list[str]]:
    """The calls that are asked for, and the places of damaged lines, which are told on stderr."""
    found: list[Entry] = []
    damaged: list[str] = []
    try:
        for one in reader.read(is_last=is_last):
            if isinstance(one, DamagedLine):
                damaged.append(one.place)
            elif selection.has(one):
                found.append(one)
    except OSError as error:
        raise FerruleError(f"The journal cannot be read: {error.strerror}: {error.filename}.") from None
    if damaged:
        places = ", ".join(damaged[:5]) + (", …" if damaged[5:] else "")
        note(f"{counted(len(damaged), 'line')} of the journal cannot be read, and left out: {places}.")
    return found, damaged


def _follow(reader: JournalReader, selection: Selection, as_json: bool) -> int:
    try:
        while True:
            _print_followed(_selected(reader, selection, is_last=False)[0], as_json)
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        return 0


def _print_followed(calls: Iterable[Entry], as_json: bool) -> None:
    for call in calls:
        click.echo(strict_json.dumps(call) if as_json else "  ".join(_fixed(_row(call))).rstrip())


def _fixed(row: tuple[str, ...]) -> Iterator[str]:
    for cell, width in zip(row, (19, 20, 24, 14, 8, 8, 8, 0), strict=True):
        yield plain(cell).ljust(width)


def _row(call: Entry) -> tuple[str, ...]:
    return (
        _local_time(call["time"]),
        call["tool"],
        caller_of(call),
        call["outcome"],
        f"{call['seconds']:.3f}",
        f"{call['input_bytes']:,}",
        f"{call['output_bytes']:,}",
        ", ".join(f"{one['kind']} {one['what']}" for one in call.get("denied", ())),
    )


def _local_time(text: str) -> str:
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError):
        return text


def _print_summary(found: list[ToolSummary], damaged: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"tools": found, "damaged": damaged})
        return
    rows = [
        (
            one["tool"],
            f"{one['calls']:,}",
            f"{one['failed']:,}",
            f"{one['denied']:,}",
            f"{one['p50_seconds']:.3f} s",
            f"{one['p95_seconds']:.3f} s",
            f"{one['input_bytes']:,}",
            f"{one['output_bytes']:,}",
            ", ".join(f"{number} {code}" for code, number in one["failures"].items()),
        )
        for one in found
    ]
    print_table(_SUMMARY_HEADINGS, rows)
