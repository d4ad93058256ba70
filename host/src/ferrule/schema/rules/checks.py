"""All rules at once, on a schema or on the text of one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ferrule.schema.rules import contract
from ferrule.schema.rules.contract import contract_errors
from ferrule.schema.rules.definitions import ERROR, RULES, WARNING
from ferrule.schema.rules.findings import Finding


def check_text(
    text: bytes,
    *,
    name: str | None = None,
    size: int | None = None,
    strict: bool = False,
    silenced: Collection[str] = (),
) -> list[Finding]:
    """Every finding in a schema that is still text: what an executable printed, or a draft.

    The arguments and the errors are those of `check`. Text that is not strict JSON has the finding
    `valid-json`, and `too-large` where `size` says so.
    """
    from ferrule.text.strict_json import MalformedJSON, loads

    try:
        schema = loads(text)
    except MalformedJSON as error:
        _refuse_unknown(silenced)
        message = f"The schema is not JSON that the client reads, so the tool is not registered: {error}."
        unreadable = Finding("valid-json", "", message, "Print exactly one JSON object, as UTF-8, and nothing else.")
        return [unreadable, *contract.too_large(size)]
    return check(schema, name=name, size=size, strict=strict, silenced=silenced)


def check(
    schema: object,
    *,
    name: str | None = None,
    size: int | None = None,
    strict: bool = False,
    silenced: Collection[str] = (),
) -> list[Finding]:
    """Every finding in a schema, errors of the contract first; no two have the same id and pointer.

    Args:
        name: the tool's name as the executable's file name or the entry point has it; None if there is none.
        size: bytes of the printed schema, newline included; None means those that the host would print.
        strict: warnings count as errors.
        silenced: ids of warnings to leave out.

    Raises:
        ValueError where `silenced` has an id that is not a warning's.
    """
    _refuse_unknown(silenced)
    from ferrule.schema.rules.metaschema import metaschema
    from ferrule.schema.rules.recommendations import advice

    readable = not contract.is_too_deep(schema)
    if size is None and readable:
        size = _printed_size(schema)
    findings = contract_errors(schema, name=name, size=size)
    if readable:
        told = [finding.pointer for finding in findings]
        findings += [new for new in metaschema(schema) if not _is_reported(new, told)]
    findings += [_promote_warnings(new) if strict else new for new in advice(schema) if new.id not in silenced]
    return _drop_duplicates(findings)


def _refuse_unknown(silenced: Collection[str]) -> None:
    known = [rule for rule, (severity, _) in RULES.items() if severity == WARNING]
    unknown = sorted(set(silenced) - set(known))
    if unknown:
        raise ValueError(f"no warning is called {', '.join(unknown)}; the warnings are {', '.join(known)}")


def _printed_size(schema: object) -> int | None:
    """What the host would print: compact JSON and a newline; None where JSON cannot hold it."""
    from ferrule.text.strict_json import Unrepresentable, dumps

    try:
        return len(dumps(schema)) + 1
    except Unrepresentable:
        return None


def _is_reported(new: Finding, told: Iterable[str]) -> bool:
    """The metaschema refuses much that the contract has already refused, in the same place or inside it."""
    if new.id != "metaschema":
        return False
    return any(pointer == new.pointer or pointer.startswith(f"{new.pointer}/") for pointer in told)


def _promote_warnings(finding: Finding) -> Finding:
    return Finding(finding.id, finding.pointer, finding.message, finding.fix, ERROR, finding.refused_by)


def _drop_duplicates(findings: Iterable[Finding]) -> list[Finding]:
    kept: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        kept.setdefault((finding.id, finding.pointer), finding)
    return list(kept.values())
