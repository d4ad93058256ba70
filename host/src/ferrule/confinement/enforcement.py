"""Puts a policy in force in this process, for good. This runs in the child, before any code of a plugin."""

from __future__ import annotations

import os

from ferrule.confinement.policy import (
    DEVICES,
    LOOPBACK,
    OFF,
    PRIVATE,
    PUBLIC,
    beside_processes,
    own_process,
    readable,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.kernel.landlock import CopyRules
    from ferrule.confinement.policy import Policy

_FILTER, _STEP_BYTES = 1, 8
_NEW_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5
_DNS_PORT = 53
_LAST_WORDS_BYTES = 64 << 20  # above the limit of memory, for the error that says that it was full

_in_force: list[Policy] = []
_has_listener = False  # whether a supervising process listens to this one, or to one that it was forked from


def confine(policy: Policy, *, with_listener: bool = False) -> int | None:
    """Hold this process and all that it starts to a policy. It cannot be taken back.

    with_listener: whether a supervising process can take the descriptor that is returned, which then judges what a
    filter cannot; None if there is no such descriptor. Raises OSError where the kernel refuses what it can do.
    """
    _in_force[:] = [policy]
    take_environment(policy)
    _set_limits(policy)
    if policy.isolation == OFF:
        return None
    from ferrule.confinement.kernel import landlock, privileges
    from ferrule.confinement.kernel.system_calls import IS_KNOWN

    if not IS_KNOWN:
        return None
    abi = landlock.version()
    shared = _own_shared_memory(policy) if abi else ()
    privileges.drop()
    if abi:
        _enforce_paths(policy, abi, shared)
    return _install_filter(
        policy, is_own=with_listener and listens(policy), holds_signals=abi >= landlock.SCOPE_VERSION
    )


def prepare_copies(policy: Policy) -> CopyRules | None:
    """What copies of this process are to be narrowed with, worked out once; None where the kernel has nothing for it.

    Before the process is held to its own policy.
    """
    from ferrule.confinement.kernel import landlock, privileges

    abi = 0 if policy.isolation == OFF else landlock.version()
    if not abi:
        return None
    ruleset = landlock.Ruleset(abi, ports=False, rights=landlock.WRITE)
    sees_others = bool(policy.processes or policy.programs)
    ruleset.allow(["/"] if sees_others else beside_processes(), landlock.READ)
    ruleset.allow(DEVICES, landlock.READ_FILE | landlock.WRITE_FILE)
    ruleset.allow(policy.write, landlock.WRITE, follows=False)
    ruleset.allow(policy.append, landlock.APPEND, follows=False)
    # Of the shared memory: where it is not the copied process's own, that one is kept from it.
    own = [privileges.SHARED_MEMORY] if policy.processes else []
    return landlock.CopyRules(ruleset, own_process(), own)


def narrow(policy: Policy, prepared: CopyRules | None, folder: str) -> None:
    """Hold this process, a copy of one that is held to a wider policy with the same paths, to its own one.

    It sends signals to itself and what it starts alone, sees itself alone in /proc unless it may start processes, and
    forks as its policy says: by the judgement of the supervising process, or where nobody listens, not at all.
    prepared: see `prepare_copies`. folder: for its temporary files, which it cannot replace.
    """
    _in_force[:] = [policy]
    if prepared is not None:
        prepared.enforce(folder)
    if policy.isolation != OFF and not _has_listener:
        from ferrule.confinement.kernel import landlock
        from ferrule.confinement.kernel.system_calls import IS_KNOWN

        if IS_KNOWN:
            _install_filter(policy, is_own=False, holds_signals=landlock.version() >= landlock.SCOPE_VERSION)


def in_force() -> Policy | None:
    """The policy that this process is held to."""
    return _in_force[0] if _in_force else None


def listens(policy: Policy) -> bool:
    """Whether a child of this process, held to the policy, has a listener for its supervisor to take."""
    if policy.isolation == OFF or _has_listener:
        return False
    from ferrule.confinement.kernel.kernel_support import support

    return support().notifications


def wait_for_supervisor() -> None:
    """Wait until the supervising process answers this one's calls: one that cannot succeed comes back only then."""
    try:
        os.fchmod(-1, 0)
    except OSError:
        return


def note_listener() -> None:
    """Say that a process other than the supervising one listens to this one, so that no further one can."""
    global _has_listener
    _has_listener = True


def take_environment(policy: Policy) -> None:
    """Give this process the variables of a policy, and no others."""
    if policy.environment is not None:
        os.environ.clear()
        os.environ.update(policy.environment)


def _set_limits(policy: Policy) -> None:
    from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_MSGQUEUE, getrlimit, setrlimit

    setrlimit(RLIMIT_CORE, (0, 0))
    setrlimit(RLIMIT_MSGQUEUE, (0, 0))
    present, size = getrlimit(RLIMIT_FSIZE)[1], policy.file_mib << 20
    size = size if present == RLIM_INFINITY else min(size, present)
    setrlimit(RLIMIT_FSIZE, (size, size))
    memory, most = getrlimit(RLIMIT_AS)
    may_start_programs = bool(policy.programs) or policy.isolation == OFF  # some reserve more than they use
    if memory != RLIM_INFINITY and not may_start_programs:
        last = memory + _LAST_WORDS_BYTES
        setrlimit(RLIMIT_AS, (memory, last if most == RLIM_INFINITY else min(last, most)))


def _own_shared_memory(policy: Policy) -> Sequence[str]:
    """The folder of the shared memory, where it is the call's own: that of the machine is everybody's."""
    if not policy.processes:
        return ()
    from ferrule.confinement.kernel import privileges

    return (privileges.SHARED_MEMORY,) if privileges.make_own_shared_memory() else ()


def _enforce_paths(policy: Policy, abi: int, shared: Sequence[str]) -> None:
    from ferrule.confinement.kernel.landlock import (
        APPEND,
        CONNECT,
        EXECUTE,
        READ,
        READ_FILE,
        WRITE,
        WRITE_FILE,
        Ruleset,
    )

    ports = _ports(policy)
    rules = Ruleset(abi, ports=ports is not None)
    rules.allow(readable(with_others=bool(policy.processes or policy.programs)), READ)
    rules.allow(DEVICES, READ_FILE | WRITE_FILE)
    rules.allow(policy.read, READ, follows=False)
    rules.allow((*policy.write, *shared), WRITE, follows=False)
    rules.allow(policy.append, APPEND, follows=False)
    if policy.programs:
        from ferrule.confinement.kernel.program_paths import executed

        rules.allow(executed(policy.programs), EXECUTE | READ_FILE)
    for port in ports or ():
        rules.allow_port(port, CONNECT)
    rules.enforce()


def _install_filter(policy: Policy, *, is_own: bool, holds_signals: bool) -> int | None:
    """Install the filter; the descriptor of its listener, if there is one."""
    global _has_listener
    from ferrule.confinement.kernel.filter_rules import OUTER, OWN, write_filter

    listener = OWN if is_own else OUTER if _has_listener else ""
    own_code: Sequence[tuple[int, int]] = ()
    if is_own and policy.programs:
        from ferrule.confinement.library_code import ranges

        own_code = ranges()
    code = write_filter(policy, listener=listener, holds_signals=holds_signals, process=os.getpid(), own_code=own_code)
    descriptor = _set_filter(code, _NEW_LISTENER | _WAIT_KILLABLE if is_own else 0)
    _has_listener = _has_listener or is_own
    return descriptor if is_own else None


def _set_filter(code: bytes, flags: int) -> int:
    from ferrule.confinement.kernel.system_calls import NUMBERS, address, buffer, call

    steps = buffer(code)
    program = (len(code) // _STEP_BYTES).to_bytes(8, "little") + address(steps).to_bytes(8, "little")
    return call(NUMBERS["seccomp"], _FILTER, flags, buffer(program))


def _ports(policy: Policy) -> set[int] | None:
    """The TCP ports of a policy's hosts, with that of name servers and of relays; None where it names all of them."""
    ports = [host.rpartition(":")[2] for host in (*policy.network, *policy.relays)]
    if {PUBLIC, LOOPBACK, PRIVATE}.intersection(policy.network) or not all(map(str.isdigit, ports)):
        return None
    return {_DNS_PORT, *map(int, ports)} if ports else set()
