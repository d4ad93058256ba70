"""Runs a call in a child that is watched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.confinement import Denial, Policy
from ferrule.confinement.broker.broker import explain
from ferrule.confinement.broker.file_attributes import FileAttributes
from ferrule.confinement.broker.program_calls import ProgramCalls
from ferrule.confinement.denials import may_read, may_write
from ferrule.confinement.kernel.kernel_support import support
from ferrule.confinement.policy import OFF, STANDARD
from ferrule.errors import FerruleError
from ferrule.plugin.surroundings import Surroundings
from ferrule.supervision.child import begin_relay
from ferrule.supervision.confined_work import make_folder, remove_folder
from ferrule.supervision.supervisor import supervise
from ferrule.trace.traced_work import TracedWork
from ferrule.trace.usual import UsualPaths
from ferrule.trace.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.calls.execution import Execution
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.signals import Signals
    from ferrule.trace.observations import Observations

_MAX_DENIALS = 100  # of modes and times


class TracingRunner:
    """The `Runner` of a traced call. found: what it touched, None where it has not begun. usual: what every tool may.
    unread: calls whose arguments could not be read. denied: what the call was refused, as far as it is known. relayed:
    variables that name a relay to a proxy, and what they say to the call.

    is_confined: whether the call is held to its permissions, by files and system calls; a kernel tells one process only
    of a call, so that addresses are not judged. Without it, the call is held to nothing.
    """

    def __init__(self, signals: Signals, *, is_confined: bool) -> None:
        self.found: Observations | None = None
        self.usual = UsualPaths("")
        self.unread = 0
        self.denied: list[Denial] = []
        self.relayed: dict[str, str] = {}
        self._signals = signals
        self._is_confined = is_confined

    def run(self, execution: Execution, tool: InstalledTool, memory_mib: int, deadline: float) -> Outcome:
        """Run it, see `supervise`."""
        if not support().notifications:
            raise _untraceable(" ".join(support().missing))
        folder = make_folder()
        self.usual = UsualPaths(folder)
        relay = None
        try:
            policy = self._policy(execution, tool, folder)
            if policy.proxies:
                relay, names = begin_relay(policy, deadline), policy.proxies
                policy = relay.policy
                self.relayed = {name: (policy.environment or {})[name] for name in names}
            given = Surroundings(tool, policy)
            programs = ProgramCalls(policy, folder) if policy.programs and policy.isolation != OFF else None
            refused: dict[Denial, None] = {}
            with Witness(programs, _attributes(policy, folder, refused)) as witness:
                outcome = supervise(
                    TracedWork(execution, policy.replaced(environment=None), witness.path),
                    deadline=deadline,
                    memory=memory_mib,
                    size_limit=execution.answer_bytes,
                    signals=self._signals,
                    environment=policy.environment,
                    secrets=given.secrets,
                    answer=given.answer,
                    runs=execution.runs,
                    watched=tool.name,
                )
            if witness.failure:
                raise _untraceable(f"{witness.failure}.")
            outcome.failure, self.denied = explain(policy, relay.take(0) if relay else (), programs, outcome.failure)
            self._keep_seen(witness, policy, refused)
            outcome.denied = self.denied
            return outcome
        finally:
            if relay is not None:
                relay.close()
            remove_folder(folder)

    def _keep_seen(self, witness: Witness, policy: Policy, refused: Mapping[Denial, None]) -> None:
        """Keep what the witness has seen, and add to what was denied what it saw refused, and itself has refused."""
        self.found, self.unread = witness.found, witness.unread
        tried = () if policy.isolation == OFF else self._take_refused(witness.found, policy)
        self.denied += [one for one in {**refused, **dict.fromkeys(tried)} if one not in self.denied]

    def _take_refused(self, found: Observations, policy: Policy) -> list[Denial]:
        """What was tried of files and refused, which is then no longer among what was touched."""
        refused = {path: Denial("read", path) for path in found.read if not may_read(policy, path)}
        refused |= {path: Denial("write", path) for path in found.written if not may_write(policy, path)}
        own = {*self.usual.without(refused)}
        for paths in (found.read, found.written):
            for path in own.intersection(paths):
                del paths[path]
        for folder in {os.path.dirname(path) for path in own}.intersection(found.folders):
            if not may_write(policy, folder):
                del found.folders[folder]
        return [one for path, one in refused.items() if path in own]

    def _policy(self, execution: Execution, tool: InstalledTool, folder: str) -> Policy:
        """What the call is held to. folder: for its temporary files."""
        own = {"TMPDIR": folder, "TEMP": folder, "TMP": folder} if folder else {}
        if not self._is_confined or execution.policy is None:
            return Policy(tool.name, environment={**os.environ, **own}, temporary=False, isolation=OFF)
        policy = execution.policy
        environment = {**(os.environ if policy.environment is None else policy.environment), **own}
        write = (*policy.write, folder) if folder else policy.write
        return policy.replaced(write=write, environment=environment, temporary=False, isolation=STANDARD)


def _attributes(policy: Policy, folder: str, refused: dict[Denial, None]) -> FileAttributes | None:
    """What changes modes and times for a call that is held to something. refused: gets what it refuses."""
    if policy.isolation == OFF:
        return None

    def deny(kind: str, what: str) -> None:
        if len(refused) < _MAX_DENIALS:
            refused[Denial(kind, what)] = None

    return FileAttributes((*policy.write, *policy.append, *filter(None, [folder])), deny)


def _untraceable(reason: str) -> FerruleError:
    return FerruleError(
        f"This system cannot trace a call: {reason}",
        hint="It takes Linux 5.14 or later with seccomp, on x86-64 or arm64, and the right to look at own processes.",
    )
