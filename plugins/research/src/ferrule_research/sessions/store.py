"""Sessions as private files, one for each: replaced as a whole, under one lock, and gone four hours after the last use.

A file's time of modification is its last use. What a process has been answered is on the disk: one that is killed loses
nothing of that, and leaves a draft at most, which a later call removes.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ferrule import ToolError
from ferrule.storage import locked, make_folder, read_file, replace_file, state_folder
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule_research.sessions.model import Session

SHAPE = 1
IDLE_SECONDS = 4 * 3600.0
MAX_SESSIONS = 50
MAX_STEPS = 200
_MAX_FILE_BYTES = 32 << 20
_LOCK_SECONDS = 8.0
_ABANDONED_SECONDS = 600.0  # after which what was being written belongs to no process any more
_FOLDER = "sessions"
_LOCK = ".lock"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_SUFFIX = ".json"


def read_session(session: str) -> Session:
    """A session, which is used by that. Raises ToolError, SESSION_NOT_FOUND if there is none, or it has expired."""
    with _usable(), locked(_lock_path(), _LOCK_SECONDS):
        found = _load(session)
        os.utime(_path_of(session))
    return found


def create_session(session: Session) -> str:
    """Keep a new session, and return its id. The one that was used longest ago goes where there are fifty."""
    session["sessionId"] = str(uuid.uuid4())
    with _usable(), locked(_lock_path(), _LOCK_SECONDS):
        _make_room()
        _write(session)
    return session["sessionId"]


def change_session(session: str, change: Callable[[Session], bool]) -> Session:
    """Change a session while no other process does, and return it.

    change: says whether it has changed anything, since nothing is written otherwise. Raises ToolError, also what
    `change` raises, and changes nothing then.
    """
    with _usable(), locked(_lock_path(), _LOCK_SECONDS):
        found = _load(session)
        if change(found):
            _write(found)
        else:
            os.utime(_path_of(session))
    return found


def not_found(last_step: int = 0) -> ToolError:
    """The error of a session that is not there. last_step: the number of the last one that its caller knows."""
    message = "There is no such research session, or it was not used for four hours."
    recovery = {"lastKnownStep": last_step, "canResume": False}
    details = {"kind": "session_not_found", "retryable": False, "suggestedAction": "start_new_session"}
    hint = "Start a new one: call sequential_search with stepNumber 1 and without sessionId."
    return ToolError("SESSION_NOT_FOUND", message, hint=hint, details={**details, "recoveryHint": recovery})


def format_instant(seconds: float | None = None) -> str:
    """An instant of the clock in ISO 8601; the present without one."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _load(session: str) -> Session:
    """The session of an id. Raises ToolError SESSION_NOT_FOUND."""
    if not _ID.fullmatch(session):
        raise not_found()
    path = _path_of(session)
    try:
        used = Path(path).lstat().st_mtime
        data = read_file(path, _MAX_FILE_BYTES)
    except FileNotFoundError:
        raise not_found() from None
    if data is None or _is_expired(used):
        raise not_found()
    try:
        found = strict_json.loads(data)
    except strict_json.MalformedJSON:
        raise not_found() from None
    if not isinstance(found, dict) or found.get("shape") != SHAPE or found.get("sessionId") != session:
        raise not_found()
    return cast("Session", found)


def _write(session: Session) -> None:
    replace_file(_path_of(session["sessionId"]), strict_json.dumps(session), is_synced=True)


def _make_room() -> None:
    """Remove what has expired and what was never finished, and the sessions that were used longest ago."""
    kept = []
    for path in list(Path(_folder()).iterdir()):
        if path.name == _LOCK:
            continue
        used = path.lstat().st_mtime
        is_draft = path.name.startswith(".")
        if _is_expired(used) or (is_draft and used < time.time() - _ABANDONED_SECONDS):
            path.unlink()
        elif not is_draft:
            kept.append((used, path))
    for _, path in sorted(kept)[: max(0, len(kept) - MAX_SESSIONS + 1)]:
        path.unlink()


def _is_expired(used: float) -> bool:
    return time.time() - used >= IDLE_SECONDS


@contextmanager
def _usable() -> Iterator[None]:
    """Raise what the system says of the folder as an error that says what to do."""
    details = {"kind": "config", "retryable": False, "suggestedAction": "inform_user"}
    try:
        make_folder(_folder())
        yield
    except TimeoutError:
        details = {"kind": "upstream_unavailable", "retryable": True, "suggestedAction": "retry_after_delay"}
        message = "Another process has held the research sessions for too long."
        raise ToolError("SESSIONS_BUSY", message, hint="Call again in a few seconds.", details=details) from None
    except OSError as error:
        message = f"The folder of research sessions cannot be used: {error.strerror or type(error).__name__}."
        hint = "Make the state folder writable, or name another one in FERRULE_STATE."
        raise ToolError("SESSIONS_UNUSABLE", message, hint=hint, details=details) from None


def _lock_path() -> str:
    return f"{_folder()}/{_LOCK}"


def _path_of(session: str) -> str:
    return f"{_folder()}/{session}{_SUFFIX}"


def _folder() -> str:
    return f"{state_folder()}/{_FOLDER}"
