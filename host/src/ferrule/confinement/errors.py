"""How a call ends that was denied something."""

from __future__ import annotations

from ferrule.confinement.denials import hint, message
from ferrule.errors import PermissionDenied

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.policy import Denial, Policy


def denied(policy: Policy, denial: Denial) -> PermissionDenied:
    """The error that says what was tried, and how an admin allows it."""
    return PermissionDenied(
        message(policy, denial),
        hint=hint(policy, denial),
        details={"denied": {"kind": denial.kind, "what": denial.what}},
    )
