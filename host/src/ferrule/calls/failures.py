"""A failure as the JSON document that a client gets: the one place where errors become answers."""

from __future__ import annotations

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel import Channel

_LONGEST = 8000  # characters of a message; the answer has to be readable, and to fit
_SECONDS = 1.0
_MEMORY = 512


def document(facts: dict[str, object], tool: InstalledTool | None) -> bytes:
    """The failure in the shape of the tool's family, as a line of JSON.

    facts: as of `FerruleError.facts()`. A tool that names a function in the entry-point group `ferrule.failures` has
    its failures rendered by it, in a supervised child; all others, and any whose function fails, by `web`.
    """
    facts = {name: _shown(value) for name, value in facts.items()}
    if tool is not None and tool.failures:
        rendered = _by_the_plugin(facts, tool)
        if rendered is not None:
            return rendered
    return strict_json.dumps(web(facts))


def web(facts: dict[str, object]) -> dict[str, object]:
    """The web tools' shape: `{"success": false, "error", "error_code"}`, and `retry_after` (seconds) if it is known."""
    error = " ".join(str(facts[name]) for name in ("message", "hint") if facts.get(name))
    failure: dict[str, object] = {"success": False, "error": error, "error_code": facts.get("code", "INTERNAL_ERROR")}
    if facts.get("retry_after") is not None:
        failure["retry_after"] = facts["retry_after"]
    return failure


def summary(facts: dict[str, object], tool: str) -> str:
    """The failure as one line for a person."""
    return f"{tool}: {facts.get('code', 'INTERNAL_ERROR')}: {facts.get('message', '')}".replace("\n", " ")


def _by_the_plugin(facts: dict[str, object], tool: InstalledTool) -> bytes | None:
    import time

    from ferrule.supervision.supervisor import supervise
    from ferrule.tool.context import ANSWER_BYTES

    def render(channel: Channel) -> None:
        from ferrule.tool.loader import failure_renderer

        channel.result(failure_renderer(tool)(facts))

    outcome = supervise(render, deadline=time.monotonic() + _SECONDS, memory=_MEMORY, size_limit=ANSWER_BYTES)
    return outcome.result if outcome.result and outcome.result.startswith(b"{") else None


def _shown(value: object) -> object:
    """A text that JSON holds and a model can read; what a message quotes may be anything."""
    if not isinstance(value, str):
        return value
    text = value.encode(errors="replace").decode().replace("\0", "\ufffd")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
