"""The table `[keep]` of config.toml: which tools are kept ready between calls of their executables, and for how long.

[keep]
tools = ["web_*"]      # by name, * for any letters; none where it is not there
seconds = 300          # after the last call; 0 keeps nothing
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.config.configuration import Configuration
    from ferrule.text.json_types import JSONMapping

DEFAULT_SECONDS = 300.0
_MAX_SECONDS = 86_400.0
_KEY = "keep"


def keep_seconds(settings: Configuration) -> float:
    """For how long after its last call a keeper waits for the next one; 0 if none is to run."""
    found = _table(settings).get("seconds", DEFAULT_SECONDS)
    if isinstance(found, bool) or not isinstance(found, int | float) or not found >= 0:
        return DEFAULT_SECONDS
    return min(float(found), _MAX_SECONDS)


def is_kept(settings: Configuration, tool: str) -> bool:
    """Whether calls of this tool may be answered by a keeper. A table that is malformed keeps nothing."""
    patterns = _table(settings).get("tools")
    if (
        not isinstance(patterns, list)
        or not all(isinstance(one, str) for one in patterns)
        or not keep_seconds(settings)
    ):
        return False
    return any(_fits(tool, one) for one in patterns)


def find_problems(content: JSONMapping) -> Iterator[tuple[list[str], str, str]]:
    """What is wrong with the table: the path of the key, a sentence, and what to do."""
    table = content.get(_KEY, {})
    if not isinstance(table, dict):
        yield [_KEY], "`keep` is no table, so nothing is kept.", "Write [keep], and `tools` below it."
        return
    tools, seconds = table.get("tools", []), table.get("seconds", DEFAULT_SECONDS)
    if not isinstance(tools, list) or not all(isinstance(one, str) for one in tools):
        yield [_KEY, "tools"], "`tools` of [keep] is no list of names, so nothing is kept.", 'Write tools = ["web_*"].'
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        yield [_KEY, "seconds"], "`seconds` of [keep] is no number of seconds; 300 counts.", "Write seconds = 300."
    for key in table.keys() - {"tools", "seconds"}:
        yield (
            [_KEY, key],
            f"[keep] has a key {key!r}, which nothing reads.",
            "Take it out: there are tools and seconds.",
        )


def _fits(tool: str, pattern: str) -> bool:
    if "*" not in pattern:
        return tool == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(tool, pattern.replace("[", "[[]"))


def _table(settings: Configuration) -> JSONMapping:
    table = settings.content.get(_KEY)
    return table if isinstance(table, dict) else {}
