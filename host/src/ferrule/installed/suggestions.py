"""Errors for names that nothing has, with the names that were probably meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from ferrule.errors import ToolUnknown
from ferrule.installed import known_distributions
from ferrule.text.names import tool_name


def unknown_tool(name: str, known: Collection[str]) -> ToolUnknown:
    """The error for a name that no tool has, with the names that were probably meant."""
    typed = tool_name(name)
    close = [typed] if typed in known else get_close_matches(typed, sorted(known), n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(close)}?" if close else "Run `ferrule list` to see what is installed."
    owner = known_distributions.owner_of_tool(name)
    if owner and typed not in known:
        hint = f"{owner} brings it: run `ferrule install {owner}`."
    return ToolUnknown(f"No installed distribution offers a tool named {name!r}.", hint=hint, details={"close": close})
