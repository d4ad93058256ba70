"""What `ferrule permissions grant` and `revoke` make of a tool's permissions, and where they write it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.admin import configuration_writer
from ferrule.config import configuration
from ferrule.errors import InputError
from ferrule.installed.suggestions import unknown_tool
from ferrule.trust import coverage, declaration, entries, grants, policy
from ferrule.trust.credentials import claims as credential_claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping, JSONObject


def grant(tool: InstalledTool, settings: Configuration, wanted: JSONMapping) -> JSONObject:
    """Let a tool have more; the keys that are written, with their new values.

    wanted: keys of permissions with the entries that are added, `processes` with the number. What the tool has already
    changes nothing. It is added to what the tool declares, in later versions too; to the admin's own list, where there
    is one. Raises InputError for an entry that means nothing or that no tool may have, ToolUnknown for a tool that is
    not installed, ConfigurationMalformed for the admin's table.
    """
    has, checked = grants.granted(tool, settings).as_dict(), require_grantable(tool, settings, wanted)
    decided, more = grants.changes(tool.name, settings), grants.additions(tool.name, settings)
    changes: JSONObject = {}
    additions: JSONObject = {}
    for key, value in checked.items():
        if key == "processes":
            if value > has[key]:
                (changes if key in decided else additions)[key] = value
        elif new := [entry for entry in value if entry not in has[key]]:
            chosen, listed = (changes, decided) if key in decided else (additions, more)
            chosen[key] = [*listed.get(key, ()), *new]
    return _write(tool, settings, changes, additions)


def require_grantable(tool: InstalledTool, settings: Configuration, wanted: JSONMapping) -> JSONObject:
    """What is wanted, as it would be written. Raises as `grant`, before anything is."""
    checked = _checked(wanted)
    for key, value in checked.items():
        for entry in value if key != "processes" else ():
            _require_possible(tool, settings, key, entry)
    return checked


def revoke(tool: InstalledTool, settings: Configuration, unwanted: JSONMapping) -> JSONObject:
    """Take entries from a tool, whoever gave them; the keys that are written, with their new values.

    unwanted: see `grant`; `processes` with any number takes them all. Raises as `grant`, and InputError for an
    entry that the tool does not have by itself, such as a file in a folder that it may read.
    """
    has = grants.granted(tool, settings).as_dict()
    before, more = _before(tool, settings), grants.additions(tool.name, settings)
    changes: JSONObject = {}
    additions: JSONObject = {}
    for key, value in _checked(unwanted).items():
        if key == "processes":
            changes[key], additions[key] = 0, None
            continue
        for entry in value:
            if entry not in has[key]:
                raise _not_there(tool.name, key, entry, has[key])
        if any(entry in before[key] for entry in value):
            changes[key] = [entry for entry in before[key] if entry not in value]
        if any(entry in more.get(key, ()) for entry in value):
            additions[key] = [entry for entry in more[key] if entry not in value] or None
    return _write(tool, settings, changes, additions)


def forget(tool: InstalledTool, settings: Configuration) -> list[str]:
    """Take the admin's own decisions out, so that the tool has what it declares; the keys that were there."""
    decided = {**grants.changes(tool.name, settings), **grants.additions(tool.name, settings)}
    configuration_writer.change_table(settings.path, _table(tool), dict.fromkeys([*decided, grants.ADDED]))
    return list(decided)


def as_written(path: str) -> str:
    """A path that the user typed, which a shell may have expanded, as it stands in a declaration."""
    if path in (".", "~", "~/*") or path.startswith(("setting:", "variable:")):
        return path
    home = configuration.home(os.environ)
    whole = os.path.abspath(home + path[1:] if path.startswith("~/") else path)
    if home == "/" or not (whole == home or whole.startswith(home + "/")):
        return whole
    return f"~{whole[len(home) :]}"


def _before(tool: InstalledTool, settings: Configuration) -> JSONObject:
    """What the tool has without what the admin has added."""
    return declaration.declared(tool).replace(grants.changes(tool.name, settings)).as_dict()


def _write(tool: InstalledTool, settings: Configuration, changes: JSONObject, additions: JSONObject) -> JSONObject:
    """Write the keys; one that is as the tool declares it, and that the admin had decided, is taken out.

    Args:
        additions: the lists of what is added, None for one to take out.
    """
    asked = declaration.declared(tool).as_dict()
    decided = grants.changes(tool.name, settings)
    written: dict[str, object | None] = {}
    for key, value in changes.items():
        if value != asked[key]:
            written[key] = value
        elif key in decided:
            written[key] = None
    if additions:
        configuration_writer.change_table(settings.path, (*_table(tool), grants.ADDED), additions)
    configuration_writer.change_table(settings.path, _table(tool), written)
    return {**changes, **additions}


def _require_possible(tool: InstalledTool, settings: Configuration, key: str, entry: str) -> None:
    """Raise where granting an entry would change nothing, whatever config.toml says."""
    if key in ("read", "write") and policy.is_out_of_reach(key, entry, tool.name, settings):
        what = "Keys, config.toml and what other tools keep are read and written by no tool"
        code = ", and code that the host or the client runs is written by none" if key == "write" else ""
        raise InputError(f"{entry} cannot be granted to {tool.name}. {what}{code}.")
    if key == "environment" and entry in credential_claims.variables_of_others(tool):
        raise InputError(
            f"{entry} cannot be granted to {tool.name}: it is the credential of another distribution.",
            hint=f"A tool that declares it as a credential gets it by `ferrule credentials accept {tool.name}`.",
        )
    if key == "tools" and not entry.startswith(entries.GROUP) and not entry.endswith("*"):
        claims = discovery.scan()
        if entry not in claims:
            raise unknown_tool(entry, claims)


def _checked(wanted: JSONMapping) -> JSONObject:
    try:
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in declaration.parse(dict(wanted)).items()
        }
    except declaration.MalformedPermissions as error:
        raise InputError(f"This cannot be granted: {error}.") from None


def _not_there(tool: str, key: str, entry: str, has: Sequence[str]) -> InputError:
    if coverage.covers(key, has, entry):
        whole = next(one for one in has if coverage.covers(key, (one,), entry))
        hint = f"It is a part of {whole!r}: revoke that, and grant what the tool is to keep."
    else:
        hint = f"`ferrule permissions {tool}` shows what it has."
    return InputError(f"{tool} does not have {entry!r} in {key} by itself.", hint=hint)


def _table(tool: InstalledTool) -> tuple[str, str, str]:
    return "tools", tool.name, "permissions"
