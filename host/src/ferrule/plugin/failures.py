"""A failure as the JSON document that a client gets: the one place where errors become answers."""

from __future__ import annotations

from ferrule.errors import FerruleError
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.discovery import InstalledTool
    from ferrule.errors import ErrorFacts
    from ferrule.supervision.channel.channel import Channel
    from ferrule.text.json_types import JSONObject

_MAX_TEXT_CHARS = 8000  # the answer has to be readable, and to fit
_RENDER_SECONDS = 1.0
_HOST_CODES = ("INTERNAL_ERROR", "TIMEOUT", "OUT_OF_MEMORY")
_RENDER_MEMORY_MIB = 512


def explain_error(error: BaseException) -> tuple[ErrorFacts, bytes]:
    """The facts of an error, and the traceback where it is a defect of the host."""
    if isinstance(error, FerruleError):
        return error.facts(), error.traceback
    from ferrule.supervision.exception_text import defect, traceback_of

    return defect(error).facts(), traceback_of(error)


def name_plugin(facts: ErrorFacts, tool: InstalledTool) -> ErrorFacts:
    """The facts with who ships the tool, where the host says only that "the tool" has failed."""
    message = facts["message"]
    if facts["code"] not in _HOST_CODES or not message.startswith("The tool") or tool.source in message:
        return facts
    return {**facts, "message": f"{tool.source}: {message}"}


def document(facts: Mapping[str, object], tool: InstalledTool | None) -> bytes:
    """The failure in the shape of the tool's family, as a line of JSON.

    facts: see `FerruleError.facts()`; what an administrator can do stands in no document. A tool that names a
    function in the entry-point group `ferrule.failures` has its failures rendered by it, in a supervised child; all
    others, and any whose function fails, by `default_document`.
    """
    facts = {name: _legible(value) for name, value in facts.items() if name != "admin"}
    if tool is not None and tool.failures:
        rendered = _render_by_plugin(facts, tool)
        if rendered is not None:
            return rendered
    return strict_json.dumps(default_document(facts))


def default_document(facts: Mapping[str, object]) -> JSONObject:
    """The web tools' shape: `{"success": false, "error", "error_code"}`, and `retry_after` (seconds) if it is known."""
    error = " ".join(str(facts[name]) for name in ("message", "hint") if facts.get(name))
    failure: JSONObject = {"success": False, "error": error, "error_code": facts.get("code", "INTERNAL_ERROR")}
    if facts.get("retry_after") is not None:
        failure["retry_after"] = facts["retry_after"]
    return failure


def summary(facts: Mapping[str, object], tool: str) -> str:
    """The failure as one line for the user."""
    return f"{tool}: {facts.get('code', 'INTERNAL_ERROR')}: {facts.get('message', '')}".replace("\n", " ")


def _render_by_plugin(facts: Mapping[str, object], tool: InstalledTool) -> bytes | None:
    import time

    from ferrule.config import configuration
    from ferrule.plugin.hooks.context import ANSWER_BYTES
    from ferrule.supervision.supervisor import supervise
    from ferrule.trust.load_policy import policy_for_code

    def render(channel: Channel) -> None:
        from ferrule.plugin.loader import load_failure_renderer

        channel.result(load_failure_renderer(tool)(dict(facts)))

    deadline = time.monotonic() + _RENDER_SECONDS
    try:
        settings = configuration.read()
        policy, memory = policy_for_code(tool.name, settings=settings), settings.memory(tool.name)
    except FerruleError:  # the configuration cannot be read, which may be what there is to render
        return None
    outcome = supervise(
        render, deadline=deadline, memory=max(_RENDER_MEMORY_MIB, memory), size_limit=ANSWER_BYTES, policy=policy
    )
    if not outcome.result or not outcome.result.startswith(b"{"):
        return None
    from ferrule.plugin.attribution import without_host_code

    return without_host_code(outcome.result, allowed=facts.get("code"))


def _legible(value: object) -> object:
    """A text that JSON holds and a model can read; what a message quotes may be anything."""
    if not isinstance(value, str):
        return value
    text = value.encode(errors="replace").decode().replace("\0", "\ufffd")
    return text if len(text) <= _MAX_TEXT_CHARS else text[: _MAX_TEXT_CHARS - 1] + "…"
