"""The table of innocent tools."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

PACKAGES = ("plain", "loopback", "programs", "copies", "folders")


class Innocent(NamedTuple):
    """name: of the function and the tool. package: whose `tool.json` declares what it needs. does: in words.

    function: takes the scene, and returns what does not depend on who runs it.
    """

    name: str
    package: str
    does: str
    function: Callable[[dict], object]


INNOCENTS: dict[str, Innocent] = {}


def innocent(function: Callable[[dict], object]) -> Callable[[dict], object]:
    """Enter a function into the table."""
    package = function.__module__.rpartition(".")[2]
    does = (function.__doc__ or "").strip()
    INNOCENTS[function.__name__] = Innocent(function.__name__, package, does, function)
    return function


def load() -> dict[str, Innocent]:
    """The whole table."""
    for package in PACKAGES:
        importlib.import_module(f"{__package__}.{package}")
    return INNOCENTS
