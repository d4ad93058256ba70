"""What each tool asked for when it was accepted: one file of the state folder for each, which no tool can change.

The first time is accepted as it is. A tool that asks for more from then on is held until the admin accepts that.
"""

from __future__ import annotations

import os

from ferrule.storage.private_files import make_folder, read_present, replace_file
from ferrule.text import strict_json
from ferrule.trust.accepted_version import path_of
from ferrule.trust.coverage import excess
from ferrule.trust.credentials.claims import declared_before
from ferrule.trust.credentials.declared_keys import find_keys
from ferrule.trust.credentials.installation_times import installed_at
from ferrule.trust.declaration import MalformedPermissions, Permissions, declared, parse
from ferrule.trust.grants import REFUSE, additions, changes, choice

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.errors import PermissionsHeld
    from ferrule.text.json_types import JSONObject

_MAX_BYTES = 1 << 18
_RECORD_HINT = "Have FERRULE_STATE name a folder that can be written, or lock the tools: `ferrule lock`."


class Record:
    """What a tool asked for. source: the distribution and version that did. keys: the variables and keys of the
    credentials file that it could be told; None where that was not known.
    """

    __slots__ = ("keys", "permissions", "source")

    def __init__(self, permissions: Permissions, source: str, keys: Sequence[str] | None = None) -> None:
        self.permissions = permissions
        self.source = source
        self.keys = keys


class UntrustedRecord(ValueError):
    """A record that cannot be read, or that another user can have written. The message says which."""


def require_accepted(tool: InstalledTool, settings: Configuration) -> None:
    """Record what the tool asks for where nothing is recorded.

    Raises PermissionsHeld where it asks for more than is recorded, in a key that the admin has not decided.
    """
    held = find_held(tool, settings)
    if held:
        raise held
    if record_first(tool) or choice(settings, "unenforced") != REFUSE:
        return
    if unrecorded := find_unrecorded(tool, settings):
        admin = f'{_RECORD_HINT} An admin may allow it with unenforced = "warn" in [permissions] of config.toml.'
        raise _held(unrecorded, tool.name, {}, admin)


def find_unrecorded(tool: InstalledTool, settings: Configuration, *, is_called: bool = True) -> str | None:
    """Why an update of a tool will not be held, as a sentence: nothing of it is recorded, nor can be; else None.

    A tool that ferrule.lock holds to what was accepted needs no record. is_called: whether it counts as accepted now.
    """
    path = path_of(tool.name)
    if settings.is_locked or os.path.lexists(path):
        return None
    if record_first(tool) if is_called else _can_be_written(os.path.dirname(path)):
        return None
    return (
        f"What {tool.name} asks for cannot be recorded in {os.path.dirname(path)}, so an update of it that asks for "
        "more will not be held."
    )


def find_held(tool: InstalledTool, settings: Configuration) -> PermissionsHeld | None:
    """Why the tool is held; None where it is not. Raises ConfigurationMalformed."""
    try:
        known = read(tool.name)
    except UntrustedRecord as error:
        return _held(f"What {tool.name} asked for before is not known: {error}.", tool.name, {})
    if known is None:
        return None
    asked = declared(tool)
    more: JSONObject = {}
    if asked != known.permissions:
        decided = changes(tool.name, settings)
        allowed = known.permissions.plus(additions(tool.name, settings))
        more = {key: value for key, value in excess(asked, allowed).items() if key not in decided}
    if keys := _new_keys(tool, known):
        more["credentials"] = keys
    if not more:
        return None
    from ferrule.trust.description import phrases

    message = f"{tool.name} of {tool.source} asks for more than {known.source} did: it {'; '.join(phrases(more))}."
    accepted = {**known.permissions.as_dict(), "credentials": list(_accepted_keys(tool, known) or ())}
    return _held(message, tool.name, {"asks_for": more, "accepted": accepted})


def find_withheld(tool: InstalledTool) -> list[str]:
    """The variables and keys that a tool is not told, since what was accepted of it did not have them."""
    record_keys(tool)
    try:
        known = read(tool.name)
    except UntrustedRecord:
        return list(find_keys(tool) or ())
    return [] if known is None else _new_keys(tool, known)


def _new_keys(tool: InstalledTool, known: Record) -> list[str]:
    """The variables and keys that a tool wants to be told beyond those that were accepted, as far as that is known."""
    asked, accepted = find_keys(tool), _accepted_keys(tool, known)
    return [] if accepted is None else [key for key in asked or () if key not in accepted]


def _accepted_keys(tool: InstalledTool, known: Record) -> Sequence[str] | None:
    """None where what this version of the tool asks for is accepted, whatever it is: it was not known before.

    A host that kept no keys has kept since when they are declared.
    """
    if known.keys is not None or known.source == tool.source:
        return known.keys
    return declared_before(tool, installed_at(tool))


def record_first(tool: InstalledTool) -> bool:
    """Record what the tool asks for, unless that has been done before; whether it has been done now."""
    if os.path.lexists(path_of(tool.name)):
        return False
    try:
        accept(tool)
    except OSError:
        return False  # the call is not to fail for it; `ferrule doctor` says that the folder cannot be used
    return True


def record_keys(tool: InstalledTool) -> None:
    """Record which credentials an accepted tool declares, where that was not known when it was accepted."""
    try:
        known = read(tool.name)
        keys = find_keys(tool)
        if known is not None and known.keys is None and keys is not None and not _new_keys(tool, known):
            _write(tool.name, known.source, known.permissions, keys)
    except (OSError, UntrustedRecord):
        return  # see `record_first`


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
        return  # see `record_first`
    record_keys(tool)


def accept(tool: InstalledTool, permissions: Permissions | None = None) -> None:
    """Record what the tool asks for now, or these permissions, and its credentials. Raises OSError."""
    _write(tool.name, tool.source, permissions or declared(tool), find_keys(tool))


def _write(name: str, source: str, permissions: Permissions, keys: Sequence[str] | None) -> None:
    path = path_of(name)
    make_folder(os.path.dirname(path))
    content: JSONObject = {"tool": name, "source": source, "permissions": permissions.as_dict()}
    if keys is not None:
        content["credentials"] = list(keys)
    replace_file(path, strict_json.dumps(content) + b"\n")


def read(name: str) -> Record | None:
    """What a tool asked for, None where nothing is recorded. Raises UntrustedRecord."""
    path = path_of(name)
    try:
        data = read_present(path, _MAX_BYTES)
        if data is None:
            raise UntrustedRecord(f"{path} is no private file of this user")
        content = strict_json.loads(data)
        if not isinstance(content, dict):
            raise UntrustedRecord(f"{path} holds no JSON object")
        permissions = Permissions(network=()).replace(parse(content.get("permissions"), lambda key: None))
        keys = content.get("credentials")
        if keys is not None and not (isinstance(keys, list) and all(isinstance(key, str) for key in keys)):
            raise UntrustedRecord(f"{path} cannot be read: credentials is no list of texts")
        return Record(permissions, str(content.get("source", "")), keys)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UntrustedRecord(f"{path} cannot be read: {error.strerror}") from None
    except (MalformedPermissions, strict_json.MalformedJSON) as error:
        raise UntrustedRecord(f"{path} cannot be read: {error}") from None


def _can_be_written(folder: str) -> bool:
    probe = os.path.join(folder, f".probe-{os.getpid()}")
    try:
        make_folder(folder)
        replace_file(probe, b"{}")
        os.unlink(probe)
    except OSError:
        return False
    return True


def _held(message: str, name: str, details: JSONObject, admin: str = "") -> PermissionsHeld:
    from ferrule.errors import PermissionsHeld

    shows = f"`ferrule permissions {name}` shows all of it, and `ferrule permissions accept {name}` accepts it."
    decides = "The administrator decides about that."
    return PermissionsHeld(message, hint=decides, admin=admin or shows, details=details or None)
