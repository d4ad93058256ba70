"""Whether an environment is still what was installed. No network is asked, and nothing of it is run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule_mcp.environment.files import digest_file, find_changes

if TYPE_CHECKING:
    from ferrule_mcp.environment.record import Environment

_SECONDS = 30.0
_MAX_NAMED = 10


def verify(environment: Environment, seconds: float = _SECONDS) -> list[str]:
    """What differs from the record, one sentence each; nothing where all is as it was.

    seconds: how long the files are looked at, at most. What was not looked at then is a sentence, too.
    """
    found = [*_check_command(environment), *_check_watched(environment)]
    if environment.folder:
        found += _check_folder(environment, time.monotonic() + seconds)
    return found


def _check_command(environment: Environment) -> Iterator[str]:
    program = environment.command[0] if environment.command else ""
    if not os.access(program, os.X_OK):
        yield f"{program or 'The program'} that starts the server is gone, or cannot be executed."


def _check_watched(environment: Environment) -> Iterator[str]:
    for path, digest in environment.watched.items():
        try:
            if digest_file(Path(path)) != digest:
                yield f"{path} was changed."
        except OSError as error:
            yield f"{path} cannot be read: {error.strerror}."


def _check_folder(environment: Environment, ends: float) -> list[str]:
    folder = Path(environment.folder)
    if not folder.is_dir():
        return [f"The environment {folder} is gone."]
    changes = list(find_changes(folder, environment.files, ends))
    named = [f"{path} {what}." if path else f"In {folder}, {what}." for path, what in changes[:_MAX_NAMED]]
    more = len(changes) - len(named)
    return [*named, f"And {more} more files differ."] if more else named
