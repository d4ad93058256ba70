"""What the admin decided about the journal: the table `[journal]` of config.toml."""

from __future__ import annotations

import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.text.json_types import JSONMapping

HASH, NONE, FULL = "hash", "none", "full"
_DEFAULT_MIB = 16.0
_MAX_MIB = 1 << 20


class JournalSettings:
    """path: of the file that is written now. max_bytes: that it and the older files take together.

    arguments: what is kept of a call's arguments: `hash`, `none` or `full`.
    """

    __slots__ = ("arguments", "max_bytes", "path")

    def __init__(self, path: str, max_bytes: int, arguments: str) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.arguments = arguments

    @property
    def key_path(self) -> str:
        """The file with the key of the arguments' hashes."""
        return self.path + ".key"


def is_on(settings: Configuration) -> bool:
    """Whether calls are written down. A switch that is malformed is on: whoever wrote one wanted a journal."""
    table = settings.content.get("journal")
    if isinstance(table, dict):
        return table.get("enabled", False) is not False
    return table is not None and table is not False


def journal_settings(settings: Configuration) -> JournalSettings:
    """The journal's settings, whether it is on or not. What is malformed counts as not written."""
    table = _table(settings)
    path, mib, arguments = table.get("path"), table.get("max_mib"), table.get("arguments")
    return JournalSettings(
        _whole_path(path) if isinstance(path, str) and path else _default_path(),
        int((mib if _is_size(mib) else _DEFAULT_MIB) * (1 << 20)),  # type: ignore[operator] # a number, as it says
        arguments if arguments in (NONE, FULL) else HASH,
    )


def problems(settings: Configuration) -> list[tuple[str, str]]:
    """What is wrong with the table, as sentences, each with what to write instead."""
    content = settings.content.get("journal", {})
    if not isinstance(content, dict):
        return [("`journal` is not a table, so the journal is on with its defaults.", "Write [journal].")]
    table, found = _table(settings), []
    if not isinstance(table.get("enabled", False), bool):
        found.append(
            ("`enabled` of [journal] is neither true nor false, so the journal is on.", "Write enabled = true.")
        )
    if table.get("arguments", HASH) not in (HASH, NONE, FULL):
        found.append(("`arguments` of [journal] is unknown, so hashes are kept.", 'Write "hash", "none" or "full".'))
    if not _is_size(table.get("max_mib", _DEFAULT_MIB)):
        found.append((f"`max_mib` of [journal] is no size, so it is {_DEFAULT_MIB:g}.", "Write max_mib = 16."))
    if not isinstance(table.get("path", ""), str):
        found.append(("`path` of [journal] is no text, so the file is at its usual place.", 'Write path = "~/calls".'))
    unknown = [key for key in table if key not in ("enabled", "arguments", "max_mib", "path")]
    return [*found, *((f"[journal] has no key {key!r}, so it is not read.", "Take it out.") for key in unknown)]


def _table(settings: Configuration) -> JSONMapping:
    table = settings.content.get("journal")
    return table if isinstance(table, dict) else {}


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_MIB


def _whole_path(path: str) -> str:
    from ferrule.config import configuration

    return os.path.join(configuration.home(), path[2:]) if path.startswith("~/") else os.path.abspath(path)


def _default_path() -> str:
    from ferrule.config.own_folders import state_folder

    return os.path.join(state_folder(), "journal", "calls.jsonl")
