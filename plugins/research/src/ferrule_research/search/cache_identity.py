"""What decides a search's result besides its arguments and the tool's own settings, as JSON without secrets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.text.sha256 import sha256_hex
from ferrule_research.search.lenses import find_lenses
from ferrule_websearch import Attempt, find_unconfigured, installed_providers, probe_providers
from ferrule_websearch.manifest import WEB

if TYPE_CHECKING:
    from ferrule import Context, JSONObject


# What the latest call has found out, known by its deadline; by the kind of search.
_known: tuple[float, dict[str, list[Attempt]]] | None = None


def known_states(context: Context, kind: str = WEB) -> list[Attempt] | None:
    """All providers of a kind, as this call has found them already where the cache is on; None where it has not."""
    return _known[1].get(kind) if _known and _known[0] == context.deadline else None


def read_identity(context: Context) -> JSONObject:
    """`{"providers", "lenses"}`: hashes by name. A provider that is not configured has one, too."""
    lenses = {name: sha256_hex(path.read_bytes()) for name, path in find_lenses().items()}
    return {"providers": identify_providers(context), "lenses": lenses}


def identify_providers(context: Context, kind: str = WEB) -> JSONObject:
    """The hashes of the providers of a kind of search by name. `known_states` has what was found out for them."""
    global _known
    installed = installed_providers(kind=kind)
    unset = find_unconfigured(list(installed.values()))
    names = {one.provider for one in unset}
    rest = [one for name, one in installed.items() if name not in names]
    found = sorted([*unset, *probe_providers(rest, context.deadline, has_breakers=False)], key=lambda one: one.provider)
    others = _known[1] if _known and _known[0] == context.deadline else {}
    _known = (context.deadline, {**others, kind: found})
    return {one.provider: [_identity_of(one), one.state == "unconfigured"] for one in found}


def _identity_of(one: Attempt) -> str:
    """What a provider is. One that did not say so in time is like no other, since it may still answer the search."""
    return os.urandom(16).hex() if one.kind == "network" else one.identity
