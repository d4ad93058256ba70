"""What decides a search's result beside its arguments and the tool's own settings, as JSON without secrets."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ferrule_research.search.lenses import lenses
from ferrule_websearch import Attempt, installed, statuses

if TYPE_CHECKING:
    from ferrule import Context


def identity(context: Context) -> dict[str, Any]:
    """`{"providers", "lenses"}`: hashes by name. A provider that is not configured has one, too."""
    found = statuses(list(installed().values()), context.deadline)
    return {
        "providers": {one.provider: [_known(one), one.state == "unconfigured"] for one in found},
        "lenses": {name: sha256(path.read_bytes()).hexdigest() for name, path in lenses().items()},
    }


def _known(one: Attempt) -> str:
    """What a provider is. One that did not say so in time is like no other, since it may still answer the search."""
    return os.urandom(16).hex() if one.kind == "network" else one.identity
