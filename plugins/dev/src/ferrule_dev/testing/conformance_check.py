"""`ferrule check` in a test, and as a test of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_dev.conformance import Result

_SHOWN = ("failed", "warned")  # passed and skipped ones are what nobody has to act on


def require_conformance(target: str) -> None:
    """Hold a tool, by its name or its executable's path, against the conformance kit.

    Raises AssertionError with every check that fails, and what to do about it. Warnings alone fail nothing.
    """
    from ferrule_dev import conformance

    report = conformance.run(target)
    if not report.conforms:
        told = "\n".join(_told(one) for one in report.results if one.state in _SHOWN)
        raise AssertionError(f"{target} does not conform. See all with: ferrule check {target}\n{told}")


def _told(result: Result) -> str:
    lines = [f"{result.state} {result.id}: {result.message}", *(f"  {detail}" for detail in result.details)]
    return "\n".join([*lines, f"  {result.fix}"] if result.fix else lines)
