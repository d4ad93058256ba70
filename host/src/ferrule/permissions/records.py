"""What each tool asked for when it was accepted: one file of the state folder for each, which no tool can change.

The first time is accepted as it is. A tool that asks for more from then on is held until the admin accepts that.
"""

from __future__ import annotations

import os

from ferrule.permissions.accepted_version import path_of
from ferrule.permissions.coverage import excess
from ferrule.permissions.declaration import MalformedPermissions, Permissions, declared, parse
from ferrule.permissions.grants import additions, changes
from ferrule.storage.private_files import make_folder, read_file, replace_file
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.errors import PermissionsHeld
    from ferrule.text.json_types import JSONObject

_MAX_BYTES = 1 << 18


class Record:
    """What a tool asked for. source: the distribution and version that did."""

    __slots__ = ("permissions", "source")

    def __init__(self, permissions: Permissions, source: str) -> None:
        self.permissions = permissions
        self.source = source


class UntrustedRecord(ValueError):
    """A record that cannot be read, or that another user can have written. The message says which."""


def require_accepted(tool: InstalledTool, settings: Configuration) -> None:
    """Record what the tool asks for where nothing is recorded.

    Raises PermissionsHeld where it asks for more than is recorded, in a key that the admin has not decided.
    """
    held = find_held(tool, settings)
    if held:
        raise held
    record_first(tool)


def find_held(tool: InstalledTool, settings: Configuration) -> PermissionsHeld | None:
    """Why the tool is held; None where it is not. Raises ConfigurationMalformed."""
    try:
        known = read(tool.name)
    except UntrustedRecord as error:
        return _held(f"What {tool.name} asked for before is not known: {error}.", tool.name, {})
    if known is None:
        return None
    asked = declared(tool)
    if asked == known.permissions:
        return None
    decided = changes(tool.name, settings)
    allowed = known.permissions.plus(additions(tool.name, settings))
    more = {key: value for key, value in excess(asked, allowed).items() if key not in decided}
    if not more:
        return None
    from ferrule.permissions.description import phrases

    message = f"{tool.name} of {tool.source} asks for more than {known.source} did: it {'; '.join(phrases(more))}."
    return _held(message, tool.name, {"asks_for": more, "accepted": known.permissions.as_dict()})


def record_first(tool: InstalledTool) -> bool:
    """Record what the tool asks for, unless that has been done before; whether it has been done now."""
    if os.path.lexists(path_of(tool.name)):
        return False
    try:
        accept(tool)
    except OSError:
        return False  # the call is not to fail for it; `ferrule doctor` says that the folder cannot be used
    return True


def record_link(tool: InstalledTool, *, is_own: bool) -> None:
    """Record what a tool that is linked asks for now, unless it is more than is recorded.

    is_own: whether it is the user's own, which keeps its record where it asks for less: it is not held when it asks for
    the same again.
    """
    try:
        known = read(tool.name)
        asked = declared(tool)
        is_less = known is not None and known.permissions != asked and not excess(asked, known.permissions)
        if known is None or (is_less and not is_own):
            accept(tool)
    except (OSError, UntrustedRecord):
        return  # as of `record_first`


def accept(tool: InstalledTool, permissions: Permissions | None = None) -> None:
    """Record what the tool asks for now, or these permissions. Raises OSError."""
    path = path_of(tool.name)
    make_folder(os.path.dirname(path))
    content = {"tool": tool.name, "source": tool.source, "permissions": (permissions or declared(tool)).as_dict()}
    replace_file(path, strict_json.dumps(content) + b"\n")


def read(name: str) -> Record | None:
    """What a tool asked for, None where nothing is recorded. Raises UntrustedRecord."""
    path = path_of(name)
    try:
        data = read_file(path, _MAX_BYTES)
        if data is None:
            if os.path.lexists(path):
                raise UntrustedRecord(f"{path} is no private file of this user")
            return None
        content = strict_json.loads(data)
        if not isinstance(content, dict):
            raise UntrustedRecord(f"{path} holds no JSON object")
        permissions = Permissions(network=()).replace(parse(content.get("permissions"), lambda key: None))
        return Record(permissions, str(content.get("source", "")))
    except OSError as error:
        raise UntrustedRecord(f"{path} cannot be read: {error.strerror}") from None
    except (MalformedPermissions, strict_json.MalformedJSON) as error:
        raise UntrustedRecord(f"{path} cannot be read: {error}") from None


def _held(message: str, name: str, details: JSONObject) -> PermissionsHeld:
    from ferrule.errors import PermissionsHeld

    admin = f"`ferrule permissions {name}` shows all of it, and `ferrule permissions accept {name}` accepts it."
    return PermissionsHeld(message, hint="The administrator decides about that.", admin=admin, details=details or None)
