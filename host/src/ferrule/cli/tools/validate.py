"""`ferrule validate`: what is wrong with schemas, wherever they come from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.cli.output import coloured, counted, plain, print_finding, print_indented, print_json, print_text
from ferrule.cli.selection import complete, entries, json_option
from ferrule.errors import FerruleError
from ferrule.installed import tool_warnings
from ferrule.installed.inventory import DISABLED, INVALID, OK, Entry
from ferrule.installed.suggestions import unknown_tool
from ferrule.schema.providers import FORMATS, Loss
from ferrule.schema.rules import RULES, Finding, check_text
from ferrule.text.strict_json import MalformedJSON, loads

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

TOOL, EXECUTABLE, DRAFT = "tool", "executable", "draft"
_WARNINGS = sorted((*(rule for rule, (severity, _) in RULES.items() if severity == "warning"), *tool_warnings.IDS))


@click.command("validate")
@click.argument("targets", nargs=-1, metavar="[TOOL|FILE|-]...", shell_complete=complete)
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@click.option(
    "--silence", "silenced", multiple=True, type=click.Choice(_WARNINGS), metavar="ID", help="Leave a warning out."
)
@json_option
def command(targets: tuple[str, ...], strict: bool, silenced: tuple[str, ...], as_json: bool) -> int:
    """Check schemas against the rules of the format, the client's limits and the metaschema.

    TOOL is an installed tool, which is loaded in a process of its own; FILE an executable, which is run with --schema
    under the client's limits, or a JSON file; - reads a draft from stdin. Without any, all installed tools are
    checked. Errors keep a tool from being registered; warnings say what a provider does with the schema as the client
    sends it; then comes what each form of `ferrule schemas` is refused for, or loses. --silence leaves that out too.

    \b
    Examples:
      ferrule validate web_fetch --silence unused-format
      ferrule validate ./weather-tool --strict
      ferrule validate - < draft.json

    Exit code: 1 if there is an error, 0 otherwise.
    """
    judgements = list(_judgements(targets, strict, silenced))
    is_valid = all(judgement["state"] in (OK, DISABLED) for judgement in judgements)
    if as_json:
        print_json({"valid": is_valid, "targets": judgements})
    else:
        for judgement in judgements:
            _print(judgement)
    return int(not is_valid)


def _judgements(targets: Sequence[str], strict: bool, silenced: Sequence[str]) -> Iterator[JSONObject]:
    claims = discovery.scan()
    others = [target for target in targets if target not in claims]
    for target in others:
        if target != "-" and not os.path.exists(target):
            error = unknown_tool(target, claims)
            error.message = f"{target!r} is neither an installed tool nor a file."
            raise error
    tools = [target for target in targets if target in claims]
    rules = [rule for rule in silenced if rule in RULES]
    if tools or not targets:
        for entry in entries(tools, load=True, strict=strict, silenced=rules):
            yield _judge_tool(entry, strict, silenced)
    for target in others:
        yield _judge_file(target, strict, rules)


def _judge_tool(entry: Entry, strict: bool, silenced: Sequence[str]) -> JSONObject:
    # What the findings say is not said twice.
    error = entry.error if entry.error and not entry.findings else None
    forms = _forms(entry.schema, silenced)
    warnings = [warning for warning in entry.warnings if warning.id not in silenced]
    state = INVALID if strict and warnings and entry.state == OK else entry.state
    return {
        **_judgement(entry.name, TOOL, state, entry.findings, forms, error),
        "warnings": [one.as_dict() for one in warnings],
    }


def _judge_file(path: str, strict: bool, silenced: Sequence[str]) -> JSONObject:
    if path != "-" and os.path.isfile(path) and os.access(path, os.X_OK):
        from ferrule.installed import executable_probe

        probe = executable_probe.ask(path)
        kind, text = EXECUTABLE, probe.output
        findings = executable_probe.judge(path, probe, strict=strict, silenced=silenced)
        if "schema-varies" not in silenced:
            findings += executable_probe.varies(path, probe, strict=strict)
    else:
        kind, text = DRAFT, _draft(path)
        findings = check_text(text, strict=strict, silenced=silenced)
    is_valid = not any(finding.severity == "error" for finding in findings)
    return _judgement(path, kind, OK if is_valid else INVALID, findings, _forms(_parse(text), silenced))


def _parse(text: bytes) -> object:
    try:
        return loads(text)
    except MalformedJSON:
        return None


def _forms(schema: object, silenced: Sequence[str]) -> dict[str, list[Loss]] | None:
    """What each form loses, without that of which a silenced rule warns; None for what has no form."""
    try:
        return {
            name: [loss for loss in form.losses(schema) if loss.rule not in silenced] for name, form in FORMATS.items()
        }
    except ValueError:
        return None  # the findings say why


def _draft(path: str) -> bytes:
    if path == "-":
        if sys.stdin is None:
            raise FerruleError("stdin is closed.")
        return sys.stdin.buffer.read()
    from ferrule.schema.schema_file import read_file

    try:
        return read_file(path)
    except ValueError as error:
        raise FerruleError(f"{error}.") from None
    except OSError as error:
        raise FerruleError(f"{path} cannot be read: {error.strerror}.") from None


def _judgement(
    target: str,
    kind: str,
    state: str,
    findings: Sequence[Finding],
    forms: dict[str, list[Loss]] | None,
    error: FerruleError | None = None,
) -> JSONObject:
    return {
        "target": target,
        "kind": kind,
        "state": state,
        "error": error.facts() if error else None,
        "findings": [finding.as_dict() for finding in findings],
        "warnings": [],
        "forms": forms and {name: [loss.as_dict() for loss in losses] for name, losses in forms.items()},
    }


def _print(judgement: JSONObject) -> None:
    findings, error, warnings = judgement["findings"], judgement["error"], judgement["warnings"]
    errors = sum(finding["severity"] == "error" for finding in findings)
    counts = [(errors, "error"), (len(findings) - errors + len(warnings), "warning")]
    told = ", ".join(counted(number, noun) for number, noun in counts if number)
    click.echo(f"{plain(judgement['target'])}: {coloured(judgement['state'])}{told and f', {told}'}")
    if error:
        print_indented(error["message"], error.get("hint"), error.get("admin"))
    for finding in findings:
        print_finding(finding, finding["pointer"])
    for warning in warnings:
        print_finding({**warning, "severity": "warning"}, "")
    _print_forms(judgement["forms"] or {})


def _print_forms(forms: dict[str, list[JSONObject]]) -> None:
    """One paragraph for what is said alike of several places, or of several forms."""
    said: dict[tuple[bool, str], tuple[list[str], list[str]]] = {}
    for name, losses in forms.items():
        for loss in losses:
            names, pointers = said.setdefault((loss["refused"], loss["message"]), ([], []))
            names.append(name)
            pointers.append(loss["pointer"])
    for (is_refused, message), (names, pointers) in said.items():
        word = coloured("refused by", "error") if is_refused else coloured("lost for", "warning")
        click.echo(f"  {word} {_distinct(names)}: {plain(_distinct(pointers))}")
        print_text(message, indent=4)


def _distinct(words: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words))
