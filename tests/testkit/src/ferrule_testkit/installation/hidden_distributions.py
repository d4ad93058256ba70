"""What a developer has installed that must not show, or would only cost: an empty folder of metadata hides a name."""

from __future__ import annotations

import functools
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from ferrule.discovery import scan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KEYLESS = frozenset({"ferrule-example", "ferrule-fetch"})


def hide(folder: Path, distributions: Iterable[str]) -> None:
    """Hide these wherever the folder comes before that in which they are installed."""
    for distribution in distributions:
        (folder / f"{distribution.replace('-', '_')}-0.dist-info").mkdir(exist_ok=True)


@functools.cache
def offering_tools() -> frozenset[str]:
    """The distributions with tools, the host among them."""
    return frozenset(claim.distribution for claims in scan().values() for claim in claims)


@functools.cache
def offering_commands() -> frozenset[str]:
    """The distributions with commands, each of which `ferrule doctor` loads, for two seconds in all."""
    return frozenset(point.dist.name for point in entry_points(group="ferrule.commands") if point.dist)
