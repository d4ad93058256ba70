"""A folder that looks as a hierarchy of control groups does: what is written there is kept, and nothing is held.

The kernel makes the files of a group with its folder, and removes them with it; here that is done by hand.
"""

import os
import shutil
from pathlib import Path

from ferrule.supervision.memory import group

OWN = "/box/host"  # the group of a process that is installed here
FILES = ("cgroup.procs", "cgroup.subtree_control", "memory.max", "memory.swap.max", "memory.oom.group", "memory.events")


class Hierarchy:
    """The hierarchy. box: the group below which calls can have theirs."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.box = self.add("/box", controllers="cpu memory")
        self.add(OWN)

    def add(self, path: str, controllers: str = "", members: str = "") -> Path:
        """Make a group. controllers: that it gives to those below it."""
        folder = self.root / path.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        for name in (*FILES, "cgroup.controllers", "cgroup.type"):
            (folder / name).write_text("")
        (folder / "cgroup.subtree_control").write_text(controllers)
        (folder / "cgroup.controllers").write_text("cpu memory")
        (folder / "cgroup.procs").write_text(members)
        return folder

    def calls(self) -> list[Path]:
        """The groups of calls."""
        return sorted(self.box.glob("ferrule-call-*"))


def install(root: str, own: str = OWN) -> None:
    """Have this process take the folder for the hierarchy. own: the group in which it is; others are in none."""
    group._ROOT = root
    group._group_of = lambda process: own if process == "self" else None
    group._is_removed = _is_removed
    make = os.mkdir

    def make_with_files(path: str, *arguments: int) -> None:
        make(path, *arguments)
        if str(path).startswith(root):
            for name in FILES:
                Path(path, name).touch()

    os.mkdir = make_with_files  # type: ignore[assignment] # it stands in for the real one while this runs


def _is_removed(path: str) -> bool:
    """As of the module, with the files. A group with a process is written `busy`."""
    if Path(path, "cgroup.procs").exists() and Path(path, "cgroup.procs").read_text() == "busy":
        return False
    shutil.rmtree(path, ignore_errors=True)
    return True
