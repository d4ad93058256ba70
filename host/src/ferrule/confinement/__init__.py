"""What the kernel holds the processes of a call to: files, connections, programs, processes, and their limits.

A `Policy` is everything that a call may touch, resolved. `confine` puts it in force in a child, before a plugin is
there. `Broker` is the supervising process's part: it judges what a filter cannot, and does it in the child's place.
`support` tells what this system can hold. Knows no tool, no configuration, and no plugin.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.enforcement import confine
    from ferrule.confinement.kernel.kernel_support import Support, support
    from ferrule.confinement.policy import Denial, Policy

__all__ = ["Denial", "Policy", "Support", "confine", "support"]

__getattr__ = attach(
    __name__,
    {
        "Denial": "ferrule.confinement.policy",
        "Policy": "ferrule.confinement.policy",
        "Support": "ferrule.confinement.kernel.kernel_support",
        "confine": "ferrule.confinement.enforcement",
        "support": "ferrule.confinement.kernel.kernel_support",
    },
)
