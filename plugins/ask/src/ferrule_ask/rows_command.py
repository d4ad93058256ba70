"""`ferrule ask --rows`: a file of rows, by the DuckDB of ferrule-duckdb."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrule.cli import install_command, note, print_indented, print_json
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule_ask.batches.batches import Batches
    from ferrule_ask.client import Client

_RECORD = ".batch.jsonl"
INTERRUPTED = 130  # what a shell says of a program that Ctrl-C has ended


def duckdb_part(module: str) -> Any:
    """A module of ferrule-duckdb. Raises FerruleError where it is not installed."""
    try:
        return import_module(f"ferrule_duckdb.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("ferrule_duckdb", "duckdb", "numpy", "pyarrow"):
            raise
        hint = f"Run: {install_command('ferrule-duckdb', '--upgrade')}"
        raise FerruleError("This needs ferrule-duckdb.", hint=hint) from None


def open_batches(out: str | None) -> Batches:
    """The batches of the work whose answers go to a file; without one, of a plan. Raises FerruleError."""
    from ferrule_ask.batches.batches import Batches

    return Batches(None if out is None else Path(f"{out}{_RECORD}"), note)


def run(client: Client, facts: dict[str, Any], *, is_plan: bool, as_json: bool) -> int:
    """Ask the rows, or plan them, and print what came of it: the exit code.

    Args:
        facts: the fields of `Rows`.
    """
    part = duckdb_part("files.rows")
    rows = part.Rows(**facts)
    if is_plan:
        plan = part.plan_rows(rows, client)
        _print(plan, as_json=as_json)
        return 0
    try:
        outcome = part.ask_rows(rows, client)
    except (part.RowsInterrupted, KeyboardInterrupt):  # the latter between two statements
        note(part.INTERRUPTED)
        if client.batches is not None:
            note("The batches that are sent go on at the provider.")
        return INTERRUPTED
    for code, number in outcome.failures.items():
        note(f"{number:,} of {outcome.rows:,} rows have no whole answer: {code}. The column `error` says why.")
    if outcome.tool_failures:
        note(f"warning: {outcome.tool_failures:,} questions are answered without the tool, which failed.")
    _print(outcome._asdict(), as_json=as_json)
    return int(bool(outcome.failures))


def _print(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    import click

    click.echo(f"{facts['rows']:,} rows")
    print_indented(*(f"{name + ':':20}{_shown(value)}" for name, value in facts.items() if name != "rows"))


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number:,}" for name, number in value.items()) or "none"
    if value is None:
        return "not known"
    return f"{value:.5f}" if isinstance(value, float) else str(value)
