"""Who has a call made that is not the server itself: what of its process counts for the call, as it is now."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrule.schema.providers.translation import Translation

OF_EACH_CALL = ("FERRULE_CALLER", "FERRULE_DEADLINE", "FERRULE_EXIT_ZERO", "IKIGAI_AGENT_ID")
"""Variables that differ between calls of one user and that no import reads: a process that has loaded a tool without
them is as good for each call."""


class Caller(NamedTuple):
    """A process that has a call made.

    environ: all of its variables. folder: its working folder. umask: its file mode mask. names: other names of tools,
    by their own. translation: of arguments that fit the schema in a provider's words. is_terminal: whether its stderr
    is one.
    """

    environ: Mapping[str, str]
    folder: str
    umask: int
    names: Mapping[str, str]
    translation: Translation | None = None
    is_terminal: bool = False

    def here(self) -> CallerState:
        """What the process of its call takes over, once its policy has given it its variables."""
        of_call = {name: self.environ[name] for name in OF_EACH_CALL if name in self.environ}
        return CallerState(self.folder, self.umask, of_call)

    def lasting_environ(self) -> dict[str, str]:
        """Its variables without those of each call: what a tool is loaded with."""
        return {name: value for name, value in self.environ.items() if name not in OF_EACH_CALL}


class CallerState(NamedTuple):
    """The part of a caller that the process of a call takes over for that call. environ: further variables."""

    folder: str
    umask: int
    environ: Mapping[str, str]

    @contextmanager
    def taken_over(self) -> Iterator[None]:
        """Be in that folder, with that mask and these variables, in the process of a call, and then as before.

        Raises OSError where the folder cannot be entered.
        """
        folder = os.getcwd()
        os.chdir(self.folder)
        umask = os.umask(self.umask)
        os.environ.update(self.environ)
        try:
            yield
        finally:
            for name in self.environ:
                os.environ.pop(name, None)
            os.umask(umask)
            os.chdir(folder)


@contextmanager
def in_folder(folder: str) -> Iterator[None]:
    """Be in a folder for a moment, in a process with one thread. Raises OSError where it cannot be entered."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
