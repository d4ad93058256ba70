"""The folder of an environment: made next to its place, put there as a whole, by one process at a time."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ferrule.storage import locked
from ferrule_mcp.environment.record import InstallFailed

_WAIT_SECONDS = 2.0
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def stage(folder: Path) -> Iterator[Path]:
    """An empty folder to build in; it takes the place of `folder` where the block ends well, else it goes away.

    What an earlier process has left half-built is removed. Raises InstallFailed where another process builds the same,
    or the disk does not take it.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder):
            _sweep(folder)
            building = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))
            try:
                yield building
                replace_folder(building, folder)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    except OSError as error:
        raise _describe(error, folder) from None


def replace_folder(building: Path, folder: Path) -> None:
    """Put a folder where another one may be; the other one comes back where that fails. Raises OSError."""
    if not folder.exists():
        building.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old-", dir=folder.parent))
    folder.rename(old / "old")
    try:
        building.rename(folder)
    except BaseException:
        (old / "old").rename(folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def put_in_place(building: Path, folder: Path) -> None:
    """Put an environment where another one is, under the lock of that place. Raises InstallFailed."""
    try:
        with _lock(folder):
            _sweep(folder)
            replace_folder(building, folder)
    except OSError as error:
        raise _describe(error, folder) from None
    _lock_path(building).unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove an environment, if it is there. Raises InstallFailed where that fails or another process builds it."""
    if not folder.exists():
        return
    try:
        with _lock(folder):
            _sweep(folder)
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old-", dir=folder.parent))
            folder.rename(old / "old")
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise _describe(error, folder) from None
    lock = _lock_path(folder)
    lock.unlink(missing_ok=True)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    try:
        with locked(str(_lock_path(folder)), _WAIT_SECONDS):
            yield
    except TimeoutError:
        raise InstallFailed(
            f"Another process is installing {folder.name}.", hint="Wait until it has ended, and try again."
        ) from None


def _lock_path(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed has left. Its old environment goes back where the new one is missing."""
    for left in folder.parent.glob(f".{folder.name}.old-*"):
        if not folder.exists() and (left / "old").is_dir():
            (left / "old").rename(folder)
        shutil.rmtree(left, ignore_errors=True)
    for left in folder.parent.glob(f".{folder.name}.new-*"):
        shutil.rmtree(left, ignore_errors=True)


def _describe(error: OSError, folder: Path) -> InstallFailed:
    reason = error.strerror or str(error)
    hint = "Make room on the disk, and try again." if error.errno in _FULL else f"See who may write {folder.parent}."
    place = os.fspath(error.filename) if error.filename else str(folder)
    return InstallFailed(f"The environment cannot be written: {place}: {reason}.", hint=hint)
