"""Where ferrule keeps what one call leaves for the next ones."""

from __future__ import annotations

import os
import sys

from ferrule.config import configuration


def state_folder() -> str:
    """Where state is kept: FERRULE_STATE, else platformdirs' state folder of `ferrule`."""
    named = os.environ.get("FERRULE_STATE")
    if named:
        return named
    if sys.platform == "linux":
        # platformdirs gives the same folder (a test says so), and costs twice the interpreter's start.
        home = os.path.join(configuration.home(os.environ), ".local/state")
        base = os.environ.get("XDG_STATE_HOME", "").strip() or home
        return os.path.join(base, "ferrule")
    import platformdirs

    return platformdirs.user_state_dir("ferrule", appauthor=False)
