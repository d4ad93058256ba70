"""A piece of work that is held to a policy, with what is there for it alone: a folder for its temporary files."""

from __future__ import annotations

import os
import sys

from ferrule.confinement import temporary_folder
from ferrule.confinement.enforcement import confine, listens, wait_for_supervisor
from ferrule.supervision.child import leave_memory_to_parent, remember_hard_limit

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from ferrule.confinement.broker.broker import Broker
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.supervision.channel.channel import Channel


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
            self._folder = temporary_folder.make()
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder:
            temporary_folder.remove(self._folder)

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
