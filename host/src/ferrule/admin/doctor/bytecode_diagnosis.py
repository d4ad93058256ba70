"""Tools that are compiled anew in each call, since no installer has compiled what they import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.admin.doctor.diagnosis_entry import NOTE, Diagnosis
from ferrule.admin.packages.bytecode import find_uncompiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrule.discovery import InstalledTool


def examine(tools: Iterable[InstalledTool]) -> Iterator[Diagnosis]:
    """One diagnosis for all of them."""
    found = find_uncompiled({tool.distribution for tool in tools})
    if found:
        number = sum(map(len, found.values()))
        message = (
            f"{number:,} files have no bytecode. Each call compiles those that it imports, which may double its price."
        )
        fix = "Run `ferrule link`, which compiles them, as the same user that has installed them."
        yield Diagnosis("bytecode-missing", NOTE, ", ".join(found), message, fix)
