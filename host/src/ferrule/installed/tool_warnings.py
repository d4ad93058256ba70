"""What is doubtful about a tool that can be used all the same: what a later host may know, or nobody can read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.plugin.declaration import Declaration, MalformedDeclaration
    from ferrule.text.json_types import JSONObject

UNKNOWN_HOOK, UNKNOWN_KEY, UNREADABLE = "unknown-hook", "unknown-key", "declaration-unreadable"
IDS = (UNKNOWN_HOOK, UNKNOWN_KEY, UNREADABLE)


class ToolWarning(NamedTuple):
    """One thing about one tool. id: what kind of thing, one of `IDS`. fix: what to do about it."""

    id: str
    message: str
    fix: str

    def as_dict(self) -> JSONObject:
        """The warning as JSON."""
        return self._asdict()


def unknown_hooks(names: Iterable[str]) -> list[ToolWarning]:
    """One for each hook that this host never calls."""
    from ferrule.plugin.hooks.hookspecs import ToolSpec  # it takes pluggy, which a mere list does without

    known = [name for name in vars(ToolSpec) if not name.startswith("_")]
    return [_unknown(UNKNOWN_HOOK, f"The hook {name}", name, known) for name in names]


def unknown_keys(declaration: Declaration) -> list[ToolWarning]:
    """One for each key of the declaration that this host never reads."""
    from ferrule.plugin.declaration import KEYS

    where = " or ".join(declaration.files)
    return [_unknown(UNKNOWN_KEY, f"The key {key} in {where}", key, KEYS) for key in declaration.unknown]


def unreadable(error: MalformedDeclaration) -> ToolWarning:
    """That a declaration cannot be read, so that nothing of it holds."""
    return ToolWarning(
        UNREADABLE, f"Its declaration cannot be read: {error}.", "Correct the file; nothing of it holds."
    )


def _unknown(kind: str, what: str, name: str, known: Iterable[str]) -> ToolWarning:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    fix = f"Call it {close[0]}" if close else "Take it out"
    message = f"{what} is not one that this ferrule knows, and has no effect."
    return ToolWarning(kind, message, f"{fix}, or update ferrule if it is of a later one.")
