"""What `python -I` lacks of the path that this process has: the user's site, and folders named by PYTHONPATH."""

import os
import subprocess
import sys


def interpreter() -> str:
    """The absolute path of the running interpreter, inside its virtual environment where it has one."""
    return os.path.abspath(sys.executable)


def extra_paths() -> list[str]:
    """The folders on `sys.path` that an isolated interpreter would not have, in their order.

    The folder of the running script and the working directory are not among them: no tool may depend on those.
    """
    known = {os.path.realpath(path) for path in _isolated_path()}
    script = os.path.realpath(os.path.dirname(sys.argv[0]) or ".")
    extra = [path for path in sys.path if path and os.path.isdir(path) and os.path.realpath(path) != script]
    return [os.path.abspath(path) for path in dict.fromkeys(extra) if os.path.realpath(path) not in known]


def _isolated_path() -> list[str]:
    command = [interpreter(), "-I", "-c", "import sys; print('\\n'.join(sys.path))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
