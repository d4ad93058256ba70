"""Whether a tool may be linked, listed, served or called: where tools are locked, only as ferrule.lock has it."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.errors import FerruleError
    from ferrule.text.json_types import JSONObject


# What this process has let pass: a child of it that may not read the lock goes by that.
_passed: set[tuple[str, str, str]] = set()


def passed() -> list[list[str]]:
    """What this process has let pass, for `note_passed` in the process whose copy this one is."""
    return sorted(map(list, _passed))


def note_passed(found: Iterable[Sequence[str]]) -> None:
    """Go by what a copy of this process has let pass, too."""
    _passed.update((lock, metadata, name) for lock, metadata, name in found)


def refusal(tool: InstalledTool, settings: Configuration) -> FerruleError | None:
    """Why a tool must not run, by ferrule.lock: ToolDiffers or LockUnusable; None where it may.

    What has changed is named and not shown: the error may be read by the model from which new texts are kept.
    """
    if not settings.is_locked:
        return None
    from ferrule.trust.lock import memory

    key = (settings.lock_path, tool.metadata, tool.name)
    if memory.holds(tool, settings.lock_path):
        _passed.add(key)
        return None
    if memory.is_closed(settings.lock_path):
        return None if key in _passed else _unseen(tool, settings)
    from ferrule.trust.lock.examination import examine

    error = examine(tool, settings.lock_path)
    (_passed.discard if error else _passed.add)(key)
    return error


def _unseen(tool: InstalledTool, settings: Configuration) -> FerruleError:
    from ferrule.errors import ToolDiffers

    return ToolDiffers(f"{tool.name} ({tool.source}) was not found to be as {settings.lock_path} has it.")


def schema_refusal(tool: InstalledTool, schema: JSONObject, settings: Configuration) -> FerruleError | None:
    """The same for a schema that the tool has computed, of which its files say nothing."""
    if not settings.is_locked:
        return None
    from ferrule.trust.lock.examination import examine_schema

    return examine_schema(tool, schema, settings.lock_path)
