"""The admin's command, `ferrule`. One file a command; each is imported when it is used.

Exit codes: 0 where all is well, 1 where something is wrong (each command's help says what counts), 2 for a command
line that cannot be understood, 130 where the user interrupted it, 141 where nobody reads its output any more.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command that the process's arguments name, and leave with its exit code."""
    # As on the path of a call: the collector would run in the midst of imports, and the interpreter's end costs
    # a seventh of its start.
    gc.disable()
    from ferrule.cli.program import run

    os._exit(run(sys.argv[1:]))
