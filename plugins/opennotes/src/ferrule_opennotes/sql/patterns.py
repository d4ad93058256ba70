"""The patterns that read_markdown may be given: relative, below the notebook, and written out."""

from __future__ import annotations

import re

from ferrule_opennotes.errors import invalid_sql

LONGEST = 1_000

_DRIVE = re.compile(r"[A-Za-z]:")


def checked(pattern: str) -> str:
    """The pattern itself. Raises ToolError INVALID_SQL for one that leads, or could lead, out of the notebook."""
    reason = _what_is_wrong(pattern)
    if reason:
        shown = pattern if len(pattern) <= 100 else pattern[:99] + "…"
        raise invalid_sql(
            f"read_markdown({shown!r}): {reason}; write a path or pattern below the notebook, like '**/*.md'"
        )
    return pattern


def _what_is_wrong(pattern: str) -> str | None:
    wrongs = (
        (not pattern.strip(), "the pattern is empty"),
        (len(pattern) > LONGEST, f"the pattern is longer than {LONGEST:,} characters"),
        (not pattern.isprintable(), "the pattern holds a control character"),
        (".." in pattern, "a pattern must not hold '..'"),
        ("\\" in pattern, "a pattern must not hold a backslash"),
        (pattern.startswith("/"), "an absolute path is refused"),
        (pattern.startswith("~"), "a path must not start with '~'"),
        (bool(_DRIVE.match(pattern)), "a drive letter is refused"),
        ("://" in pattern, "a URL is refused"),
    )
    return next((reason for is_wrong, reason in wrongs if is_wrong), None)
