"""The folder for temporary files of one call, which goes with it."""

from __future__ import annotations

import os

_PREFIX = "ferrule-"


def make() -> str:
    """Make a folder for the user alone, below TMPDIR or /tmp; empty where none can be made."""
    for base in (os.environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):  # noqa: S108 - its name is random, and its mode 0700
        path = os.path.join(base, _PREFIX + os.urandom(8).hex())
        try:
            if os.path.isabs(base):
                os.mkdir(path, 0o700)
                return os.path.realpath(path)
        except OSError:
            continue
    return ""


def remove(path: str) -> None:
    """Remove it with all that is in it. What cannot be removed stays."""
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return
    except OSError:
        import shutil

        _make_accessible(path)
        shutil.rmtree(path, ignore_errors=True)


def _make_accessible(path: str) -> None:
    """Undo modes by which a call has kept its own folders from being emptied."""
    for folder, names, _ in os.walk(path):
        for name in names:
            inner = os.path.join(folder, name)
            try:
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)
            except OSError:
                continue
