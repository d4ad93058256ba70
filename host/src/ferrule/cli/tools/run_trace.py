"""`ferrule run --trace`: what a call touched, and the declaration that it would need."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from ferrule.calls.output import render
from ferrule.cli.output import counted, harmless
from ferrule.text import strict_json
from ferrule.trace.needs import Needed
from ferrule.trace.usual import own_variables

if TYPE_CHECKING:
    from ferrule.calls.call import ToolCall
    from ferrule.calls.streams import Streams
    from ferrule.calls.traced_runner import TracingRunner
    from ferrule.supervision.signals import Signals
    from ferrule.text.json_types import JSONObject
    from ferrule.trace.observations import TraceFacts
    from ferrule.trace.usual import UsualPaths

_GRACE_SECONDS = 60.0  # in which whoever reads takes the trace
_TITLES = {
    "read": "Files read",
    "written": "Files written",
    "programs": "Programs run",
    "connections": "Connected to",
    "sockets": "UNIX sockets",
    "listened": "Listened on",
    "names": "Names resolved",
    "variables": "Variables read",
}


def trace(call: ToolCall, runner: TracingRunner, streams: Streams, signals: Signals, *, as_json: bool) -> int:
    """Make the call, and write its answer with the trace to the streams. The exit code is that of the call."""
    outcome = call.run()
    output = render(outcome, call.tool, call.name, call.names)
    call.write_journal(outcome, len(output.document))
    answer = strict_json.loads(output.document)
    document: JSONObject = {"answer": answer}
    told = [json.dumps(answer, indent=2, ensure_ascii=False)]
    if runner.found is None:
        told.append("The call did not begin, so there is nothing to show of it.")
    else:
        facts = _without_usual(runner.found.as_dict(), runner.usual)
        needed = Needed(runner.found, runner.usual, {**os.environ, **runner.relayed}, os.getcwd())
        if runner.unread:
            needed.notes.append(f"Of {counted(runner.unread, 'system call')} the arguments could not be read.")
        denied = [{"kind": one.kind, "what": one.what} for one in runner.denied]
        document |= {"trace": facts, "denied": denied, "permissions": needed.permissions, "notes": needed.notes}
        told += _told(facts, needed)
        if denied:
            told += ["", "Denied:", *(f"  {one['kind']} {one['what']}" for one in denied)]
    shown = json.dumps(document, indent=2, ensure_ascii=False) if as_json else "\n".join(told)
    limit = time.monotonic() + _GRACE_SECONDS
    streams.write_document(harmless(shown), limit, signals)
    streams.write_text(output.text, limit, signals)
    return output.exit_code


def _without_usual(facts: TraceFacts, usual: UsualPaths) -> TraceFacts:
    kept = {name: usual.without(facts[name]) for name in ("read", "written", "sockets")}
    variables = own_variables(facts["variables"], has_network=True)
    return {**facts, **kept, "variables": variables}  # type: ignore[typeddict-item] # the same keys


def _told(facts: TraceFacts, needed: Needed) -> list[str]:
    lines = [""]
    for name, title in _TITLES.items():
        found: list[object] = facts[name]  # type: ignore[literal-required] # _TITLES has its keys
        if found:
            lines += [f"{title}:", *(f"  {_line(one)}" for one in found)]
    if facts["processes"]:
        lines.append(f"Copies of itself, at a time: {facts['processes']}")
    if lines[-1]:
        lines.append("")
    declaration = json.dumps({"permissions": needed.permissions}, indent=2, ensure_ascii=False)
    return [*lines, "For tool.json:", declaration, *needed.notes]


def _line(one: object) -> str:
    if not isinstance(one, dict):
        return str(one)
    name = f"{one['host']} " if one["host"] else ""
    return f"{name}{one['address']} port {one['port']} ({one['protocol']})"
