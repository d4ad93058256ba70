"""What this system cannot hold a tool to, and whether the admin refuses that. Loaded only where somebody asks."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement import Policy

_OF_NETWORK = ("Addresses ", "TCP ports ")  # which a tool without a network cannot use anyway


def unenforced(*, has_network: bool) -> list[str]:
    """What this system does not hold of a tool's policy, a sentence for each; `[]` where it holds all of it."""
    from ferrule.confinement.kernel.kernel_support import support

    found = support().missing
    return found if has_network else [one for one in found if not one.startswith(_OF_NETWORK)]


def require_enforced(name: str, policy: Policy) -> None:
    """Raise PermissionsHeld where this system cannot hold a tool to its policy."""
    missing = unenforced(has_network=bool(policy.network))
    if missing:
        from ferrule.errors import PermissionsHeld

        raise PermissionsHeld(
            f"This system cannot hold {name} to its permissions. {' '.join(missing)}",
            admin='An administrator allows that with unenforced = "warn" in [permissions] of config.toml.',
            details={"unenforced": missing},
        )
