"""What an author writes into tool.json, where calls were denied something."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_dev.conformance.runs.outcome import Outcome

_TRACE = "`ferrule run --trace` shows what a call does."
_HOW = f"Declare it under permissions in tool.json; {_TRACE}"
# As ferrule.confinement.denials says it on stderr, of a tool that has no network at all.
_LINE = re.compile(r'"permissions": \{"network": \["([^"\\\s]{1,300})"\]\}')


def how_to_declare(denied: Iterable[Outcome]) -> str:
    """Where a tool without a network wanted one, the line itself; else that it has to be declared."""
    found = [entry for one in denied for entry in _LINE.findall(one.end.errors.decode(errors="replace"))]
    if not found:
        return _HOW
    line = json.dumps({"permissions": {"network": list(dict.fromkeys(found))}})[1:-1]
    return f"Add {line} to tool.json; {_TRACE}"
