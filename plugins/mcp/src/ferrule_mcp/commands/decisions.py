"""What the admin decides about rights that a server wants: at a terminal by a question, else by the options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ferrule.cli import note, plain
from ferrule_mcp.installation.reserved_rights import find_reason

if TYPE_CHECKING:
    from ferrule_mcp.installation.addition import Decide
    from ferrule_mcp.installation.rights import Right


def make_decide(name: str, *, grants_all: bool, asks: bool | None = None) -> Decide:
    """How the admin decides about what a server wants.

    Args:
        name: the server's.
        grants_all: whether everything is granted without a question, but for what is granted by name alone.
        asks: whether there is somebody to ask, by default where stdin and stderr are a terminal.
    """
    is_asked = sys.stdin.isatty() and sys.stderr.isatty() if asks is None else asks
    refused: set[Right] = set()

    def decide(wanted: list[Right], failure: str) -> list[Right]:
        new = [one for one in wanted if one not in refused]
        if grants_all:
            refused.update(new)
            return _grant_all(name, new)
        granted = _ask(name, new, failure) if is_asked and new else []
        refused.update(new)
        return granted

    return decide


def _grant_all(name: str, wanted: list[Right]) -> list[Right]:
    """What `--yes` grants, said in a line each; and what it does not, with how that is granted."""
    granted = []
    for one in wanted:
        reason = find_reason(one)
        if reason:
            note(f"{name} may not {plain(one.words())}: {reason}. --yes does not grant that; {one.option()} does.")
        else:
            note(f"{name} may {plain(one.words())}.")
            granted.append(one)
    return granted


def _ask(name: str, wanted: list[Right], failure: str) -> list[Right]:
    if failure:
        note(f"{name} failed: {plain(failure)}")
    note(f"{name} wanted what it may not:")
    for number, one in enumerate(wanted, 1):
        reason = find_reason(one)
        note(f"  {number}. {plain(one.words())}" + (f" ({reason})" if reason else ""))
    while True:
        answer = click.prompt("Grant which? Numbers, `all` or `none`", default="none", err=True)
        chosen = _read_choice(answer, wanted)
        if chosen is not None:
            return chosen


def _read_choice(answer: str, wanted: list[Right]) -> list[Right] | None:
    """What an answer names; None where it cannot be understood."""
    word = answer.strip().lower()
    if word in ("all", "none", ""):
        return list(wanted) if word == "all" else []
    numbers = word.replace(",", " ").split()
    if not all(one.isdigit() and 1 <= int(one) <= len(wanted) for one in numbers):
        return None
    return [wanted[int(one) - 1] for one in numbers]
