"""One tool as it is installed, held against ferrule.lock. Takes digests, and imports nothing of a plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError, LockUnusable, SchemaInvalid, ToolDiffers
from ferrule.schema import schema_file
from ferrule.storage import stamps
from ferrule.text import strict_json
from ferrule.trust.lock import lock_file, memory
from ferrule.trust.lock.installed_files import InstalledFiles

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.lock.lock_file import LockedTool

FIELDS = ("distribution", "version", "entry_point", "failures", "files", "schema", "permissions", "declaration")
"""What is compared of each tool, in the order in which differences are told; credentials where both are known."""


class Observation(NamedTuple):
    """What is installed of a tool. locked: as ferrule.lock would have it. problems: of its files, against RECORD.

    stamps: of all files that decide it, from before they were read. is_computed: whether the schema is not in a file.
    """

    locked: LockedTool
    problems: list[str]
    stamps: list[str]
    is_computed: bool


def observe(tool: InstalledTool) -> Observation:
    """Take the digests of a tool. Its schema is that of its file, `{}` where it has none and computes it.

    Raises LockUnusable where its files cannot be found, and SchemaInvalid for that of its file.
    """
    files = InstalledFiles(tool)
    if not files.are_known:
        hint = "Install it from a wheel, or editable without an import hook."
        raise LockUnusable(
            f"The files of {tool.name} ({tool.source}) are not found, so it cannot be locked.", hint=hint
        )
    declared = schema_file.find_beside(tool.value, schema_file.DECLARATION)
    path = schema_file.find_for_tool(tool)
    stamped = stamps.stamps([tool.metadata, *files.paths(), *declared, *([path] if path else [])])
    declaration = _declaration(declared)
    permissions = declaration.pop("permissions", {})
    static = schema_file.read_static(tool)
    locked: LockedTool = {
        "distribution": tool.distribution,
        "version": tool.version,
        "entry_point": tool.value,
        "files": lock_file.digest(files.digests()),
        "schema": static or {},
        "permissions": permissions if isinstance(permissions, dict) else {"malformed": permissions},
        "declaration": declaration,
    }
    if tool.failures:
        locked["failures"] = tool.failures
    return Observation(locked, files.problems(), stamped, static is None)


def examine(tool: InstalledTool, lock_path: str) -> FerruleError | None:
    """Why the tool is not the one that is locked: ToolDiffers, LockUnusable or SchemaInvalid; else None, remembered."""
    stamped = stamps.stamps([lock_path])
    try:
        known = lock_file.read(lock_path).get(tool.name)
        observation = observe(tool)
    except (LockUnusable, SchemaInvalid) as error:
        return error
    changed = differing(known, observation) if known else ["it is new"]
    if changed:
        return _differs(tool, lock_path, changed, is_known=known is not None, is_edited=bool(observation.problems))
    memory.remember(tool, lock_path, [*stamped, *observation.stamps])
    return None


def examine_schema(tool: InstalledTool, schema: JSONObject, lock_path: str) -> ToolDiffers | LockUnusable | None:
    """Why a schema that the tool has computed is not the one that is locked."""
    try:
        known = lock_file.read(lock_path).get(tool.name)
    except LockUnusable as error:
        return error
    if known is not None and known["schema"] == schema:
        return None
    return _differs(tool, lock_path, ["schema"], is_known=known is not None)


def credentials_refusal(
    tool: InstalledTool, wanted: Sequence[Mapping[str, str]], lock_path: str
) -> dict[str, FerruleError]:
    """Why credentials that a tool declares are not given, by their names: the lock does not have them.

    wanted: of each its name, its variable, and its key in the credentials file.
    """
    try:
        known = lock_file.read(lock_path).get(tool.name)
    except LockUnusable as error:
        return dict.fromkeys((one["name"] for one in wanted), error)
    if known is None or "credentials" not in known:
        return {}  # it was locked without its plugin being loaded, and its files say what it needs
    new = [one for one in wanted if not any(_is_same(before, one) for before in known["credentials"])]
    if not new:
        return {}
    names = ", ".join(f"{one['name']} ({one['environment']}, {one['path']})" for one in new)
    differs = _differs(tool, lock_path, ["credentials"], is_known=True)
    refusal = ToolDiffers(f"{differs.message} It wants {names} as well.", hint=differs.hint)
    return dict.fromkeys((one["name"] for one in new), refusal)


def _are_same(before: object, found: object) -> bool:
    """Whether two lists of credentials are the same, also where an older host has locked one without keys."""
    if not isinstance(before, list) or not isinstance(found, list) or len(before) != len(found):
        return before == found
    return all(map(_is_same, before, found))


def _is_same(before: Mapping[str, str], found: Mapping[str, str]) -> bool:
    return all(before.get(key, found.get(key)) == found.get(key) for key in ("name", "environment", "path"))


def differing(known: LockedTool, observation: Observation) -> list[str]:
    """The fields of FIELDS that differ, and `files` where they are not as RECORD says."""
    found: Mapping[str, object] = observation.locked
    before: Mapping[str, object] = known
    skipped = {"schema"} if observation.is_computed and not observation.locked["schema"] else set()
    fields = [field for field in FIELDS if field not in skipped and before.get(field) != found.get(field)]
    if {"credentials"} <= before.keys() & found.keys() and not _are_same(before["credentials"], found["credentials"]):
        fields.append("credentials")
    return [*fields, *(["files"] if observation.problems and "files" not in fields else [])]


def _differs(
    tool: InstalledTool, lock_path: str, changed: list[str], *, is_known: bool, is_edited: bool = False
) -> ToolDiffers:
    if not is_known:
        message = f"{tool.name} ({tool.source}) is not in {lock_path}, so it is not offered."
    else:
        what = " and ".join((", ".join(changed[:-1]), changed[-1])) if len(changed) > 1 else changed[0]
        message = f"{tool.name} ({tool.source}) differs from {lock_path} in: {what}; so it is not offered."
    shows, takes = f"`ferrule lock --diff {tool.name}` shows it", f"`ferrule lock --accept {tool.name}` takes it"
    if is_edited:  # which is not taken as long as it is so
        admin = f"{shows}. Its files are not those that were installed: install it anew."
    else:
        admin = f"{shows}, {takes}."
    return ToolDiffers(message, hint="The administrator decides about that.", admin=admin)


def _declaration(paths: list[str]) -> JSONObject:
    """What the files of a declaration say together, the nearest first; one that cannot be read by its text."""
    merged: JSONObject = {}
    for path in paths:
        try:
            data = schema_file.read_file(path)
        except (OSError, ValueError) as error:
            merged.setdefault("unreadable", str(error))
            continue
        try:
            content = strict_json.loads(data)
        except ValueError:
            content = None
        if isinstance(content, dict):
            merged = {**content, **merged}
        else:
            merged.setdefault("unreadable", data.decode(errors="replace"))
    return merged
