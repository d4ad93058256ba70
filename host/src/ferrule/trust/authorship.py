"""A tool that the user writes: what it asks for while it is edited is accepted where the user starts it by hand.

That it is one is seen by three facts: its distribution is installed editable, its module is in the folder that this
names, and both belong to the user.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.schema import schema_file
from ferrule.text import strict_json
from ferrule.trust import records
from ferrule.trust.declaration import declared
from ferrule.trust.description import phrases
from ferrule.trust.resolution.paths import is_in

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool

_MAX_BYTES = 1 << 16
_FILE_URL = "file://"


def accept_own(tool: InstalledTool, settings: Configuration) -> str | None:
    """Accept what a held tool asks for now, where it is the user's own; a sentence that says so, None for all others.

    Raises ConfigurationMalformed, and OSError where the record cannot be written.
    """
    held = records.find_held(tool, settings)
    more = (held.details or {}).get("asks_for") if held else None
    if not isinstance(more, dict):
        return None
    folder = own_folder(tool)
    if folder is None:
        return None
    known = records.read(tool.name)
    records.accept(tool, declared(tool) if known is None else declared(tool).plus(known.permissions.as_dict()))
    return (
        f"{tool.name} asks for more than before: it {'; '.join(phrases(more))}. That was accepted, since it is "
        f"installed editable from your own folder {folder}."
    )


def own_folder(tool: InstalledTool) -> str | None:
    """The user's own folder that the tool is installed from, editable; None for any other tool."""
    folder = _editable_folder(tool.metadata)
    module = schema_file.find_module_file(tool.module) if folder else None
    if folder is None or module is None:
        return None
    folder, module = os.path.realpath(folder), os.path.realpath(module)
    # What a wheel brings stands beside its metadata: a wheel that says that it is editable is none.
    is_installed = is_in(module, os.path.realpath(os.path.dirname(tool.metadata)))
    return folder if is_in(module, folder) and not is_installed and _is_own(folder) and _is_own(module) else None


def _editable_folder(metadata: str) -> str | None:
    """The folder that `direct_url.json` names as that of an editable installation."""
    from urllib.parse import unquote

    try:
        with open(os.path.join(metadata, "direct_url.json"), "rb") as file:
            content = strict_json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError):
        return None
    facts = content if isinstance(content, dict) else {}
    how, url = facts.get("dir_info"), str(facts.get("url"))
    is_editable = isinstance(how, dict) and how.get("editable") is True
    return unquote(url.removeprefix(_FILE_URL)) if is_editable and url.startswith(_FILE_URL + "/") else None


def _is_own(path: str) -> bool:
    try:
        facts = os.stat(path)
    except OSError:
        return False
    return facts.st_uid == os.geteuid() and not facts.st_mode & 0o002
