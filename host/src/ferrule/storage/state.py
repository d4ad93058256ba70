"""Where ferrule keeps what one call leaves for the next ones."""

from __future__ import annotations

import os

from ferrule.config.own_folders import state_folder
from ferrule.text.names import is_tool_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable


OWN, CACHE, ARTIFACTS = "tools", "cache", "artifacts"


def folder_of_tool(kind: str, tool: str) -> str:
    """The folder of one tool among those of a kind: OWN, which is its own to use, CACHE or ARTIFACTS.

    Raises ToolUnavailable for what is no name of a tool: it could lead anywhere.
    """
    if not is_tool_name(tool):
        from ferrule.errors import no_tool_name

        raise no_tool_name(tool)
    return os.path.join(_folder_of_tools(kind), tool)


def folders_of_tools(kind: str) -> list[str]:
    """The folders of a kind that tools have, and the one for what belongs to none. Raises OSError."""
    from ferrule.storage.private_files import files_in

    folder = _folder_of_tools(kind)
    return [
        os.path.join(state_folder(), kind),
        *(one.path for one in files_in(folder) if one.is_dir(follow_symlinks=False)),
    ]


def _folder_of_tools(kind: str) -> str:
    return os.path.join(state_folder(), kind, OWN) if kind != OWN else os.path.join(state_folder(), OWN)


def make_shared_folders(names: Iterable[str]) -> list[str]:
    """Folders of the state folder that several tools use, made where they are missing, see `make_folders_of_tool`."""
    return _made(os.path.join(state_folder(), name) for name in names if "/" not in name and not name.startswith("."))


def make_folders_of_tool(tool: str) -> list[str]:
    """What one tool alone may use of the state folder, made where it is missing; those that cannot be are left out.

    Raises ToolUnavailable see `folder_of_tool`.
    """
    return _made(folder_of_tool(kind, tool) for kind in (OWN, CACHE, ARTIFACTS))


def _made(folders: Iterable[str]) -> list[str]:
    from ferrule.storage.private_files import make_folder

    own = state_folder()
    real, made = os.path.realpath(own), []
    for folder in folders:
        try:
            make_folder(folder)
        except OSError:
            continue
        # Below the state folder no link is followed: a tool can have put it there.
        made.append(real + folder.removeprefix(own) if folder.startswith(own + "/") else os.path.realpath(folder))
    return made
