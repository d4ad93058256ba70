"""What a process imports before the calls that need it."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule.plugin.loader import LoadedTool

_FOR_CALLS = (
    "ferrule.calls.execution",
    "ferrule.plugin.hooks.credential_values",
    "ferrule.schema.arguments",
    "ferrule.schema.schema_file",
    "ferrule.supervision.exception_text",
    "ferrule.supervision.processes",
    "ferrule.text.json_diagnosis",
    "ferrule.text.redaction",
    "ferrule.text.strict_json",
    "ferrule.plugin.hooks.context",
    "resource",
)
_WRAPPERS = "ferrule.wrappers.guard"


def import_for_calls() -> None:
    """Import what every call needs, before a plugin is loaded that may replace some of it."""
    for module in _FOR_CALLS:
        importlib.import_module(module)


def import_ahead(modules: Iterable[str]) -> None:
    """Import modules that calls will need, and load the wrappers among them. What fails is left to the call."""
    for module in modules:
        try:
            importlib.import_module(module)
        except BaseException:  # noqa: BLE001, S112 - the call that needs it imports it itself, or fails over it
            continue
    if _WRAPPERS in sys.modules:
        from ferrule.wrappers.loader import load_ahead

        load_ahead()


def register_ahead(loaded: LoadedTool, wrappers: Iterable[str]) -> None:
    """Put those wrappers around a tool that have been loaded ahead, before the calls that have them on."""
    if _WRAPPERS in sys.modules:
        from ferrule.wrappers import guard

        guard.register_ahead(loaded, wrappers)
