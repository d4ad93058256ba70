"""How a call ends that was denied something."""

from __future__ import annotations

from ferrule.confinement.denials import advice, lacks_network, message
from ferrule.errors import PermissionDenied

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.policy import Denial, Policy
    from ferrule.errors import ErrorFacts
    from ferrule.text.json_types import JSONObject


def denied(policy: Policy, denial: Denial, *, instead_of: ErrorFacts | None = None) -> PermissionDenied:
    """The error that says what was tried, and, to an admin alone, how it is allowed.

    instead_of: what the tool itself has said, for which that is most likely the reason; its words are kept.
    """
    text = message(policy, denial)
    author = "Its author declares the network in tool.json." if lacks_network(policy, denial) else None
    if instead_of is not None:
        from ferrule.text.commands import without_commands

        text = f"{text} The tool said {instead_of['code']}: {without_commands(instead_of['message'].strip())}"
    details: JSONObject = {"denied": {"kind": denial.kind, "what": denial.what}}
    if instead_of is not None:
        details["said"] = {"code": instead_of["code"], "message": instead_of["message"]}
    return PermissionDenied(text, author=author, admin=advice(policy, denial), details=details)
