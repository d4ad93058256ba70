"""The survey of what is served. It imports little, so that the survey has begun before the protocol is imported."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.admin.snapshot import ALL, InventorySnapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

READER = "artifact_read"


def begin(names: Sequence[str], *, with_artifacts: bool) -> InventorySnapshot:
    """A survey of these tools, none of them meaning all; with_artifacts: of the reader of artifacts, too.

    Raises ToolFailed where no process can be started.
    """
    wanted = dict.fromkeys([*names, READER] if with_artifacts else names)
    return InventorySnapshot(list(wanted) if names else [ALL], own_environment())


def own_environment() -> dict[str, str]:
    """This process's environment, without the token that clients of the server show: tools must not see it."""
    return {name: value for name, value in os.environ.items() if name != "FERRULE_SERVE_TOKEN"}
