"""`ferrule lock`: the tools that the admin has accepted, and what has changed of them since."""

from __future__ import annotations

import os

import click

from ferrule import discovery
from ferrule.admin import code_lock, tool_lock
from ferrule.admin.tool_lock import ACCEPTED, ALL, DIFFERS, GONE, NEW, SAME, LockStatus
from ferrule.cli.output import coloured, counted, note, plain, print_json, print_text
from ferrule.cli.selection import complete, json_option
from ferrule.config import configuration
from ferrule.installed.suggestions import unknown_tool
from ferrule.trust.lock import lock_file

_WELL = (SAME, ACCEPTED, GONE)


@click.command("lock")
@click.argument("tools", nargs=-1, metavar="[TOOL]...", shell_complete=complete)
@click.option("--file", "path", type=click.Path(), metavar="FILE", help="Another lock; beside config.toml by default.")
@click.option("--check", is_flag=True, help="Write nothing; say which tools differ.")
@click.option("--diff", is_flag=True, help="Write nothing; show what differs.")
@click.option(
    "--accept", "accepted", multiple=True, metavar="TOOL", help="Take a tool as it is installed; '*' for all."
)
@json_option
# Long by its help, and by the two kinds of statuses, which are found, taken and printed together.
def command(
    tools: tuple[str, ...], path: str | None, check: bool, diff: bool, accepted: tuple[str, ...], as_json: bool
) -> int:
    """Write ferrule.lock: of each tool its version, its files, its schema, what it declares, its credentials.

    With `locked = true` at the top of config.toml, a tool that differs from the lock is not linked, not listed to a
    model, not served and not called, and neither is a tool that is not in it. The first time, all installed tools are
    taken. Later, what differs or is new is shown, and taken only with --accept. The files of each tool are held against
    the RECORD of its installation. TOOL limits all that to some tools.

    The lock also has what packages bring that runs in ferrule itself, such as a .pth, by the name of the file. What is
    new or has changed of that is shown, and taken with --accept and that name. No call is refused for it.

    \b
    Examples:
      ferrule lock
      ferrule lock --diff weather
      ferrule lock --accept weather

    Exit code: 1 where a tool or such a file is new, differs or cannot be locked, and was not accepted; 0 otherwise.
    """
    if accepted and (check or diff):
        raise click.UsageError("--accept writes the lock, and --check and --diff write nothing.")
    settings = configuration.read()
    path = os.path.abspath(path) if path else settings.lock_path
    before, code_before = tool_lock.read_if_there(path), tool_lock.read_code_if_there(path)
    known = before or {}
    names = (*tools, *(name for name in accepted if name != ALL)) if tools or ALL not in accepted else ()
    observed = code_lock.observe()
    files = [name for name in names if name in code_before or name in observed]
    names = tuple(name for name in names if name not in files)
    _require_known(names, known)
    is_read_only, is_limited = check or diff, bool(names or files)
    found = list(tool_lock.statuses(known, settings, names, load=not is_read_only)) if names or not files else []
    of_code = code_lock.statuses(code_before, observed, files) if files or not is_limited else []
    if not is_read_only:
        taken = accepted or ((ALL,) if before is None else ())
        locked, found = tool_lock.accept(known, found, taken)
        code, of_code = code_lock.accept(code_before, observed, of_code, taken)
        if before is None or (locked, code) != (known, code_before):
            lock_file.write(path, locked, code)
    is_well = all(one.state in _WELL for one in (*found, *of_code))
    if as_json:
        files_told = [{**one.as_dict(), "file": one.name} for one in of_code]
        print_json(
            {"file": path, "well": is_well, "tools": [one.as_dict() for one in found], "parent_code": files_told}
        )
    else:
        _print([*found, *of_code], path, len(found), is_whole=diff or not check)
    return int(not is_well)


def _require_known(names: tuple[str, ...], known: object) -> None:
    claims = discovery.scan()
    for name in names:
        if name not in claims and not (isinstance(known, dict) and name in known):
            raise unknown_tool(name, claims)


def _print(found: list[LockStatus], path: str, tools: int, *, is_whole: bool) -> None:
    for one in found:
        if one.state == SAME:
            continue
        click.echo(f"{coloured(one.state)} {plain(one.name)}{f': {plain(one.reason)}' if one.reason else ''}")
        for line in one.differences if is_whole else ():
            click.echo(f"  {_shown(line)}")
    same = sum(one.state in (SAME, ACCEPTED) for one in found[:tools])
    print_text(f"{path}: {counted(tools, 'tool')}, {same} as locked.")
    open_ones = [one.name for one in found[:tools] if one.state in (NEW, DIFFERS, GONE) and one.locked]
    open_ones += [one.name for one in found[tools:] if one.state in (NEW, DIFFERS, GONE)]
    if open_ones:
        note(f"To take what has changed: ferrule lock {' '.join(f'--accept {name}' for name in open_ones)}")


def _shown(line: str) -> str:
    """A line of a difference, which is indented."""
    text = plain(line)
    return " " * (len(line) - len(line.lstrip(" "))) + coloured(text, _colour_of(text))


def _colour_of(text: str) -> str:
    return {"+": "ok", "-": "error"}.get(text[:1], "")
