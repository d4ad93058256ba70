"""The distributions that are published together with the host, by the tools and commands that each brings.

They are data, in a file beside this one, which a test holds against the projects: the host knows no plugin by name. It
serves those who name a tool or a command that is not installed.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from ferrule.text.names import same_distribution, tool_name

_MAX_MEANT = 3
_MIN_LIKENESS = 0.75
_FILE = Path(__file__).with_suffix(".json")


class KnownDistribution(NamedTuple):
    """tools, commands: the names of what it brings. extra: the host's extra that brings it; empty where none does."""

    tools: list[str]
    commands: list[str]
    extra: str = ""

    def ways(self, name: str) -> str:
        """How to install it, under its name, for a sentence: one command or two."""
        by_extra = f" or `pip install 'ferrule[{self.extra}]'`" if self.extra else ""
        return f"`ferrule install {name}`{by_extra}"


def read() -> dict[str, KnownDistribution]:
    """All of them, by their names."""
    content = json.loads(_FILE.read_bytes())
    return {name: KnownDistribution(**one) for name, one in content.items()}


def owner_of_tool(name: str) -> str | None:
    """The distribution that brings the tool of this name, or of the executable of this name; None for all others."""
    tool = tool_name(name)
    return next((owner for owner, one in read().items() if tool in one.tools), None)


def owner_of_command(name: str) -> str | None:
    """The distribution that brings this subcommand; None for all others."""
    return next((owner for owner, one in read().items() if name in one.commands), None)


def commands() -> list[str]:
    """The subcommands of all of them."""
    return [name for one in read().values() for name in one.commands]


def probably_meant(name: str) -> list[str]:
    """What the user may have meant: names of tools, commands and packages that `ferrule install` finds, best first."""
    known = read()
    spellings = {same_distribution(part): part for one in known.values() for part in (*one.tools, *one.commands)}
    spellings |= {owner.removeprefix("ferrule-"): owner for owner in known if owner != "ferrule"}
    spellings |= {owner: owner for owner in known}
    close = get_close_matches(same_distribution(name), spellings, n=_MAX_MEANT, cutoff=_MIN_LIKENESS)
    return list(dict.fromkeys(spellings[one] for one in close))
