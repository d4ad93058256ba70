"""The program: how it is started, and what its failures become.

What a model has written goes to stdin, or behind `--` in the arguments, so that it is never taken for an option.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from ferrule import ToolError

PROGRAM = "sort"
MAX_SHOWN = 500  # letters of what it says about a failure


def run(options: Sequence[str], text: str, seconds: float) -> str:
    """What the program prints for a text on stdin.

    seconds: that it may take. Raises ToolError PROGRAM_MISSING, TIMEOUT or PROGRAM_FAILED.
    """
    try:
        done = subprocess.run(
            [PROGRAM, *options],
            input=text.encode(errors="replace"),
            capture_output=True,
            timeout=max(seconds, 0.1),
            env={**os.environ, "LC_ALL": "C"},  # sorted the same way everywhere
        )
    except FileNotFoundError:
        raise ToolError("PROGRAM_MISSING", f"{PROGRAM} is not installed.", hint="See `ferrule doctor`.") from None
    except subprocess.TimeoutExpired:
        raise ToolError("TIMEOUT", f"{PROGRAM} did not end in time.", hint="Send less.") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[:MAX_SHOWN]
        raise ToolError("PROGRAM_FAILED", f"{PROGRAM} ended with {done.returncode}: {said}")
    return done.stdout.decode(errors="replace")
