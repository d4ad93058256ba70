"""The snapshot of what is served. It imports little, so that it is under way before the protocol is imported."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ferrule.installed import ALL, InventorySnapshot

READER = "artifact_read"


def start_snapshot(names: Sequence[str], *, with_artifacts: bool) -> InventorySnapshot:
    """Start a snapshot of these tools, none of them meaning all; with_artifacts: of the reader of artifacts, too.

    Raises ToolFailed where no process can be started.
    """
    wanted = dict.fromkeys([*names, READER] if with_artifacts else names)
    return InventorySnapshot(list(wanted) if names else [ALL], tool_environment())


def tool_environment() -> dict[str, str]:
    """This process's environment, without the token that clients of the server show: tools must not see it."""
    return {name: value for name, value in os.environ.items() if name != "FERRULE_SERVE_TOKEN"}
