"""`ferrule cache`: what the wrapper `cache` has kept, why it answers a call or does not, and how to empty it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ferrule.cli.output import counted, home_as_tilde, plain, print_json, print_table, print_text
from ferrule.cli.selection import complete, json_option
from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule.storage import StorageError
from ferrule.text import strict_json
from ferrule.wrappers.cache import inspection
from ferrule.wrappers.cache.keys import short_key

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule.wrappers.cache.inspection import CacheRecord
    from ferrule.wrappers.cache.settings import AnyStore

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


@click.group("cache")
def command() -> None:
    """Show what the cache has kept, why it answers a call or does not, and empty it.

    The cache is a wrapper: on for the tools that want it, and off for all others until config.toml or FERRULE_WRAPPERS
    switches it on. It keeps results on this machine, or on the Redis server that FERRULE_REDIS, or redis in
    [wrappers.cache], names.

    \b
    Examples:
      ferrule cache show
      ferrule cache why web_search_brave query=cats count=5
      ferrule cache clear --expired
    """


@command.command("show", short_help="List what is kept.")
@click.argument("tool", required=False, shell_complete=complete)
@json_option
def show(tool: str | None, as_json: bool) -> int:
    """List the entries of TOOL, or all: what was asked, how old the answer is, how long it is given again.

    On a Redis server there are hashes instead of the arguments.

    \b
    Example: ferrule cache show web_fetch

    Exit code: 1 where the store cannot be read; 0 otherwise.
    """
    with _usable_store() as known:
        found = sorted(inspection.records(known, tool), key=lambda one: (one.entry.tool, one.age or 0.0))
    if as_json:
        backend = {"kind": known.kind, "place": known.place}
        total = sum(one.bytes for one in found)
        print_json({"backend": backend, "entries": [one.as_dict() for one in found], "bytes": total})
    else:
        _print(known, found)
    return 0


@command.command("why", short_help="Say whether a call would be answered from the cache, and why.")
@click.argument("tool", shell_complete=complete)
@click.argument("words", nargs=-1, metavar="[JSON | KEY=VALUE...]")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the arguments from stdin, as one JSON object.")
@json_option
def why(tool: str, words: tuple[str, ...], from_stdin: bool, as_json: bool) -> int:
    """Say whether a call of TOOL would be answered from the cache: its key, the parts of it, the nearest entries.

    The arguments are given as to `ferrule run`. Nothing is executed, and the environment is the one that this command
    has: where it differs from the client's, so does the key.

    \b
    Examples:
      ferrule cache why web_search_brave query=cats
      echo '{"query": "cats"}' | ferrule cache why web_search_brave --stdin

    Exit code: 0 where the call would be answered from the cache, 1 otherwise.
    """
    from ferrule.cli.upkeep.cache_why import explain_call

    facts = explain_call(tool, words, from_stdin=from_stdin)
    if as_json:
        print_json(facts)
    else:
        _print_reasons(facts)
    return int(not facts["cached"])


@command.command("clear", short_help="Remove what is kept.")
@click.argument("tool", required=False, shell_complete=complete)
@click.option("--expired", is_flag=True, help="Remove only what is no longer given.")
@json_option
def clear(tool: str | None, expired: bool, as_json: bool) -> int:
    """Remove the entries of TOOL, or all.

    \b
    Example: ferrule cache clear web_fetch --expired

    Exit code: 1 where the store cannot be used; 0 otherwise.
    """
    with _usable_store() as known:
        number, size = inspection.clear(known, tool, expired=expired)
    if as_json:
        print_json({"removed": number, "bytes": size})
    else:
        click.echo(f"Removed {_entries(number)} ({size:,} bytes).")
    return 0


@contextmanager
def _usable_store() -> Iterator[AnyStore]:
    """The configured store. Raises FerruleError where it cannot be used."""
    try:
        yield inspection.open_configured(configuration.read())
    except StorageError as failure:
        text, hint = str(failure), "See [wrappers.cache] of config.toml and FERRULE_REDIS."
        raise FerruleError(f"{text[:1].upper()}{text[1:]}.", hint=hint) from None


def _print(known: AnyStore, found: list[CacheRecord]) -> None:
    if found:
        rows = [
            (
                one.entry.tool,
                short_key(one.entry.key),
                one.kind,
                "?" if one.age is None else _format_duration(one.age),
                _format_duration(one.entry.seconds),
                one.freshness,
                f"{one.bytes:,}",
                strict_json.canonical(one.entry.question.get("arguments")).decode(),
            )
            for one in found
        ]
        headings = ("TOOL", "KEY", "KIND", "AGE", "KEPT FOR", "FRESHNESS", "BYTES", "ARGUMENTS")
        print_table(headings, rows, colour="FRESHNESS")
    total = sum(one.bytes for one in found)
    print_text(f"{_entries(len(found))}, {total:,} bytes, {known.kind}: {home_as_tilde(known.place)}")


def _print_reasons(facts: JSONObject) -> None:
    entry = facts["entry"]
    if facts["cached"]:
        told = f"{entry['kind']}, {_format_duration(entry['ageSeconds'])} old, {entry['freshness']}"
        click.echo(f"It would be answered from the cache: {told}.")
    elif not facts["keptSeconds"]:
        click.echo("It would not: results of this tool are not kept. [wrappers.cache.tools.NAME] seconds changes that.")
    elif entry and not facts["on"]:
        why_not = "the cache is off here. FERRULE_WRAPPERS or config.toml has it."
        click.echo(f"It would not: there is an entry, but {why_not}")
    elif entry:
        click.echo("It would not: there is an entry, but by now [wrappers.cache] says that it is given no more.")
    else:
        click.echo("It would not be answered from the cache: there is no such entry.")
    click.echo(f"\nKey    {facts['key']}")
    for place, value in _leaves(facts["parts"]):
        click.echo(f"  {plain(place)} = {plain(strict_json.canonical(value).decode())}")
    for other in facts["nearest"]:
        told = f"{other['kind']}, {other['freshness']}"
        click.echo(f"\nEntry {short_key(other['key'])} ({told}) differs in")
        for one in other["differences"]:
            asked, kept = (strict_json.canonical(one[side]).decode() for side in ("asked", "kept"))
            click.echo(f"  {plain(one['part'])}: asked {plain(asked)}, kept {plain(kept)}")


def _leaves(value: Any, place: str = "") -> list[tuple[str, Any]]:
    if not isinstance(value, dict) or not value:
        return [(place, value)]
    return [leaf for name in value for leaf in _leaves(value[name], f"{place}.{name}" if place else name)]


def _entries(number: int) -> str:
    return counted(number, "entry") if number == 1 else f"{number} entries"


def _format_duration(seconds: float) -> str:
    for length, unit in _UNITS:
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(seconds)} s"
