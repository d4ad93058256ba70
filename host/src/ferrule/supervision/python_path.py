"""What `python -I` lacks of the path that this process has: the user's site, and folders named by PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache


def interpreter() -> str:
    """The absolute path of the running interpreter, inside its virtual environment where it has one."""
    return os.path.abspath(sys.executable)


def extra_paths() -> list[str]:
    """The folders on `sys.path` that an isolated interpreter would not have, in their order.

    The folder of the running script and the working directory are not among them: no tool may depend on those.
    """
    known = {os.path.realpath(path) for path in (*_isolated_path(), *_implicit_path())}
    extra = [path for path in sys.path if path and os.path.isdir(path)]
    return [os.path.abspath(path) for path in dict.fromkeys(extra) if os.path.realpath(path) not in known]


def code_for(template: str) -> str:
    """The code of an isolated interpreter that has this one's paths, and hears of the end of this process.

    template: with `{place}`, `{paths}` and `{parent}`, for `sys.path` and `processes.stop_with_parent`.
    """
    return template.format(place=place_of_paths(), paths=extra_paths(), parent=os.getpid())


def place_of_paths() -> int:
    """Where they belong on an isolated interpreter's path: after the standard library, before what is installed.

    What precedes an installed distribution here has to precede it there, too, or another copy of a tool would run.
    """
    installed = ("site-packages", "dist-packages")
    known = _isolated_path()
    return next((place for place, path in enumerate(known) if path.endswith(installed)), len(known))


def _implicit_path() -> list[str]:
    """What Python puts first by itself: the script's folder, or the working directory for `-c` and `-m`."""
    script = os.path.dirname(sys.argv[0]) or "."
    return [script] if sys.flags.safe_path else [script, *sys.path[:1]]


@cache
def _isolated_path() -> list[str]:
    command = [interpreter(), "-I", "-c", "import sys; print('\\n'.join(sys.path))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
