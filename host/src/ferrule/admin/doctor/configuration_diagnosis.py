"""What config.toml has that no command reads, or reads as something else than its author meant; each with its line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.admin.doctor.diagnosis_entry import ERROR, WARNING, Diagnosis
from ferrule.config.keep import find_problems
from ferrule.config.lines import line_of

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping

MALFORMED, UNUSED = "configuration-malformed", "configuration-unused"
_LOCKED, _TOOLS, _WRAPPERS = "locked", "tools", "wrappers"
_OF_THE_HOST = (_LOCKED, _TOOLS, _WRAPPERS, "permissions", "journal", "keep")
_OF_EVERY_TOOL = ("enabled", "memory", "import_ahead", "permissions")
_OF_EVERY_WRAPPER = ("enabled",)
_SETTING = "setting:"
_LEAST_MEMORY = 32  # MiB, below which the interpreter alone has no room
_LIKENESS = 0.8  # from which a key of a tool's own is taken for a misspelt one of the host's


class _Problem(NamedTuple):
    """What is wrong with one key. path: the tables around it, and its name."""

    id: str
    path: Sequence[str]
    message: str
    fix: str


def examine(settings: Configuration) -> Iterator[Diagnosis]:
    """What is wrong with the tables, keys and values that every ferrule knows, and which of them it does not know.

    A key that may be a tool's or a wrapper's own is left to it, unless it is nearly one of the host's.
    """
    if not settings.content:
        return
    text = _text(settings.path)
    for problem in _problems(settings):
        line = line_of(text, problem.path)
        severity = ERROR if problem.id == MALFORMED else WARNING
        message = f"Line {line}: {problem.message}" if line else problem.message
        yield Diagnosis(problem.id, severity, settings.path, message, problem.fix)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError):
        return ""  # it has gone since it was read


def _problems(settings: Configuration) -> Iterator[_Problem]:
    claims = discovery.scan()
    yield from _top(settings.content)
    yield from _tools(settings, claims)
    yield from _wrappers(settings.content)
    yield from _keep(settings.content)


def _keep(content: JSONMapping) -> Iterator[_Problem]:
    for path, message, fix in find_problems(content):
        yield _Problem(MALFORMED, path, message, fix)


def _top(content: JSONMapping) -> Iterator[_Problem]:
    commands = [name for name, _, _ in discovery.entry_points(discovery.COMMANDS)]
    for key, value in content.items():
        if key == _LOCKED and not isinstance(value, bool):
            message = "`locked` is neither true nor false, so tools are locked."
            yield _Problem(MALFORMED, [key], message, "Write locked = true or locked = false.")
        elif key not in _OF_THE_HOST and key.lower() in ("lock", _LOCKED):
            message = f"The switch is called {key!r} instead of `locked`; tools are locked unless it is false."
            yield _Problem(MALFORMED, [key], message, "Write locked = true or locked = false.")
        elif key not in _OF_THE_HOST and key not in commands:
            kind = f"[{key}]" if isinstance(value, dict) else f"`{key}`"
            message = f"{kind} is nothing that ferrule or an installed command reads."
            yield _Problem(UNUSED, [key], message, _meant(key, (*_OF_THE_HOST, *commands), isinstance(value, dict)))


def _tools(settings: Configuration, claims: Mapping[str, Sequence[InstalledTool]]) -> Iterator[_Problem]:
    tables = settings.content.get(_TOOLS, {})
    if not isinstance(tables, dict):
        yield _Problem(MALFORMED, [_TOOLS], "`tools` is not a table.", "Write [tools.NAME].")
        return
    for name, table in tables.items():
        yield from _switch(settings, name)
        if isinstance(table, dict):
            own = _own_keys(claims.get(name, ()))
            yield from _networks(name, table, claims.get(name, ()))
            yield from _keys([_TOOLS, name], table, _OF_EVERY_TOOL, own)
        if name not in claims:
            message = f"[tools.{name}] is about a tool that is not installed."
            close = get_close_matches(name, claims, 1)
            fix = f"Write [tools.{close[0]}], or " if close else "Install it, or "
            yield _Problem(UNUSED, [_TOOLS, name], message, f"{fix}take the table out.")


def _switch(settings: Configuration, name: str) -> Iterator[_Problem]:
    problem = settings.switch_problem(name)
    if problem:
        message = f"{name} is off: it has [tools.{name}], {problem}."
        fix = f"Write [tools.{name}], and in it enabled = true or enabled = false."
        keys = [key for key in settings.tool(name) if "able" in key.lower()]
        yield _Problem(MALFORMED, [_TOOLS, name, *keys[:1]], message, fix)
    if settings.has_memory_problem(name):
        message = f"`memory` in [tools.{name}] is no number of MiB, so the default holds."
        yield _Problem(MALFORMED, [_TOOLS, name, "memory"], message, "Write it as in memory = 2048.")
    elif settings.tool(name).get("memory") is not None and settings.memory(name) < _LEAST_MEMORY:
        message = f"`memory` in [tools.{name}] is less than any call needs, which is {_LEAST_MEMORY} MiB."
        yield _Problem(MALFORMED, [_TOOLS, name, "memory"], message, "Write it as in memory = 2048.")
    if not isinstance(settings.tool(name).get("import_ahead", True), bool):
        message = f"`import_ahead` in [tools.{name}] is neither true nor false."
        yield _Problem(MALFORMED, [_TOOLS, name, "import_ahead"], message, "Write import_ahead = false.")


def _networks(name: str, table: JSONMapping, claims: Iterable[InstalledTool]) -> Iterator[_Problem]:
    """The words of a setting that names what the tool may connect to, and of which one names nothing."""
    from ferrule.plugin.declaration import read_if_well
    from ferrule.trust.resolution.resolver import network_of

    declared = [read_if_well(claim).permissions for claim in claims]
    listed = [entry for one in declared if one is not None for entry in one.network]
    for key in dict.fromkeys(entry.removeprefix(_SETTING) for entry in listed if entry.startswith(_SETTING)):
        value = table.get(key)
        words = value.replace(",", " ").split() if isinstance(value, str) else value if isinstance(value, list) else []
        for word in words:
            if not isinstance(word, str) or network_of(word) is None:
                message = f"`{key}` in [tools.{name}] has {word!r}, which names no network, so it opens none."
                fix = "Write public, loopback, private, HOST:PORT or a URL."
                yield _Problem(MALFORMED, [_TOOLS, name, key], message, fix)


def _own_keys(claims: Iterable[InstalledTool]) -> set[str]:
    """The settings that a tool declares."""
    from ferrule.plugin.declaration import read_if_well

    declared = [read_if_well(claim) for claim in claims]
    named = [one.setting for found in declared for one in found.settings]
    return {*named, *(one.setting for found in declared for one in found.programs)}


def _wrappers(content: JSONMapping) -> Iterator[_Problem]:
    tables = content.get(_WRAPPERS, {})
    if not isinstance(tables, dict):
        yield _Problem(MALFORMED, [_WRAPPERS], "`wrappers` is not a table.", "Write [wrappers.NAME].")
        return
    installed = discovery.wrappers()
    for name, table in tables.items():
        if not isinstance(table, dict):
            message = f"`{name}` is not a table, so it switches nothing on."
            yield _Problem(MALFORMED, [_WRAPPERS, name], message, "Write [wrappers.NAME].")
            continue
        if not isinstance(table.get("enabled", True), bool):
            message = f"{name} is off: `enabled` in [wrappers.{name}] is neither true nor false."
            fix = "Write enabled = true or enabled = false."
            yield _Problem(MALFORMED, [_WRAPPERS, name, "enabled"], message, fix)
        yield from _keys([_WRAPPERS, name], table, _OF_EVERY_WRAPPER, ())
        if name not in installed:
            message = f"[wrappers.{name}] is about a wrapper that is not installed."
            yield _Problem(UNUSED, [_WRAPPERS, name], message, _meant(name, installed, is_table=False))


def _keys(path: Sequence[str], table: JSONMapping, known: Collection[str], own: Collection[str]) -> Iterator[_Problem]:
    """The keys of one table that are nearly the host's, or belong to the top of the file."""
    where = f"[{'.'.join(path)}]"
    for key in table:
        if key in known or key in own:
            continue
        close = get_close_matches(key.lower(), known, 1, _LIKENESS)
        if key.lower() == _LOCKED:
            message = f"`{key}` in {where} locks nothing: it is a key of the top of the file."
            yield _Problem(MALFORMED, [*path, key], message, "Write it above the first table.")
        elif close and "able" not in key.lower():
            message = f"`{key}` in {where} is read as a setting of its own, and is nearly `{close[0]}`."
            yield _Problem(UNUSED, [*path, key], message, f"Write {close[0]}, if that is meant.")
        elif close and path[0] == _WRAPPERS:
            message = f"`{key}` in {where} switches nothing; the switch is called `enabled`."
            yield _Problem(UNUSED, [*path, key], message, "Write enabled = true or enabled = false.")


def _meant(key: str, known: Iterable[str], is_table: bool) -> str:
    close = get_close_matches(key.lower(), list(known), 1)
    if not close:
        return "Take it out, or install what reads it."
    if close[0] in (_TOOLS, _WRAPPERS):
        return f"Write [{close[0]}.NAME]."
    return f"Write [{close[0]}], if that is meant." if is_table else f"Write {close[0]}, if that is meant."
