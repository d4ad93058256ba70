"""The CLI's own configuration: which notebooks are registered, and which views hold in all of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.notebook import configuration
from ferrule_opennotes.notebook.paths import absolute

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = "config.json"


def folder(kind: str) -> str:
    """The folder where a CLI keeps its configuration."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.config"), kind)


def registered(kinds: Sequence[str]) -> list[str]:
    """The folders that are registered as notebooks, without those that are named twice; they may not exist.

    kinds: whose configuration is asked, in this order.
    """
    found: list[str] = []
    for kind in kinds:
        listed = load(kind).get("notebooks")
        folders = listed if isinstance(listed, list) else [os.path.join(folder(kind), "notebooks")]
        found += [absolute(os.path.expanduser(each)) for each in folders if isinstance(each, str) and each]
    return list(dict.fromkeys(found))


def views(kind: str) -> Any:
    """What the configuration says under `views`; None where it says nothing."""
    return load(kind).get("views")


def load(kind: str) -> dict[str, Any]:
    """The configuration of a CLI; `{}` where there is none, or none that can be read, as the CLI itself takes it."""
    try:
        config = configuration.read(os.path.join(folder(kind), _FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}
