"""A piece of work that is held to a policy, with what is there for it alone: a folder for its temporary files."""

from __future__ import annotations

import os
import sys

from ferrule.confinement.enforcement import confine, listens, narrow, prepare_copies, wait_for_supervisor
from ferrule.supervision.child import leave_memory_to_parent, remember_hard_limit

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from ferrule.confinement.broker.broker import Broker
    from ferrule.confinement.broker.shared_broker import SharedBroker
    from ferrule.confinement.kernel.landlock import CopyRules
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.supervision.channel.channel import Channel

_PREFIX = "ferrule-"


class ConfinedWork:
    """The work, for a child that is about to be forked. Entered and left by the process that watches the child.

    relay: the one that the policy's `relays` name, if any.
    """

    def __init__(self, work: Callable[[Channel], None], policy: Policy, relay: Relay | None = None) -> None:
        self._relay = relay
        self._work = work
        self._policy = policy
        self._folder = ""

    def __enter__(self) -> Self:
        if self._policy.temporary:
            self._folder = make_folder()
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder:
            remove_folder(self._folder)

    def broker(self) -> Broker | None:
        """What judges the child's calls in the process that watches it; None where nothing has to, or another does."""
        if self._relay is None and not listens(self._policy):
            return None
        from ferrule.confinement.broker.broker import Broker

        return Broker(self._policy, self._folder, self._relay)

    def __call__(self, channel: Channel) -> None:
        """Hold this process to the policy, and do the work."""
        self.hold(channel)
        self._work(channel)

    def hold(self, channel: Channel) -> None:
        """Hold this process to the policy, whose environment it has already.

        If there is a broker, this waits until it has its listener.
        """
        hold(self._policy, self._folder, channel)


class ConfinedCopies:
    """A process that is held to a policy and makes copies of itself, each with a folder for its own temporary files.

    It is the policy, and the folder in which those of the copies are. It is made by the process that watches them.

    It can be pickled: `hold` is for the process before any code of a plugin is there, `narrow` for each copy of it.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._folder = make_folder() if policy.temporary else ""
        self._prepared: CopyRules | None = None

    def broker(self, relay: Relay | None = None) -> SharedBroker | None:
        """What judges the calls of the process and its copies; None where nothing has to, or another does.

        relay: the one that the policy's `relays` name, if any.
        """
        if relay is None and not listens(self.policy):
            return None
        from ferrule.confinement.broker.shared_broker import SharedBroker

        return SharedBroker(self.policy, self._folder, relay)

    def hold(self, channel: Channel) -> None:
        """Hold this process to the policy, whose environment it has already. It may be copied; see `narrow`."""
        self._prepared = prepare_copies(self.policy)
        policy = self.policy
        if not policy.processes:
            policy = policy.replaced(processes=1, is_copied=not policy.programs)
        hold(policy, self._folder, channel)

    def narrow(self) -> str:
        """In a copy: give it its own folder, which is returned (empty if there is none), and hold it apart."""
        folder = self.folder_of(os.getpid())
        if folder:
            os.mkdir(folder, 0o700)
            use_folder(folder)
        narrow(self.policy, self._prepared, folder)
        return folder

    def folder_of(self, process: int | None) -> str:
        """Where the temporary files of a copy are, of the process itself for None; empty if there is no folder."""
        return f"{self._folder}/{process}" if self._folder and process is not None else self._folder

    def remove(self, process: int | None = None) -> None:
        """Remove the folder of a copy that has ended, or without one, everything."""
        folder = self.folder_of(process)
        if not folder:
            return
        try:
            os.unlink(folder)  # a link that stands in its place, which must not be followed
        except OSError:
            remove_folder(folder)


def hold(policy: Policy, folder: str, channel: Channel) -> None:
    """See `ConfinedWork.hold`. folder: for temporary files, empty if there is none."""
    policy = policy.replaced(environment=None)
    if folder:
        use_folder(folder)
        policy = policy.replaced(write=(*policy.write, folder))
    listener = confine(policy, with_listener=True)
    remember_hard_limit()  # which has become lower
    if listener is None and policy.programs:
        leave_memory_to_parent()
    if listener is not None:
        channel.send_listener(listener)
        wait_for_supervisor()
        os.close(listener)


def use_folder(folder: str) -> None:
    """Have all temporary files go to a folder, also those of libraries that have been imported already."""
    library = sys.modules.get("tempfile")
    if library is not None:
        library.tempdir = None  # type: ignore[attr-defined] # it keeps what it has found once
    os.environ.update(TMPDIR=folder, TEMP=folder, TMP=folder)


def make_folder() -> str:
    """Make a folder for the temporary files of one call, for the user alone; empty where none can be made.

    It is below TMPDIR or /tmp.
    """
    for base in (os.environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):  # noqa: S108 - its name is random, and its mode 0700
        path = os.path.join(base, _PREFIX + os.urandom(8).hex())
        try:
            if os.path.isabs(base):
                os.mkdir(path, 0o700)
                return os.path.realpath(path)
        except OSError:
            continue
    return ""


def remove_folder(path: str) -> None:
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
