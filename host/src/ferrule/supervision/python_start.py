"""How a linked executable starts Python: without what packages have it run at its start.

A `.pth` and `sitecustomize` are code that any package can bring, and Python runs them before anything else. The process
of a linked executable has all rights of the user, so it does without (`-S`), has the standard library find the folders
of packages, and takes folders alone from a `.pth`. Its lines of code are kept for the child, which runs them when it is
confined, since what a tool imports may need them. It costs no more: `site` is imported in either case.
"""

from __future__ import annotations

import sys

OPTIONS = "-I -S"
CODE = """\
import os, site, sys
host_start_lines = []
def read_path_file(folder, name, known):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            lines = file.read().removeprefix(b"\\xef\\xbb\\xbf").decode().splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        if line.startswith(("import ", "import\\t")):
            if (folder, line) not in host_start_lines:
                host_start_lines.append((folder, line))
        elif line.strip() and line[0] != "#":
            path = os.path.abspath(os.path.join(folder, line.rstrip()))
            if path not in known and os.path.exists(path):
                sys.path.append(path)
                known.add(path)
site.addpackage = read_path_file
site.execsitecustomize = lambda: host_start_lines.append(("", "import sitecustomize"))
site.main()
"""
"""For the module `__main__`, before anything else is imported."""

_LINES = "host_start_lines"


def run_kept_lines() -> None:
    """Run what Python has not run at its start, once, in a process that is confined. What fails is passed over."""
    kept: list[tuple[str, str]] = getattr(sys.modules.get("__main__"), _LINES, [])
    waiting, kept[:] = list(kept), []
    for folder, line in waiting:
        try:
            _run(folder, line)
        except (Exception, SystemExit):  # noqa: BLE001, S112 - as Python itself does, which only prints it
            continue


def _run(sitedir: str, line: str) -> None:
    # Some lines look for the variable `sitedir` in the frame above theirs, as Python's own reader has it.
    exec(line, {"__name__": "site", "sitedir": sitedir})  # noqa: S102 - this is what a .pth is
