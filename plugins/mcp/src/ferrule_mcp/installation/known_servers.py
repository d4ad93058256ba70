"""What is known of servers that do not run confined as they are: variables that have them write into their home."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_VARIABLES = {
    # Without it, it writes into the folder of its own code.
    "@modelcontextprotocol/server-memory": {"MEMORY_FILE_PATH": "{home}/memory.jsonl"},
}


def find_variables(packages: Iterable[str], home: str) -> dict[str, str]:
    """The variables that a server of these packages needs. home: the folder that is its own."""
    found = [_VARIABLES[name] for name in packages if name in _VARIABLES]
    return {name: value.format(home=home) for one in found for name, value in one.items()}
