"""What `ferrule permissions grant` and `revoke` make of a tool's permissions, and where they write it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.admin import configuration_writer
from ferrule.config import configuration
from ferrule.errors import InputRefused
from ferrule.permissions import coverage, declaration, grants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping, JSONObject


def grant(tool: InstalledTool, settings: Configuration, wanted: JSONMapping) -> JSONObject:
    """Let a tool have more; the keys that are written, with their new values.

    wanted: keys of permissions with the entries that are added, `processes` with the number. What the tool has already
    changes nothing. Raises InputRefused for an entry that means nothing, ConfigurationMalformed for the admin's table.
    """
    has = grants.granted(tool, settings).as_dict()
    changes: JSONObject = {}
    for key, value in _checked(wanted).items():
        if key == "processes":
            changes[key] = value
            continue
        added = [entry for entry in value if entry not in has[key]]
        if added:
            changes[key] = [*has[key], *added]
    return _write(tool, settings, changes)


def revoke(tool: InstalledTool, settings: Configuration, unwanted: JSONMapping) -> JSONObject:
    """Take entries from a tool, whoever gave them; the keys that are written, with their new values.

    unwanted: as of `grant`; `processes` with any number takes them all. Raises as `grant`, and InputRefused for an
    entry that the tool does not have by itself, such as a file in a folder that it may read.
    """
    has = grants.granted(tool, settings).as_dict()
    changes: JSONObject = {}
    for key, value in _checked(unwanted).items():
        if key == "processes":
            changes[key] = 0
            continue
        for entry in value:
            if entry not in has[key]:
                raise _not_there(tool.name, key, entry, has[key])
        changes[key] = [entry for entry in has[key] if entry not in value]
    return _write(tool, settings, changes)


def forget(tool: InstalledTool, settings: Configuration) -> list[str]:
    """Take the admin's own decisions out, so that the tool has what it declares; the keys that were there."""
    decided = list(grants.changes(tool.name, settings))
    configuration_writer.change_table(settings.path, _table(tool), dict.fromkeys(decided))
    return decided


def as_written(path: str) -> str:
    """A path that the user typed, which a shell may have expanded, as it stands in a declaration."""
    if path in (".", "~", "~/*") or path.startswith(("setting:", "variable:")):
        return path
    home = configuration.home(os.environ)
    whole = os.path.abspath(home + path[1:] if path.startswith("~/") else path)
    if home == "/" or not (whole == home or whole.startswith(home + "/")):
        return whole
    return f"~{whole[len(home) :]}"


def _write(tool: InstalledTool, settings: Configuration, changes: JSONObject) -> JSONObject:
    """Write the keys; one that is as the tool declares it, and that the admin had decided, is taken out."""
    asked = declaration.declared(tool).as_dict()
    decided = grants.changes(tool.name, settings)
    written: dict[str, object | None] = {}
    for key, value in changes.items():
        if value != asked[key]:
            written[key] = value
        elif key in decided:
            written[key] = None
    configuration_writer.change_table(settings.path, _table(tool), written)
    return changes


def _checked(wanted: JSONMapping) -> JSONObject:
    try:
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in declaration.parse(dict(wanted)).items()
        }
    except declaration.MalformedPermissions as error:
        raise InputRefused(f"This cannot be granted: {error}.") from None


def _not_there(tool: str, key: str, entry: str, has: Sequence[str]) -> InputRefused:
    if coverage.covers(key, has, entry):
        whole = next(one for one in has if coverage.covers(key, (one,), entry))
        hint = f"It is a part of {whole!r}: revoke that, and grant what the tool is to keep."
    else:
        hint = f"`ferrule permissions {tool}` shows what it has."
    return InputRefused(f"{tool} does not have {entry!r} in {key} by itself.", hint=hint)


def _table(tool: InstalledTool) -> tuple[str, str, str]:
    return "tools", tool.name, "permissions"
