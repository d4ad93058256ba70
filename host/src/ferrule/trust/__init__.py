"""What a tool may touch: what it declares, what the admin makes of that, and what it asked for last.

- `declared(tool)` is what its `tool.json` asks for, and `granted(tool, settings)` what of it the admin leaves or adds.
- `admit(tool, settings)` is the door: whether the tool may run, and its policy, which is the same for the kernel: every
  path, host and program of this machine.
- `policy_for_loading(tool)` and `policy_for_code(name)` are for code that is looked at and makes no call.
- `describe(permissions)` says it in a person's words.
- `excess(asked, allowed)` is what one asks for beyond the other, and `require_accepted` holds a tool for that.

Everything up to the policy is on the path of a call, so it imports next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.trust.coverage import excess
    from ferrule.trust.declaration import MalformedPermissions, Permissions, declared, parse
    from ferrule.trust.description import describe
    from ferrule.trust.door.admission import Admission, admit, policy_for
    from ferrule.trust.grants import granted
    from ferrule.trust.load_policy import policy_for_code, policy_for_loading
    from ferrule.trust.records import accept, record_first, require_accepted

__all__ = [
    "Admission",
    "MalformedPermissions",
    "Permissions",
    "accept",
    "admit",
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

_MODULES = {
    "Admission": "ferrule.trust.door.admission",
    "MalformedPermissions": "ferrule.trust.declaration",
    "Permissions": "ferrule.trust.declaration",
    "accept": "ferrule.trust.records",
    "admit": "ferrule.trust.door.admission",
    "declared": "ferrule.trust.declaration",
    "describe": "ferrule.trust.description",
    "excess": "ferrule.trust.coverage",
    "granted": "ferrule.trust.grants",
    "parse": "ferrule.trust.declaration",
    "policy_for": "ferrule.trust.door.admission",
    "policy_for_code": "ferrule.trust.load_policy",
    "policy_for_loading": "ferrule.trust.load_policy",
    "record_first": "ferrule.trust.records",
    "require_accepted": "ferrule.trust.records",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferrule.lazy import load  # not above, as in `ferrule`

    return load(__name__, _MODULES[name], name)
