"""What installed distributions require and this environment does not have, by their metadata.

Installers see to that when they install, and not when something is removed or changed later. A tool that imports what
it needs in the midst of a call says nothing of it until then.
"""

from __future__ import annotations

from collections.abc import Iterator

from ferrule import discovery
from ferrule.admin.doctor.diagnosis_entry import ERROR, WARNING, Diagnosis
from ferrule.plugin.remedies.installation import install_command
from ferrule.plugin.requirements import Unmet, unmet

_GROUPS = (discovery.WRAPPERS, discovery.COMMANDS, discovery.DIAGNOSES, discovery.CREDENTIALS)


def examine() -> Iterator[Diagnosis]:
    """Each requirement that is not met, once, with the distributions that have it, or require one that has it."""
    found: dict[Unmet, list[str]] = {}
    for name in _distributions():
        for one in unmet(name):
            found.setdefault(one, []).append(name)
    for one, names in found.items():
        told = ", ".join(dict.fromkeys((one.by, *names)))
        line = install_command(names[0], "--upgrade")
        if one.version is None:
            message = f"It is not installed, and {told} cannot work without."
            yield Diagnosis("requirement-missing", ERROR, one.requirement, message, line)
        else:
            message = f"{one.version} is installed, and {told} may not work with it."
            yield Diagnosis("requirement-differs", WARNING, one.requirement, message, line)


def _distributions() -> list[str]:
    """The host, and each distribution that adds something to it."""
    names = {tool.distribution for claims in discovery.scan().values() for tool in claims}
    for group in _GROUPS:
        names |= {source.partition(" ")[0] for _, _, source in discovery.entry_points(group)}
    return sorted(names | {"ferrule"})
