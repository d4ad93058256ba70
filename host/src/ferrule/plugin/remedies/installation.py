"""The line for a shell that brings a distribution into the environment which ferrule lives in."""

from __future__ import annotations

import os
from shlex import join
from shutil import which

from ferrule.supervision.python_process import interpreter


def install_command(requirement: str, *options: str) -> str:
    """A line of `ferrule install`, which works whatever made the environment: pip, uv, pipx or `uv tool`.

    requirement: such as `ferrule-fetch[pdf]`. options: of that command. Where the `ferrule` on PATH is that of another
    environment, or there is none, this one's interpreter is named.
    """
    python = interpreter()
    found = which("ferrule")
    is_own = found is not None and os.path.realpath(found) == os.path.realpath(_script(python))
    return join([*(["ferrule"] if is_own else [python, "-m", "ferrule"]), "install", *options, requirement])


def _script(python: str) -> str:
    return os.path.join(os.path.dirname(python), "ferrule")
