"""The table of attacks: what each tries, and how somebody who stands outside would see that it has succeeded."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

# How success is seen from outside.
STOLEN = "its answer holds a secret that nobody gave it"
CHANGED = "a file that is not its own is another one, or a new one is there"
REACHED = "a server that nobody opened for it was reached"
HURT = "another process was ended, stopped, signalled or changed"
OUTLIVES = "a process, file or segment of memory is still there when the call is over"
FORGED = "the host died, or wrote what the tool had put into its mouth"
WORD = "nothing can be seen from outside; the kernel's own answer counts"

MODULES = (
    *("keys", "reading", "writing", "network", "sockets", "processes", "programs", "kernel", "memory", "answers"),
    *("granted", "facts", "neighbours", "proxies"),
)


class Attack(NamedTuple):
    """name: of the function and of the tool. kind: its module. tries: in a person's words. proof: as above.

    function: takes the scene, and returns what it got, or raises. is_fatal: it may end the process that it runs in.
    needs_root: an ordinary user cannot succeed with it. host: it attacks what only this host has. grants: what the admin
    has allowed it, as TOML, and what it goes beyond.
    """

    name: str
    kind: str
    tries: str
    proof: str
    function: Callable[[dict], object]
    is_fatal: bool
    needs_root: bool
    host: bool
    grants: str


ATTACKS: dict[str, Attack] = {}


def attack(
    proof: str, *, fatal: bool = False, root: bool = False, host: bool = False, grants: str = ""
) -> Callable[[Callable[[dict], object]], Callable[[dict], object]]:
    """Enter a function into the table; its docstring says what it tries. It stays as it is."""

    def enter(function: Callable[[dict], object]) -> Callable[[dict], object]:
        kind = function.__module__.rpartition(".")[2]
        tries = (function.__doc__ or "").strip()
        ATTACKS[function.__name__] = Attack(function.__name__, kind, tries, proof, function, fatal, root, host, grants)
        return function

    return enter


class NothingFound(Exception):
    """The attack ran to its end and has got nothing."""


def load() -> dict[str, Attack]:
    """The whole table."""
    for module in MODULES:
        importlib.import_module(f"{__package__}.kinds.{module}")
    return ATTACKS
