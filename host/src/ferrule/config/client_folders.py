"""The folders in which the client looks for executables."""

from __future__ import annotations

import os

SYSTEM_FOLDERS = ("/usr/libexec/ikigai", "/usr/local/libexec/ikigai")
"""Of a client that is installed with one of the usual prefixes."""

_USER = os.path.join("~", ".ikigai", "tools")
_PROJECT = os.path.join(".ikigai", "tools")


def user_folder() -> str:
    """The folder of the user's own tools, `~/.ikigai/tools`, which is where `ferrule link` writes."""
    return os.path.expanduser(_USER)


def client_folders() -> list[str]:
    """The folders as absolute paths, in the order in which the client reads them: later ones override earlier ones.

    Folders that do not exist are among them, those of the system excepted.
    """
    system = [folder for folder in SYSTEM_FOLDERS if os.path.isdir(folder)]
    own = dict.fromkeys(map(os.path.abspath, (user_folder(), _PROJECT)))
    return [*system, *own]
