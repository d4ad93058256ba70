"""Which model providers refuse every request with a tool in it, as the client sends its schema, and what helps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ferrule.schema.providers.profiles import PROFILES

if TYPE_CHECKING:
    from ferrule.schema.rules import Finding

Refusals = dict[str, list["Finding"]]
"""The findings that a provider refuses a request for, by the provider's name as `ferrule link --for` has it."""


def refusals(findings: Iterable[Finding], providers: Iterable[str] = PROFILES) -> Refusals:
    """The findings by provider; a provider that takes the tool is not there. providers: those that are asked about."""
    found = list(findings)
    by_provider = {
        provider: [finding for finding in found if PROFILES[provider].provider in finding.refused_by]
        for provider in providers
    }
    return {provider: refused for provider, refused in by_provider.items() if refused}


def explain(refused: Refusals) -> str:
    """A sentence that names the providers, and what in the schema they refuse."""
    names = [PROFILES[provider].provider for provider in refused]
    pointers = list(dict.fromkeys(finding.pointer for found in refused.values() for finding in found))
    verb = "refuses" if len(names) == 1 else "refuse"
    return f"{' and '.join(names)} {verb} every request with this tool in it, for {', '.join(pointers)}."


def remedy(tool: str, refused: Refusals, options: str = "") -> str:
    """The command that fixes it, or what to do where the tool's name is refused. options: further ones of `link`."""
    if any(finding.pointer == "/name" for found in refused.values() for finding in found):
        return f"ferrule link {tool}{options} --as NAME, with a name that every provider takes"
    return f"ferrule link {tool}{options} --for {', or --for '.join(refused)}"
