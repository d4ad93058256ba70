"""The tool `gazetteer_find`: a search tool that knows nothing of ferrule_websearch, and says how it can be used."""

import json
import os
import time
from typing import Any

from ferrule import Context, Credential, ToolError, hookimpl, static_schema

KEY = Credential("key", environment="GAZETTEER_KEY", path="gazetteer.key")

SEARCH = {
    "tool": "gazetteer_find",
    "name": "Gazetteer",
    "limits": {"results": 4, "sites": 3},
    "parameters": {
        "query": "text",
        "num_results": "most",
        "time_range": {"as": "age", "values": {"day": 1, "week": 7}},
        "site": {"as": "hosts", "list": True},
    },
    "results": {"list": "entries", "title": "name", "url": "link", "snippet": "about"},
}


@hookimpl
def schema() -> dict[str, Any]:
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    return [KEY]


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    print("the key is", context.credential("key"))
    context.event({"event": "gazetteer_asked", "with": context.credential("key"), "arguments": arguments})
    do = os.environ.get("GAZETTEER_DOES", "")
    if do == "exit":
        os._exit(0)
    if do == "hang":
        while True:
            time.sleep(1)
    if do == "raise":
        raise RuntimeError("the gazetteer burned down")
    if do == "limit":
        raise ToolError("RATE_LIMIT", "Too many questions.", retry_after=90)
    if do == "nonsense":
        return {"entries": "none"}
    hosts = arguments.get("hosts") or ["gazetteer.example"]
    entries = [
        {"name": f"{host} {n}", "link": f"https://{host}/{n}", "about": f"with {context.credential('key')}"}
        for n in range(arguments.get("most", 2))
        for host in hosts
    ]
    return {"entries": entries, "asked": json.dumps(arguments)}
