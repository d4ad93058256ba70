"""The name of a plugin that is yet to be written: whether it can be used, and what to know before."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.errors import FerruleError
from ferrule.text.names import CLIENT_TOOLS

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_NAME_CHARS = 64
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def require_usable(name: str, tool: str, in_use: Collection[str] = ()) -> None:
    """Raise FerruleError where no plugin can have this name.

    tool: what its tool is called; empty where it has none. in_use: names that its code needs for something else.
    """
    if not _NAME.fullmatch(name):
        raise FerruleError(
            f"{name!r} is no good name.",
            hint="Use small letters, and digits behind them; join words with _: tide_table.",
        )
    longest = max(name, tool, key=len)
    if len(longest) > MAX_NAME_CHARS:
        raise FerruleError(
            f"{longest!r} is no good name: it has {len(longest)} letters.",
            hint=f"Use a shorter one; providers of models take {MAX_NAME_CHARS} letters at most.",
        )
    if keyword.iskeyword(name) or name in in_use:
        raise FerruleError(
            f"{name!r} is no good name: Python, or the code of the tool, uses it for something else.",
            hint=f"Use another one, such as my_{name}.",
        )


def warnings(name: str, tool: str, group: str = "") -> list[str]:
    """What the author of a plugin should know of its names: whose they are already, and what follows.

    tool: what its tool is called; empty where it has none. group: of another entry point that has the name.
    """
    from importlib import metadata

    distribution = f"ferrule-{name.replace('_', '-')}"
    found = []
    if any(metadata.distributions(name=distribution)):
        found.append(f"A package {distribution} is installed already; to install yours takes its place.")
    if tool in CLIENT_TOOLS:
        found.append(f"The client has a tool {tool} itself; a linked tool of this name takes its place.")
    if claims := discovery.scan().get(tool):
        found.append(f"{claims[0].distribution} has a tool {tool} already; the two cannot be installed together.")
    sources = [source for taken, _, source in discovery.entry_points(group) if taken == name] if group else []
    if sources:
        found.append(f"{sources[0]} has the name {name} in {group} already; only one of the two can be used.")
    return found
