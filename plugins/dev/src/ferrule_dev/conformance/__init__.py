"""The conformance kit: runs an executable as clients do, and says where it does not keep their contract.

It works on any executable, in any language. `run` makes all checks and returns a `Report`; `CHECKS` is the table of
them. What is here runs executables and judges them; how a schema is judged is the room `schema`'s affair.
"""

from __future__ import annotations

from ferrule_dev.conformance.checks import QUICK_SECONDS, SECONDS, run
from ferrule_dev.conformance.definitions import CHECKS, Definition
from ferrule_dev.conformance.report import FAILED, PASSED, SKIPPED, WARNED, Report, Result

__all__ = [
    "CHECKS", "FAILED", "PASSED", "QUICK_SECONDS", "SECONDS", "SKIPPED", "WARNED", "Definition", "Report", "Result",
    "run",
]  # fmt: skip
