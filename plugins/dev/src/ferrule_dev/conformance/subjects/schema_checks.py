"""The checks of `--schema`: what it prints, how fast, and that it is always the same."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec

from ferrule.admin.author_interface import MAX_BYTES, Finding, check_text, find_disagreement
from ferrule.errors import CallInterrupted, FerruleError
from ferrule.text import strict_json
from ferrule.text.names import CLIENT_TOOLS, SUFFIX, executable_name, tool_name
from ferrule_dev.conformance.report import Fault
from ferrule_dev.conformance.runs.execution import CLOSED, End
from ferrule_dev.conformance.runs.outcome import judge, shown
from ferrule_dev.conformance.runs.surroundings import comma_locale
from ferrule_dev.conformance.session import Session, Skipped, Warned

CLIENT_SECONDS, ADVISED_SECONDS = 1.0, 0.5
MAX_MODULES = 100  # beyond those that the interpreter itself imports
_OTHER_LANGUAGE = "tr_TR.UTF-8"
_NAME_RULES = ("name-format", "name-mismatch")
_IMPORT = re.compile(rb"^import time:\s*(\d+) \|\s*(\d+) \|(\s*)(\S+)$", re.M)
_SLOWEST_SHOWN = 3


def check_answers(session: Session) -> str:
    """`--schema` prints one JSON document."""
    end = session.ask_schema()
    _remember_time(session, end)
    outcome = judge(end)
    if outcome.kind == "broken" or end.exit_code:
        reason = outcome.reason or shown(end.errors.decode(errors="replace"))
        reason = reason if outcome.kind == "broken" else f"ended with exit code {end.exit_code}: {reason}"
        fix = "Print the schema and end with exit code 0; nothing else may stand on stdout."
        if end.problem:
            fix = "Make it a program that the system can start; a script begins with #! and its interpreter."
        raise Fault(f"Asked for its schema, it {reason}.", fix=fix)
    try:
        schema = strict_json.loads_object(end.output)
    except strict_json.MalformedJSON as error:
        raise Fault(f"The schema is not JSON that the client reads: {error}.", fix="Print one JSON object.") from None
    session.schema, session.schema_text = schema, end.output
    return f"It answers in {end.seconds:.2f} s."


def check_size(session: Session) -> str:
    """The client reads 8,191 bytes."""
    size = len(_text(session))
    if size > MAX_BYTES:
        fix = f"Take out {size - MAX_BYTES:,} bytes: descriptions and enums are where they usually are."
        raise Fault(f"The schema has {size:,} bytes, and the client drops what has more than {MAX_BYTES:,}.", fix=fix)
    return f"{size:,} bytes."


def check_name(session: Session) -> str:
    """The client takes the name from the file."""
    text, path = _text(session), session.target.path
    if not path.endswith(SUFFIX) or os.path.basename(path) == SUFFIX:
        message = f"The client looks only at files whose names end with {SUFFIX!r}."
        raise Fault(message, fix=f"Rename it, as in weather{SUFFIX}.")
    findings = [one for one in check_text(text, name=tool_name(path)) if one.id in _NAME_RULES]
    if findings:
        raise Fault(findings[0].message, [one.message for one in findings[1:]], findings[0].fix)
    return f"It is {tool_name(path)}."


def check_shadows(session: Session) -> str:
    """The client has tools of its own."""
    _text(session)
    name = tool_name(session.target.path)
    if name in CLIENT_TOOLS:
        fix = (
            f"Choose another name, such as my_{name}, for the schema and for the file {executable_name('my_' + name)}."
        )
        raise Warned(f"The client has a tool {name} itself, which this one replaces without a word.", fix=fix)
    return "No tool of the client has this name."


def check_rules(session: Session) -> str:
    """The rules of the format: errors fail, warnings warn."""
    findings = [one for one in check_text(_text(session)) if one.id not in (*_NAME_RULES, "too-large")]
    errors = [one for one in findings if one.severity == "error"]
    if errors:
        raise Fault(errors[0].message, _told(errors), errors[0].fix)
    if findings:
        rules = ", ".join(dict.fromkeys(one.id for one in findings))
        raise Warned(f"Providers have trouble with it: {rules}.", _told(findings), "See `ferrule validate`.")
    return "No errors, and no warnings."


def check_held_open(session: Session) -> str:
    """A client may leave stdin open, or have none."""
    _text(session)
    for label, how in (("left open", {"held_open": True}), ("closed", {"stdin": CLOSED})):
        end = session.ask_schema(**how, seconds=max(4 * CLIENT_SECONDS, 4 * min(session.schema_seconds)))
        if end.is_late:
            raise Fault(
                f"With stdin {label}, `--schema` does not end.", fix="Read nothing before you print the schema."
            )
        if end.exit_code or not end.output:
            raise Fault(
                f"With stdin {label}, `--schema` {_how_it_ended(end)}.", fix="Do not touch stdin for `--schema`."
            )
    return "It does not wait for stdin."


def check_deterministic(session: Session) -> str:
    """A client that asks twice, or elsewhere, gets the same."""
    text = _text(session)
    comma = comma_locale()
    language = comma or "de_DE.UTF-8"
    ways: list[tuple[str, dict[str, str | None]]] = [
        ("a second time, in another folder", {}),
        (f"with LANG={language}", {"LANG": language, "LC_ALL": language}),
        (f"with LANG={_OTHER_LANGUAGE}", {"LANG": _OTHER_LANGUAGE, "LANGUAGE": "tr", "LC_ALL": None}),
        ("without LANG and HOME", {"LANG": None, "HOME": None}),
        ("from the folder /", {}),
    ]
    for label, environ in ways:
        how = {"work": "/"} if label.endswith("/") else {}
        end = session.ask_schema(environ=environ, **how)
        _remember_time(session, end)
        if end.output != text or end.exit_code:
            raise Fault(f"Asked {label}, it {_difference(text, end)}.", fix="Print one fixed text, such as a file's.")
    missing = "" if comma else f" This system has no {language}, so that one was tried by its name alone."
    return f"The same bytes {len(ways) + 1} times.{missing}"


def check_imports(session: Session) -> str:
    """What a Python program imports for `--schema` is what its answer costs."""
    _text(session)
    end = session.ask_schema(environ={"PYTHONPROFILEIMPORTTIME": "1"})
    imports = [(int(whole), len(indent), name.decode()) for _, whole, indent, name in _IMPORT.findall(end.errors)]
    if not imports:
        raise Skipped("It is no Python program, or one that ignores variables; schema-time is what counts.")
    # Modules that `site` imports belong to the interpreter, those after it to the program.
    after = next((index for index, one in enumerate(imports) if one[2] == "site"), -1) + 1
    own = imports[after:]
    if len(own) <= MAX_MODULES:
        return f"{len(own)} modules."
    top = sorted((one for one in own if one[1] == 1), reverse=True)[:_SLOWEST_SHOWN]
    told = ", ".join(f"{name} ({whole / 1000:.0f} ms)" for whole, _, name in top)
    fix = "Print the schema before anything is imported, or ship it as a file."
    raise Fault(f"It imports {len(own)} modules to print its schema, most of all {told}.", fix=fix, cause="imports")


def check_time(session: Session) -> str:
    """The client waits for a second, and is ended itself by a tool that takes longer."""
    _text(session)
    best = min(session.schema_seconds)
    fix = "Print the schema before anything is imported or asked."
    if best > CLIENT_SECONDS:
        if "imports" in session.causes:
            raise Skipped(f"It takes {best:.2f} s, for what schema-imports says.")
        raise Fault(f"It takes {best:.2f} s at best; after {CLIENT_SECONDS:.0f} s the client ends.", fix=fix)
    if best > ADVISED_SECONDS and "imports" not in session.causes:
        raise Warned(f"It takes {best:.2f} s at best; on a busy machine that can be more than a second.", fix=fix)
    return f"{best:.3f} s, the fastest of {len(session.schema_seconds)}."


def check_agrees(session: Session) -> str:
    """The schema of an installed tool stands in a file, and in its code: a hook, or the signature of a function."""
    entry = session.target.entry
    if entry is None:
        raise Skipped("It is no installed tool, so only the executable has a schema.")
    if entry.error is not None:
        raise Fault(entry.error.message, fix=entry.error.fix)
    try:
        difference = find_disagreement(entry.tool)
    except CallInterrupted:
        raise
    except FerruleError as error:
        if find_spec("msgspec") is None:
            raise Skipped(f"{error.message} {error.hint or ''}".strip()) from None
        raise Fault(error.message, fix=error.fix) from None
    if difference:
        raise Fault(difference, fix=f"Run `ferrule schema --write {entry.name}`.")
    return "The file and the code agree."


def check_declaration(session: Session) -> str:
    """What an installed tool declares in its `tool.json`."""
    target = session.target
    if target.tool is None:
        raise Skipped("It is no installed tool, so it has no tool.json.")
    if target.declaration_problem:
        raise Fault(f"{target.declaration_problem}.", fix="Fix the file.")
    if not target.declaration.files:
        raise Skipped("It has no tool.json.")
    if target.declaration.unknown:
        keys = ", ".join(target.declaration.unknown)
        raise Warned(f"Its tool.json has keys that this host does not know: {keys}.", fix="Correct or remove them.")
    return f"It declares {', '.join(target.declaration.as_dict()) or 'nothing'}."


def _text(session: Session) -> bytes:
    if session.schema is None:
        raise Skipped("Not tried: there is no schema, see schema-answers.")
    return session.schema_text


def _remember_time(session: Session, end: End) -> None:
    if end.exit_code is not None:
        session.schema_seconds.append(end.seconds)


def _told(findings: list[Finding]) -> list[str]:
    return [f"{one.severity} {one.id}{one.pointer and ' at ' + one.pointer}: {one.message}" for one in findings]


def _difference(text: bytes, end: End) -> str:
    if end.exit_code or not end.output:
        return _how_it_ended(end)
    start = next((index for index, pair in enumerate(zip(text, end.output, strict=False)) if pair[0] != pair[1]), 0)
    before, after = (one[max(0, start - 10) : start + 30].decode(errors="replace") for one in (text, end.output))
    return f"prints something else from byte {start + 1} on: {after!r} instead of {before!r}"


def _how_it_ended(end: End) -> str:
    if end.is_late:
        return "does not end"
    if end.exit_code:
        return f"ends with {end.exit_code}: {shown(end.errors.decode(errors='replace')) or 'nothing on stderr'}"
    return "prints nothing"
