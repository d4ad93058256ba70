"""The folders that ferrule itself has: one for state, and one for what the admin has added to the installation."""

from __future__ import annotations

import os
import sys

from ferrule.config import configuration

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Literal

OUTER_STATE, OUTER_DATA = "FERRULE_OUTER_STATE", "FERRULE_OUTER_DATA"
"""Variables of a process that tries a tool with folders of its own: those of the user, protected as its own are."""
_SOURCES, _ENVIRONMENTS, _HOMES = "sources", "environments", "homes"


def state_folder() -> str:
    """Where state is kept: FERRULE_STATE, else platformdirs' state folder of `ferrule`."""
    return os.environ.get("FERRULE_STATE") or _user_folder("state")


def data_folder() -> str:
    """Where tools of sources are, and what they run: FERRULE_DATA, else platformdirs' data folder of `ferrule`."""
    return os.environ.get("FERRULE_DATA") or _user_folder("data")


def outer_state_folder() -> str:
    """The state folder of the user, in a process that tries a tool with another one; empty in any other process."""
    return os.environ.get(OUTER_STATE, "")


def outer_data_folders() -> list[str]:
    """What no tool writes in the data folder of the user, in a process that tries a tool with another one."""
    outer = os.environ.get(OUTER_DATA)
    return [os.path.join(outer, name) for name in (_SOURCES, _ENVIRONMENTS)] if outer else []


def sources_folder(data: str = "") -> str:
    """Where the tools of all sources are, as installed distributions are in a folder of `sys.path`.

    data: another data folder than that of this process.
    """
    return os.path.join(data or data_folder(), _SOURCES)


def is_of_source(path: str) -> bool:
    """Whether a path, such as that of a distribution's metadata, is in the folder of sources."""
    return path.startswith(f"{sources_folder()}/")


def environments_folder(source: str = "") -> str:
    """Where one source keeps what its tools run, which no tool may write; for all sources without a name."""
    return os.path.join(data_folder(), _ENVIRONMENTS, *filter(None, [source]))


def homes_folder(source: str) -> str:
    """Where what the tools of one source run has its home: a folder for each, which those tools may write."""
    return os.path.join(data_folder(), _HOMES, source)


def add_sources_to_path() -> None:
    """Have the modules of sources be found, after all others. What is on the path already stays where it is."""
    folder = sources_folder()
    if folder not in sys.path and os.path.isabs(folder):
        sys.path.append(folder)


def _user_folder(kind: Literal["state", "data"]) -> str:
    if sys.platform == "linux":
        # platformdirs gives the same folder (a test says so), and costs twice the interpreter's start.
        base = os.environ.get(f"XDG_{kind.upper()}_HOME", "")
        own = ".local/state" if kind == "state" else ".local/share"
        base = base if os.path.isabs(base) else os.path.join(configuration.home(os.environ), own)
        return os.path.join(base, "ferrule")
    import platformdirs

    find = platformdirs.user_state_dir if kind == "state" else platformdirs.user_data_dir
    return find("ferrule", appauthor=False)
