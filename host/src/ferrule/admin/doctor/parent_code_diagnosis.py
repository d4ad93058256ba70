"""What `ferrule doctor` says of code that runs in ferrule's own process: what distributions bring, what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.admin import code_lock
from ferrule.admin.doctor.diagnosis_entry import ERROR, WARNING, Diagnosis
from ferrule.admin.packages import distribution_files, parent_code
from ferrule.admin.tool_lock import DIFFERS, NEW
from ferrule.errors import LockUnusable
from ferrule.trust.lock import lock_file
from ferrule.trust.lock.installed_files import InstalledFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.config.configuration import Configuration

_HOST = "ferrule"


def examine(settings: Configuration) -> Iterator[Diagnosis]:
    """What runs there, or is read there, and is not known as harmless: an error where ferrule.lock has it not."""
    unlocked = _not_as_locked(settings)
    for one in parent_code.of_installed(distribution_files.installed()):
        if one.file in unlocked and not one.known:
            message = f"{one.message} ferrule.lock does not have it so."
            yield Diagnosis(
                one.id, ERROR, one.subject, message, f"{one.fix} Else run: ferrule lock --accept {one.file}"
            )
        elif not one.known:
            yield Diagnosis(one.id, WARNING, one.subject, one.message, one.fix)
    own = (claim for claims in discovery.scan().values() for claim in claims if claim.distribution == _HOST)
    for tool in own:
        for problem in InstalledFiles(tool).problems():
            message = f"Of ferrule's own files, {problem}."
            yield Diagnosis(
                "host-changed", WARNING, _HOST, message, "Install ferrule anew where you did not change it."
            )
        return


def _not_as_locked(settings: Configuration) -> set[str]:
    """The files that are new or have changed since tools were locked; none where they are not."""
    if not settings.is_locked:
        return set()
    try:
        known = lock_file.read_code(settings.lock_path)
    except LockUnusable:
        return set()  # which is told for itself
    return {one.name for one in code_lock.statuses(known, code_lock.observe()) if one.state in (NEW, DIFFERS)}
