"""What a tool may touch: what it declares, what the admin makes of that, and what it asked for last.

- `declared(tool)` is what its `tool.json` asks for, and `granted(tool, settings)` what of it the admin leaves or adds.
- `policy_for(tool, settings, environ)` is the same for the kernel: every path, host and program of this machine.
- `policy_for_loading(tool)` and `policy_for_code(name)` are for code that is looked at and makes no call.
- `describe(permissions)` says it in a person's words.
- `excess(asked, allowed)` is what one asks for beyond the other, and `require_accepted` holds a tool for that.

Everything up to the policy is on the path of a call, so it imports next to nothing.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.permissions.coverage import excess
    from ferrule.permissions.declaration import MalformedPermissions, Permissions, declared, parse
    from ferrule.permissions.description import describe
    from ferrule.permissions.grants import granted
    from ferrule.permissions.load_policy import policy_for_code, policy_for_loading
    from ferrule.permissions.policy import policy_for
    from ferrule.permissions.records import accept, record_first, require_accepted

__all__ = [
    "MalformedPermissions",
    "Permissions",
    "accept",
    "declared",
    "describe",
    "excess",
    "granted",
    "parse",
    "policy_for",
    "policy_for_code",
    "policy_for_loading",
    "record_first",
    "require_accepted",
]

__getattr__ = attach(
    __name__,
    {
        "MalformedPermissions": "ferrule.permissions.declaration",
        "Permissions": "ferrule.permissions.declaration",
        "accept": "ferrule.permissions.records",
        "declared": "ferrule.permissions.declaration",
        "describe": "ferrule.permissions.description",
        "excess": "ferrule.permissions.coverage",
        "granted": "ferrule.permissions.grants",
        "parse": "ferrule.permissions.declaration",
        "policy_for": "ferrule.permissions.policy",
        "policy_for_code": "ferrule.permissions.load_policy",
        "policy_for_loading": "ferrule.permissions.load_policy",
        "record_first": "ferrule.permissions.records",
        "require_accepted": "ferrule.permissions.records",
    },
)
