"""Run a tool as clients do, and say what is wrong with it."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, TypedDict

import click

from ferrule.cli import (
    coloured,
    complete,
    counted,
    home_as_tilde,
    json_option,
    note,
    plain,
    print_indented,
    print_json,
    print_table,
)
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_dev.conformance import Report, Result
    from ferrule_dev.conformance.plan import Plan

_LONG_SECONDS = 10  # of which the user is told before


@click.command("check")
@click.argument("targets", nargs=-1, required=True, metavar="TOOL|PATH...", shell_complete=complete)
@click.option("--quick", is_flag=True, help="Take 10 s at the most, and say what was left out.")
@click.option("--seconds", type=click.FloatRange(min=1), metavar="N", help="Take N s at the most; 120 by default.")
@click.option("--example", "examples", multiple=True, metavar="JSON", help="Arguments that are answered.")
@click.option("--examples", "file", type=click.Path(), metavar="FILE", help="A JSON file: a list of such arguments.")
@click.option(
    "--credential", "credentials", multiple=True, metavar="NAME", help="A variable that holds a credential of it."
)
@click.option("--home", type=click.Path(exists=True, file_okay=False), metavar="DIR", help="HOME is a copy of DIR.")
@click.option(
    "--in", "work", type=click.Path(exists=True, file_okay=False), metavar="DIR", help="It runs in a copy of DIR."
)
@click.option("--junit", type=click.File("wb", lazy=False), metavar="FILE", help="Write JUnit XML into FILE, too.")
@json_option
# Long by its help and by a parameter for each option.
def command(
    targets: tuple[str, ...],
    quick: bool,
    seconds: float | None,
    examples: tuple[str, ...],
    file: str | None,
    credentials: tuple[str, ...],
    home: str | None,
    work: str | None,
    junit: IO[bytes] | None,
    as_json: bool,
) -> int:
    """Run a tool as clients do, in fresh folders, and say where it does not keep their contract.

    TOOL is an installed tool, PATH any executable, in any language, that prints its schema for --schema and answers
    JSON on stdin. Good arguments are made from the schema; --example adds some that are answered. The tool runs with an
    empty HOME, or a copy of that of --home, in a working directory with an example.txt, and with what is in that of
    --in, and gets no variables that look like credentials but those of --credential.

    \b
    Examples:
      ferrule check web_fetch
      ferrule check line_count --in tests/folder --example '{"path": "notes.txt"}'
      ferrule check ./weather-tool --example '{"city": "Oslo"}' --junit report.xml

    Exit code: 1 where a check has failed; 0 otherwise, also with warnings and skipped checks.
    """
    if len(targets) > 1 and (examples or file or credentials):
        raise click.UsageError("--example, --examples and --credential are for one TOOL or PATH.")
    given = [*map(_example, examples), *(_read_examples(file) if file else ())]
    options: _Options = {
        "quick": quick,
        "seconds": seconds,
        "examples": given,
        "credentials": credentials,
        "home": home,
        "work": work,
    }
    reports = []
    for target in targets:
        reports.append(_check(target, options))
        if not as_json:
            _print(reports[-1])
    if junit:
        from ferrule_dev.conformance.junit import to_junit

        junit.write(to_junit(reports))
    conforms = all(report.conforms for report in reports)
    if as_json:
        print_json({"conforms": conforms, "targets": [report.as_dict() for report in reports]})
    return int(not conforms)


class _Options(TypedDict):
    """As `conformance.run` takes them."""

    quick: bool
    seconds: float | None
    examples: list[JSONObject]
    credentials: tuple[str, ...]
    home: str | None
    work: str | None


def _check(target: str, options: _Options) -> Report:
    from ferrule_dev import conformance

    told: set[str] = set()
    numbers = {name: number for number, name in enumerate(conformance.CHECKS, start=1)}

    def tell(check: str, plan: Plan | None) -> None:
        if plan and (plan.left_out or plan.seconds > _LONG_SECONDS) and target not in told:
            told.add(target)
            left_out = f"; {len(plan.left_out)} more are made last, if there is time" if plan.left_out else ""
            note(f"{target}: the checks of calls take about {plan.seconds:.0f} s{left_out}.")
        if sys.stderr is not None and sys.stderr.isatty():
            click.echo(f"\r\033[K{plain(target)}: {check}, {numbers[check]} of {len(numbers)}", nl=False, err=True)

    try:
        return conformance.run(target, **options, progress=tell)
    finally:
        if sys.stderr is not None and sys.stderr.isatty():
            click.echo("\r\033[K", nl=False, err=True)


def _print(report: Report) -> None:
    from ferrule_dev.conformance import FAILED, PASSED, SKIPPED, WARNED

    click.echo(f"{click.style(plain(report.target), bold=True)}  {plain(home_as_tilde(report.executable))}")
    print_table(("STATE", "CHECK", "SECONDS", ""), [_row(one) for one in report.results], colour="STATE")
    for state in (FAILED, WARNED):
        for one in report.in_state(state):
            click.echo(f"\n{coloured(state)} {one.id}")
            print_indented(one.message, *one.details, one.fix)
    if report.left_out:
        click.echo("\nLeft out; --seconds gives more time")
        print_indented(*report.left_out)
    numbers = [(sum(1 for _ in report.in_state(state)), state) for state in (FAILED, WARNED, PASSED, SKIPPED)]
    told = ", ".join(f"{number} {state}" for number, state in numbers if number)
    click.echo(f"\n{told}; {counted(report.calls, 'run')} in {report.seconds:.1f} s.")


def _row(result: Result) -> tuple[str, ...]:
    return result.state, result.id, f"{result.seconds:.2f}", result.message


def _example(text: str) -> JSONObject:
    from ferrule.text import strict_json

    try:
        return strict_json.loads_object(os.fsencode(text))
    except strict_json.MalformedJSON as error:
        raise click.BadParameter(f"{text!r} is no JSON object: {error}.", param_hint="--example") from None


def _read_examples(path: str) -> list[JSONObject]:
    from ferrule.text import strict_json

    try:
        with open(path, "rb") as file:
            examples = strict_json.loads(file.read())
    except strict_json.MalformedJSON as error:
        raise FerruleError(f"{path} is not JSON: {error}.") from None
    if not isinstance(examples, list) or not all(isinstance(one, dict) for one in examples):
        raise FerruleError(f"{path} has no list of objects.", hint='Write a list of arguments: [{"city": "Oslo"}].')
    return examples
