"""What `patent_search` may ask the two offices for: the arguments of their tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_websearch import SearchManifest

MAX_RESULTS = 100
_OWN = ("assignee", "inventor", "cpc_code", "patent_office", "year_from", "year_to", "number")
_PARAMETERS: dict[str, str | dict[str, object]] = {"query": "query", "num_results": "count", **{n: n for n in _OWN}}
_RESULTS = {name: name for name in ("number", "assignee", "inventor", "filed", "granted", "status")}

EPO: SearchManifest = {
    "tool": "patent_search_epo",
    "name": "EPO",
    "kind": "patents",
    "limits": {"results": MAX_RESULTS},
    "parameters": _PARAMETERS,
    "results": _RESULTS,
    "operators": False,
}

USPTO: SearchManifest = {
    "tool": "patent_search_uspto",
    "name": "USPTO",
    "kind": "patents",
    "limits": {"results": MAX_RESULTS},
    "parameters": _PARAMETERS,
    "results": _RESULTS,
    "operators": False,
}
