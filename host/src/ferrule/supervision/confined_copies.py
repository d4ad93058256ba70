"""A process that is held to a policy and makes copies of itself, each with a folder for its own temporary files."""

from __future__ import annotations

import os

from ferrule.confinement import temporary_folder
from ferrule.confinement.enforcement import listens, narrow, prepare_copies
from ferrule.supervision.confined_work import hold, use_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.broker.shared_broker import SharedBroker
    from ferrule.confinement.kernel.landlock import CopyRules
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.supervision.channel.channel import Channel


class ConfinedCopies:
    """The policy, and the folder in which those of the copies are. It is made by the process that watches them.

    It can be pickled: `hold` is for the process before any code of a plugin is there, `narrow` for each copy of it.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._folder = temporary_folder.make() if policy.temporary else ""
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
            temporary_folder.remove(folder)
