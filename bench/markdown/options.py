"""What a run of the measures is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown.programs.peers import Converters


class Options(NamedTuple):
    """failures: how many of ours to show, of each set. grep: what the names of cases must hold. runs: of each call."""

    converters: Converters
    failures: int = 0
    grep: str = ""
    runs: int = 21
