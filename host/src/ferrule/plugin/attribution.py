"""Whose words a failure is in: those of the host count as they are, those of a tool's process are never taken for them.

A process in which code of a plugin runs can say anything. So of what it says, a code that only the host can know counts
where the host knows of it, and is told in the host's own words. Imported only where a call has failed, or where a
result may say so.
"""

from __future__ import annotations

from ferrule.errors import (
    ConfigurationMalformed,
    LockUnusable,
    OutOfMemory,
    PackageRefused,
    PermissionDenied,
    ProxyUnusable,
    ToolDiffers,
    ToolDisabled,
    ToolNameClash,
    ToolUnavailable,
    ToolUnknown,
    failure_in,
)
from ferrule.text import strict_json
from ferrule.text.commands import without_commands

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.confinement.policy import Denial, Policy
    from ferrule.discovery import InstalledTool
    from ferrule.errors import ErrorFacts
    from ferrule.supervision.channel.outcome import Outcome

HOST_CODES = frozenset(
    one.code
    for one in (
        ConfigurationMalformed, LockUnusable, OutOfMemory, PackageRefused, PermissionDenied, ProxyUnusable, ToolDiffers,
        ToolDisabled, ToolNameClash, ToolUnavailable, ToolUnknown,
    )
)  # fmt: skip
"""Codes of what only the host can know."""

TOOLS_OWN = "TOOL_ERROR"
"""What stands instead of such a code where the tool says it."""

_MAX_WHAT_CHARS = 4096
_MAX_CODE_CHARS = 64


def attribute(outcome: Outcome, policy: Policy | None, tool: InstalledTool) -> None:
    """Change an outcome of a tool so that nothing in it passes for the host's that is not.

    policy: of the call, as far as known.

    A failure that the tool's process has said keeps its words. It loses a code of the host's, and what it proposes.
    """
    if outcome.failure is not None and outcome.is_said:
        outcome.failure = _known(outcome.failure, outcome, policy, tool) or _own(outcome.failure)
    elif outcome.result is not None:
        outcome.result = without_host_code(outcome.result)


def without_host_code(document: bytes, allowed: object = None) -> bytes:
    """A JSON object that says a failure, without a code of the host's in it; any other one as it is.

    allowed: a code that may stand there.
    """
    # A letter may be written by its number, so that a code cannot be found without reading all.
    if b"\\u" not in document and not any(code.encode() in document for code in HOST_CODES):
        return document
    try:
        content = strict_json.loads(document)
    except strict_json.MalformedJSON:
        return document
    if not isinstance(content, dict) or failure_in(content) is None:
        return document
    forged = [key for key in ("error_code", "code") if content.get(key) in HOST_CODES and content[key] != allowed]
    return strict_json.dumps({**content, **dict.fromkeys(forged, TOOLS_OWN)}) if forged else document


def _known(said: ErrorFacts, outcome: Outcome, policy: Policy | None, tool: InstalledTool) -> ErrorFacts | None:
    """The host's own facts of what the process says, where the host knows of it; None where it does not."""
    for known in outcome.refused:
        if (known.get("code"), known.get("message")) == (said["code"], said["message"]):
            return known
    if said["code"] == PermissionDenied.code and policy is not None:
        denial = _denial_in(said)
        if denial is not None:
            from ferrule.confinement.errors import denied

            return denied(policy, denial, instead_of=_own_words(said)).facts()
    # What is uninstalled while it is called may miss its own files, or have said so itself.
    misses_a_file = said["code"] == "INTERNAL_ERROR" and "FileNotFoundError" in str(said["message"])
    if (said["code"] == ToolUnknown.code or misses_a_file) and tool.is_gone:
        from ferrule.discovery import unknown

        return unknown(tool.name).facts()
    from ferrule.supervision.exception_text import MORE_MEMORY, OUT_OF_MEMORY

    if said["code"] == "INTERNAL_ERROR" and said["message"] == OUT_OF_MEMORY:
        return {**said, "admin": MORE_MEMORY}
    return None


def _denial_in(said: ErrorFacts) -> Denial | None:
    """What was refused, which a tool could as well have tried: what it says of that proves and opens nothing."""
    from ferrule.confinement.broker.broker import denial_in
    from ferrule.confinement.denials import KINDS

    denial = denial_in(said)
    if denial is None or denial.kind not in KINDS or len(denial.what) > _MAX_WHAT_CHARS:
        return None
    return denial if denial.what.isprintable() else None


def _own_words(said: ErrorFacts) -> ErrorFacts | None:
    """What the tool itself said when it was refused, None where it said nothing."""
    own = said.get("details", {}).get("said")
    if not isinstance(own, dict) or not (isinstance(own.get("code"), str) and isinstance(own.get("message"), str)):
        return None
    return {"code": own["code"][:_MAX_CODE_CHARS], "message": own["message"]}


def _own(said: ErrorFacts) -> ErrorFacts:
    """The tool's own failure."""
    kept: Mapping[str, object] = {name: value for name, value in said.items() if name != "admin"}
    facts: ErrorFacts = {**kept, "code": TOOLS_OWN if said["code"] in HOST_CODES else said["code"]}  # type: ignore[typeddict-item] # the same keys
    for name in ("message", "hint"):
        text = facts.get(name)
        if isinstance(text, str):
            facts[name] = without_commands(text)
    return facts
