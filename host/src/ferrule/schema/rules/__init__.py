"""The rules that a tool's schema has to keep: what is an error, what only costs something, what to do.

Errors keep a tool from being registered: the rules of the format, the client's limits, and the metaschema.
Warnings say what a provider does with a schema that is valid and still causes trouble. `contract_errors` is
on the path of `--schema` and imports next to nothing; `check` does everything. Each is loaded when it is first used.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.schema.rules.check import check, check_text
    from ferrule.schema.rules.contract import contract_errors
    from ferrule.schema.rules.definitions import RULES
    from ferrule.schema.rules.findings import Finding

__all__ = ["RULES", "Finding", "check", "check_text", "contract_errors"]

__getattr__ = attach(
    __name__,
    {
        "RULES": "ferrule.schema.rules.definitions",
        "Finding": "ferrule.schema.rules.findings",
        "check": "ferrule.schema.rules.check",
        "check_text": "ferrule.schema.rules.check",
        "contract_errors": "ferrule.schema.rules.contract",
    },
)
