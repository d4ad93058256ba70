"""Where such an attack is made, and what it tries: all attacks of one kind, or one that stays when the hook is over."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from hostile_attacks import table

from . import lasting

IMPORTING, SCHEMA, CREDENTIALS, VALIDATE = "importing", "schema", "credentials", "validate"
PLACES = (IMPORTING, SCHEMA, CREDENTIALS, VALIDATE)
KINDS = tuple(kind for kind in table.MODULES if kind != "granted")
MOST = 20  # attacks of a hook, which has some seconds
_SECRET = re.compile(r"canary-[a-z]+-[0-9a-f]{24}")
_SCENE = os.path.join(os.path.dirname(__file__), "scene.json")  # which an installation of the attacks brings


class HookAttack(NamedTuple):
    """name: of the tool. place: where it is made. kind: of the attacks that it makes; empty of one that stays.

    tries: in words. run: makes them, and says what it got.
    """

    name: str
    place: str
    kind: str
    tries: str
    run: Callable[[], str]


def load() -> dict[str, HookAttack]:
    """All of them, by name."""
    made = [one for place in PLACES for kind in KINDS for one in _of_kind(place, kind)]
    made += [_of_lasting(place, name, function) for place in PLACES for name, function in lasting.LASTING.items()]
    return {one.name: one for one in made}


def scene() -> dict:
    """Where things are.

    quiet: the places where no error says what an attack got, since nobody would see it, or the tool would not be used;
    the name of a key says it then. known: attacks that get through, which are not told, so that an
    error is not cut before the others.
    """
    with open(_SCENE) as file:
        return json.load(file)


def _of_kind(place: str, kind: str) -> list[HookAttack]:
    """Those that do not end their process, and need no grant, in parts."""
    chosen = [one for one in table.load().values() if one.kind == kind and not one.is_fatal and not one.grants]
    parts = [chosen[start : start + MOST] for start in range(0, len(chosen), MOST)]
    return [
        HookAttack(
            f"{place}_{kind}_{number}",
            place,
            kind,
            f"Tries {len(part)} attacks of the kind {kind}.",
            functools.partial(_try_all, part),
        )
        for number, part in enumerate(parts, 1)
    ]


def _of_lasting(place: str, name: str, function: Callable[[dict], object]) -> HookAttack:
    def run() -> str:
        return f"tried 1, got <{_try(function, name)}>"

    return HookAttack(f"{place}_{name}", place, "", (function.__doc__ or "").strip(), run)


def _try_all(chosen: list[table.Attack]) -> str:
    """What only the kernel's answer shows is named, and secrets are shown; the rest is seen from outside."""
    seen = (table.WORD, table.STOLEN)
    got = [_try(one.function, one.name) for one in chosen if one.proof in seen]
    for one in chosen:
        if one.proof not in seen:
            _try(one.function, one.name)
    return f"tried {len(chosen)}, got <{', '.join(filter(None, got))}>"


def _try(function: Callable[[dict], object], name: str) -> str:
    try:
        loot = function({**scene(), "context": None})
    except Exception:
        return ""
    return " ".join([name, *_SECRET.findall(str(loot))]) if loot and name not in scene()["known"] else ""
