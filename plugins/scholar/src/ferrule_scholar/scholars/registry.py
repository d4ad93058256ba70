"""The services of papers that are installed."""

from __future__ import annotations

from collections.abc import Iterable

from ferrule.errors import ToolError
from ferrule.installed import entry_points, resolve
from ferrule_scholar.asking.scholar import GROUP, Scholar

_OWN = "ferrule_scholar."


def find_scholars(ability: str) -> dict[str, Scholar]:
    """The installed services with an ability, by name in alphabetical order; those of this distribution come first.

    Where two distributions claim a name, the first on the path has it. Raises ToolError CONFIG_ERROR for one that
    cannot be loaded.
    """
    points = sorted(entry_points(GROUP), key=lambda point: (not point[1].startswith(_OWN), point[0]))
    found: dict[str, Scholar] = {}
    for name, place, _ in points:
        if name.lower() not in found:
            found[name.lower()] = _load(name.lower(), place)
    return {name: one for name, one in found.items() if ability in one.abilities}


def choose(scholars: dict[str, Scholar], name: str) -> dict[str, Scholar]:
    """All, or the one that a call names. Raises ToolError INVALID_INPUT for one that there is not."""
    if not name:
        return scholars
    if name not in scholars:
        raise unknown_scholar(name, scholars)
    return {name: scholars[name]}


def unknown_scholar(name: str, known: Iterable[str]) -> ToolError:
    """The error for a service that is not installed or cannot do what is wanted, with those that can."""
    names = list(known)
    details = {"kind": "validation", "retryable": False, "suggestedAction": "try_different_provider"}
    message = f"No provider {name[:60]!r} can do this. Providers that can: {', '.join(names) or 'none'}."
    return ToolError("INVALID_INPUT", message, details={**details, "alternatives": names})


def _load(name: str, place: str) -> Scholar:
    try:
        made: Scholar = resolve(place)()
    except Exception as error:  # noqa: BLE001 - a third party's module
        message = f"The provider {name} ({place}) cannot be loaded: {type(error).__name__}."
        details = {"kind": "config", "retryable": False, "suggestedAction": "inform_user"}
        raise ToolError("CONFIG_ERROR", message, hint="Install its distribution anew.", details=details) from None
    return made
