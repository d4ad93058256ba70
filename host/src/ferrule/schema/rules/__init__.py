"""The rules that a tool's schema has to keep: what is an error, what only costs something, what to do.

Errors keep a tool from being registered: the rules of the format, the client's limits, and the metaschema.
Warnings say what a provider does with a schema that is valid and still causes trouble. `contract_errors` is
on the path of `--schema` and imports next to nothing; `check` does everything. Each is loaded when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.schema.rules.checks import check, check_text
    from ferrule.schema.rules.contract import contract_errors
    from ferrule.schema.rules.definitions import RULES
    from ferrule.schema.rules.findings import Finding

__all__ = ["RULES", "Finding", "check", "check_text", "contract_errors"]

_FILES = {
    "RULES": "definitions",
    "Finding": "findings",
    "check": "checks",  # no module of this name: once loaded, it would stand here in the function's place
    "check_text": "checks",
    "contract_errors": "contract",
}


def __getattr__(name: str) -> object:
    if name not in __all__:  # such as a module of this package, which Python looks for here first
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferrule.lazy import load  # not above: what is on the path of a call pays for each file

    return load(__name__, f"{__name__}.{_FILES[name]}", name)
