"""An interpreter of its own, with the path that this process has.

What `python -I` lacks of that path are the user's site, and the folders that PYTHONPATH names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

from ferrule.config.own_folders import sources_folder

_CODE = """\
import sys
sys.path[{place}:{place}] = {paths}
from ferrule.config.own_folders import add_sources_to_path
add_sources_to_path()
from ferrule.supervision.processes import stop_with_parent
stop_with_parent({parent})
from {module} import {function}
{function}()
"""


def interpreter() -> str:
    """The absolute path of the running interpreter, inside its virtual environment where it has one."""
    return os.path.abspath(sys.executable)


def extra_paths() -> list[str]:
    """The folders on `sys.path` that an isolated interpreter would not have, in their order.

    The folder of the running script and the working directory are not among them: no tool may depend on those. That of
    sources is not, either: each process of ferrule puts it last by itself.
    """
    known = {os.path.realpath(path) for path in (*_isolated_path(), *_implicit_path(), sources_folder())}
    extra = [path for path in sys.path if path and os.path.isdir(path)]
    return [os.path.abspath(path) for path in dict.fromkeys(extra) if os.path.realpath(path) not in known]


def installation_folders() -> list[str]:
    """The folders in which such an interpreter finds distributions, in its order: not those of the standard library.

    That of sources is the last one, whether there is any yet or not.
    """
    known, place = _isolated_path(), place_of_paths()
    standard = os.path.dirname(os.__file__)
    found = [*known[:place], *extra_paths(), *known[place:]]
    there = [path for path in found if os.path.isdir(path) and path not in (standard, f"{standard}/lib-dynload")]
    return [*there, sources_folder()]


def python_command(entry: str, *arguments: str, isolated: bool = True) -> list[str]:
    """The command of an interpreter with this one's `sys.path` that calls a function, and is asked to end with us.

    entry: `module:function`; it is called without arguments. arguments: its `sys.argv[1:]`. isolated: what PYTHON
    variables say does not hold there; else they hold as they do here. Start it in a session of its own, so that Ctrl-C
    is for the caller, who ends it by SIGTERM. The thread that starts it must not end before it.
    """
    module, _, function = entry.partition(":")
    ignores_variables = isolated or bool(sys.flags.isolated)
    code = _CODE.format(
        place=place_of_paths() if ignores_variables else 0,
        paths=extra_paths() if ignores_variables else [],
        parent=os.getpid(),
        module=module,
        function=function,
    )
    return [interpreter(), "-I" if ignores_variables else "-P", "-c", code, *arguments]


def place_of_paths() -> int:
    """Where they belong on an isolated interpreter's path: after the standard library, before what is installed.

    What precedes an installed distribution here has to precede it there, too, or another copy of a tool would run.
    """
    installed = ("site-packages", "dist-packages")
    known = _isolated_path()
    return next((place for place, path in enumerate(known) if path.endswith(installed)), len(known))


def _implicit_path() -> list[str]:
    """What Python puts first by itself: the script's folder, or the working directory for `-c` and `-m`.

    `python -m ferrule` has taken that out, so that a folder of PYTHONPATH may be first.
    """
    script = os.path.dirname(sys.argv[0]) or "."
    own = {os.path.realpath(script), os.path.realpath(os.curdir)}
    first = [] if sys.flags.safe_path else [path for path in sys.path[:1] if os.path.realpath(path) in own]
    return [script, *first]


@cache
def _isolated_path() -> list[str]:
    command = [interpreter(), "-I", "-c", "import sys; print('\\n'.join(sys.path))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
