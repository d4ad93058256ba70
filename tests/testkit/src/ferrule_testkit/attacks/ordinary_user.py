"""An ordinary user, as whom root can start Python: where the interpreter is in root's home, with a copy of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from ferrule.config.own_folders import sources_folder

NOBODY = 65534
_LEFT_OUT = ("site-packages", "test", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "config-*")


def run(arguments: Sequence[str], folder: Path, *, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run Python as an ordinary user, with what this process can import. folder: becomes the user's, and its home."""
    python = interpreter(folder)
    os.chown(folder, NOBODY, NOBODY)
    environ = {
        "PATH": f"{python.parent}:/usr/bin:/bin",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(search_path()),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [str(python), *arguments],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env=environ,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=seconds,
        check=False,
    )


def search_path() -> list[str]:
    """Where this process finds what is not Python's own.

    Not in the user's own folder of sources, which the host adds to the path when a test has it find tools here: an
    ordinary user may not look into it.
    """
    return [entry for entry in sys.path if entry and not _is_standard(entry) and entry != sources_folder()]


def interpreter(folder: Path) -> Path:
    """An interpreter that an ordinary user can start: this process's, else a copy of it in the folder."""
    own = Path(os.path.realpath(sys.executable))
    if all(part.stat().st_mode & 0o005 == 0o005 for part in own.parents):
        return own
    copy = folder / "python"
    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(
        library,
        copy / "lib" / library.name,
        copy_function=_link,
        ignore=shutil.ignore_patterns(*_LEFT_OUT),
        symlinks=True,
    )
    for shared in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
        _link(str(shared), str(copy / "lib" / shared.name))
    return _copy_executable(own, copy / "bin" / own.name)


def _copy_executable(own: Path, copy: Path) -> Path:
    """With the path of its shared library, where it has one, as the copy's own."""
    copy.parent.mkdir()
    named = os.fsencode(f"{sys.base_prefix}/lib") + b"\0"
    copy.write_bytes(own.read_bytes().replace(named, b"$ORIGIN/../lib".ljust(len(named), b"\0")))
    copy.chmod(0o755)
    return copy


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
    return target


def _is_standard(entry: str) -> bool:
    return Path(entry).is_relative_to(sys.base_prefix)
