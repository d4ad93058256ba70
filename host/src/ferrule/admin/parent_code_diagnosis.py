"""What `ferrule doctor` says of code that runs in ferrule's own process: what distributions bring, what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.admin import distribution_files, parent_code
from ferrule.admin.diagnosis_entry import WARNING, Diagnosis
from ferrule.lockfile.installed_files import InstalledFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST = "ferrule"


def examine() -> Iterator[Diagnosis]:
    """What runs there, or is read there, and is not known as harmless."""
    for one in parent_code.of_installed(distribution_files.installed()):
        if not one.known:
            yield Diagnosis(one.id, WARNING, one.subject, one.message, one.mend)
    own = (claim for claims in discovery.scan().values() for claim in claims if claim.distribution == _HOST)
    for tool in own:
        for problem in InstalledFiles(tool).problems():
            message = f"Of ferrule's own files, {problem}."
            yield Diagnosis(
                "host-changed", WARNING, _HOST, message, "Install ferrule anew where you did not change it."
            )
        return
