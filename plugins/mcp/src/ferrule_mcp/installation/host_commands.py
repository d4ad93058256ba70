"""Commands of ferrule itself that are run for a server: each in a process of its own, as an admin would run it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from ferrule.errors import FerruleError
from ferrule.installed import python_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run_ferrule(*arguments: str, data: bytes = b"", variables: Mapping[str, str] | None = None) -> str:
    """Run a command of ferrule; what it printed.

    data: its stdin. variables: besides those of this process. Raises FerruleError with its words where it fails.
    """
    command = python_command("ferrule.cli:main", *arguments)
    environ = {**os.environ, **(variables or {})}
    done = subprocess.run(command, input=data, capture_output=True, env=environ, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise FerruleError(f"`ferrule {' '.join(arguments[:2])}` failed: {said or done.returncode}")
    return done.stdout.decode(errors="replace")


def set_credentials(tool: str, secrets: Mapping[str, str]) -> None:
    """Write the values of credentials, by their names, into the credentials file. tool: any of the server's."""
    for name, value in secrets.items():
        run_ferrule("credentials", "set", tool, name, data=value.encode() + b"\n")


def accept_permissions(tools: Sequence[str], folder: str = "") -> None:
    """Accept what these tools ask for now. folder: the data folder that has them, by default the user's."""
    run_ferrule("permissions", "accept", *tools, variables={"FERRULE_DATA": folder} if folder else None)
