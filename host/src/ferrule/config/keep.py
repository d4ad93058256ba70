"""The table `[keep]` of config.toml: which tools are kept ready between calls of their executables, and for how long.

[keep]
tools = ["web_*"]      # by name, * for any letters; none where it is not there
seconds = 300          # after the last call; 0 keeps nothing
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.text.json_types import JSONMapping

DEFAULT_SECONDS = 300.0
_MAX_SECONDS = 86_400.0
_KEY = "keep"


def keep_seconds(settings: Configuration) -> float:
    """For how long after its last call a keeper waits for the next one; 0 where there is to be none."""
    found = _table(settings).get("seconds", DEFAULT_SECONDS)
    if isinstance(found, bool) or not isinstance(found, int | float) or not found >= 0:
        return DEFAULT_SECONDS
    return min(float(found), _MAX_SECONDS)


def is_kept(settings: Configuration, tool: str) -> bool:
    """Whether calls of this tool may be answered by a keeper. A table that is malformed keeps nothing."""
    patterns = _table(settings).get("tools")
    if not isinstance(patterns, list) or not keep_seconds(settings):
        return False
    return any(isinstance(one, str) and _fits(tool, one) for one in patterns)


def _fits(tool: str, pattern: str) -> bool:
    if "*" not in pattern:
        return tool == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(tool, pattern.replace("[", "[[]"))


def _table(settings: Configuration) -> JSONMapping:
    table = settings.content.get(_KEY)
    return table if isinstance(table, dict) else {}
