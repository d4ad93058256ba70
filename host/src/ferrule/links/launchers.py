"""The program that starts links faster than a shell, where a distribution has brought one.

A distribution names its program by an entry point of the group `ferrule.launchers`, whose name is that of the program
among the scripts. It starts every link with all rights of the user, so it is nothing that a tool may bring:
`ferrule.admin.packages.parent_code` tells of it.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Iterator
from functools import cache

from ferrule import discovery
from ferrule.supervision.python_process import interpreter

FORM = 1
"""The form of the sections that links have for a launcher, which it prints when it is started with `--form`."""

_FIRST_LINE_BYTES = 127  # of which every system reads the interpreter of a file
_SECONDS = 5.0


@cache
def find_launcher() -> str:
    """The path of the program; empty without one that this system can start by the first line of a file."""
    for name, _, _ in discovery.entry_points(discovery.LAUNCHERS):
        for path in _places(name):
            if _fits_first_line(path) and os.access(path, os.X_OK) and _understands_form(path):
                return path
    return ""


def _places(name: str) -> Iterator[str]:
    """Where an installer may have put a script."""
    if os.path.basename(name) == name:
        yield os.path.join(os.path.dirname(interpreter()), name)
        for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
            yield os.path.join(sysconfig.get_path("scripts", scheme), name)


def _fits_first_line(path: str) -> bool:
    return os.path.isabs(path) and not path.split()[1:] and len(os.fsencode(f"#!{path}")) <= _FIRST_LINE_BYTES


def _understands_form(path: str) -> bool:
    """Whether it runs here, and reads links as this version writes them."""
    try:
        done = subprocess.run([path, "--form"], capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split()[-1:] == [b"%d" % FORM]
