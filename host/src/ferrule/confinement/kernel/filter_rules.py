"""What a call may not ask the kernel for. Landlock sees files and TCP ports; this is what it does not see."""

from __future__ import annotations

from ferrule.confinement.kernel.filter_program import ALLOW, NOTIFY, IsGiven, IsMadeFrom, Program, Test, error
from ferrule.confinement.kernel.system_calls import CLOCKS, NAMING
from ferrule.confinement.policy import LOOPBACK, STRICT

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.kernel.filter_program import Case
    from ferrule.confinement.policy import Policy

_NOT_PERMITTED, _NO_ACCESS, _NO_CALL, _NOT_SUPPORTED = error(1), error(13), error(38), error(95)
_DONE = error(0)  # without having been made

OWN, OUTER = "own", "outer"

_NEVER = """
bpf perf_event_open userfaultfd ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd
kcmp keyctl add_key request_key mount umount2 move_mount fsopen fsconfig fsmount fspick open_tree mount_setattr
statmount listmount unshare setns pivot_root chroot kexec_load kexec_file_load init_module finit_module delete_module
reboot swapon swapoff quotactl quotactl_fd acct settimeofday clock_settime clock_adjtime adjtimex sethostname
setdomainname shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop semctl semtimedop mq_open mq_unlink
fanotify_init fanotify_mark inotify_init inotify_init1 inotify_add_watch chown fchown lchown fchownat setxattr
lsetxattr fsetxattr removexattr lremovexattr fremovexattr iopl ioperm modify_ldt lookup_dcookie nfsservctl vhangup
syslog uselib name_to_handle_at open_by_handle_at migrate_pages move_pages lsm_set_self_attr uprobe uretprobe execveat
memfd_secret
"""
# Where these are not there, libraries do without: glibc starts threads by `clone`, whose flags a filter can see.
_UNKNOWN = "io_uring_setup io_uring_enter io_uring_register clone3"
# Landlock lets everybody read them by a path. Libraries take this answer as that of a file system that has none.
_ATTRIBUTES_READ = "getxattr lgetxattr listxattr llistxattr"
_OF_PATHS = "chmod fchmod fchmodat fchmodat2 utime utimes futimesat utimensat"

TOLD_OF_PROGRAMS = (
    "open", "openat", "openat2", "creat", "truncate", "mkdir", "mkdirat", "unlink", "unlinkat", "rmdir", "rename",
    "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat", "exit_group",
)  # fmt: skip
"""Calls of programs that are told and then made."""
_ACCESS_OR_MAKING, _CLOSED_AT_START, _ONLY_A_PLACE = 0o1103, 0o200_0000, 0o1000_0000


def _reading(flags: int) -> tuple[Case, ...]:
    """A file that is read alone, and not handed on to other programs, or is only a place. flags: which argument.

    So interpreters and loaders open all of their files: hundreds at each start.
    """
    bits = _CLOSED_AT_START | _ACCESS_OR_MAKING
    return (Test(flags, "==", _CLOSED_AT_START, bits), ALLOW), (Test(flags, "&", _ONLY_A_PLACE), ALLOW)


_UNTOLD: dict[str, tuple[Case, ...]] = {
    "open": _reading(1),
    "openat": _reading(2),
    "exit_group": ((Test(0, "==", 0, 0xFF), ALLOW),),
}
"""Cases of them that are not told."""
_MAX_PARTS = 8  # of the code of a process, so that a rule is not longer than a jump

_THREAD = 0x1_0000
# The flags with which libraries start threads, and processes: memory, folders, descriptors, signal handlers, semaphores
# and thread storage that are shared, numbers that are written down. A process may share its memory while its parent
# waits for it, and may be had as a descriptor. No other flag is let through: a process made by CLONE_PARENT would be no
# child of the call's, and be neither counted nor ended with it.
THREAD_FLAGS = 0x7D_0F00 | 0x100_0000
PROCESS_FLAGS = 0x100 | 0x1000 | 0x4000 | 0x8_0000 | 0x10_0000 | 0x20_0000 | 0x100_0000
_ALL, _SIGNAL_BITS, _CHILD_HAS_ENDED = 0xFFFF_FFFF, 0xFF, 17
_UNIX, _INET, _INET6 = 1, 2, 10
_STREAM, _DATAGRAM, _SEQUENCED, _TYPE_BITS = 1, 2, 5, 0xF
_TCP, _UDP = 6, 17
_FAST_OPEN = 0x2000_0000
_SOCKET_LEVEL, _LINGER = 1, 13
_IP, _IPV6, _IP_OPTIONS, _IPV6_ROUTING, _IPV6_OLD_ROUTING = 0, 41, 4, 57, 5
_TYPE_INTO_TERMINAL, _SELECT_ON_TERMINAL, _TAKE_TERMINAL = 0x5412, 0x541C, 0x540E
_SET_FLAGS, _SET_OLD_FLAGS, _SET_ATTRIBUTES, _ENABLE_VERITY = 0x4008_6602, 0x4004_6602, 0x401C_5820, 0x4080_6685
_REQUESTS = (
    _TYPE_INTO_TERMINAL, _SELECT_ON_TERMINAL, _TAKE_TERMINAL, _SET_FLAGS, _SET_OLD_FLAGS, _SET_ATTRIBUTES,
    _ENABLE_VERITY,
)  # fmt: skip
_SET_LEASE, _NOTIFY_OF_FOLDER, _SET_OWNER = 1024, 1026, (8, 15)
_KILL, _TERMINATE = 9, 15
_SET_DEATH_SIGNAL, _SET_SECCOMP, _SET_TRACER, _SHARE_CORE = 1, 22, 0x5961_6D61, 62
_NEW_LISTENER = 1 << 3
_QUERY_PERSONALITY = 0xFFFF_FFFF
_OF_PROCESS = {"getpriority": 0, "ioprio_get": 1}  # what says that the number is not a group's or a user's
_CLOCK_OF_PROCESS, _CLOCK_KIND, _CLOCK_OF_FILE, _CLOCK_OF_THREAD, _CLOCK_NUMBER = (
    0x8000_0000, 3, 3, 4, 0xFFFF_FFF8,
)  # fmt: skip


def write_filter(
    policy: Policy, *, listener: str, holds_signals: bool, process: int, own_code: Sequence[tuple[int, int]] = ()
) -> bytes:
    """The filter of a policy, as a program for the kernel.

    Args:
        listener: OWN where a supervising process is going to listen to this filter, and judges what a filter cannot;
            OUTER where it listens to one that is in force already; empty if there is none.
        holds_signals: whether Landlock keeps signals within the call.
        process: the number of the process that it is for.
        own_code: the first address, and the one behind the last, of each part of its memory from which it makes its
            calls: what is told of programs is not told of these. Without any, nothing is told.
    """
    program = Program()
    program.answer(_NEVER.split(), _NOT_PERMITTED)
    program.answer(_UNKNOWN.split(), _NO_CALL)
    program.answer(_ATTRIBUTES_READ.split(), _NOT_SUPPORTED)
    _rule_processes(program, policy, listener=listener)
    if listener == OWN and policy.programs and own_code:
        _tell_of_programs(program, own_code)
    _rule_sockets(program, policy, listener=listener)
    _rule_attributes(program, listener=listener)
    _rule_others(program)
    if policy.is_copied or not (policy.processes or policy.programs):
        _rule_facts(program, process, listener=listener)
    _rule_itself(program, policy)
    if not holds_signals:
        _rule_signals(program, process)
    return program.code()


def _rule_processes(program: Program, policy: Policy, *, listener: str) -> None:
    may_fork = bool(policy.processes or policy.programs)
    fork = (NOTIFY if listener == OWN else ALLOW) if may_fork else _NOT_PERMITTED
    program.decide(
        "clone",
        (Test(0, "&", _THREAD), Test(0, "&", _ALL & ~THREAD_FLAGS), _NOT_PERMITTED),
        (Test(0, "&", _THREAD), ALLOW),
        (Test(0, "&", _ALL & ~(PROCESS_FLAGS | _SIGNAL_BITS)), _NOT_PERMITTED),
        (Test(0, "!=", _CHILD_HAS_ENDED, _SIGNAL_BITS), _NOT_PERMITTED),
        otherwise=fork,
    )
    program.answer(("fork", "vfork"), fork)
    if policy.programs:
        program.answer(("memfd_create",), _NOT_PERMITTED)  # Landlock does not see a program that has no path
        if listener == OWN:
            program.answer(("execve",), NOTIFY)  # a program gets other limits than the process that starts it
            # What dynamic loaders call first, that of GNU and that of musl: none is to run a file as a program.
            program.decide("brk", (IsGiven(0), ALLOW), otherwise=NOTIFY)
            program.answer(("set_tid_address",), NOTIFY)
    else:
        program.answer(("execve",), _NO_ACCESS)


def _tell_of_programs(program: Program, own_code: Sequence[tuple[int, int]]) -> None:
    """What programs do to files, and how they end, is told, and then done: Landlock holds them to the policy."""
    own = [(IsMadeFrom(start, end), ALLOW) for start, end in own_code[:_MAX_PARTS]]
    for name in TOLD_OF_PROGRAMS:
        program.decide(name, *_UNTOLD.get(name, ()), *own, otherwise=NOTIFY)


def _rule_sockets(program: Program, policy: Policy, *, listener: str) -> None:
    """Which sockets there are, and what is judged by the supervising process: each address that one is to reach."""
    is_judged = listener == OWN and policy.isolation == STRICT
    reach = _NO_ACCESS if not policy.network else NOTIFY if is_judged else ALLOW
    if policy.network:
        program.decide(
            "socket",
            (Test(0, "!=", _INET), Test(0, "!=", _INET6), _NO_ACCESS),
            (Test(1, "!=", _STREAM, _TYPE_BITS), Test(1, "!=", _DATAGRAM, _TYPE_BITS), _NO_ACCESS),
            (Test(1, "==", _STREAM, _TYPE_BITS), Test(2, "!=", 0), Test(2, "!=", _TCP), _NO_ACCESS),
            (Test(1, "==", _DATAGRAM, _TYPE_BITS), Test(2, "!=", 0), Test(2, "!=", _UDP), _NO_ACCESS),
        )
    else:
        program.answer(("socket",), _NO_ACCESS)
    program.decide(
        "socketpair",
        (Test(0, "!=", _UNIX), _NO_ACCESS),
        # A datagram could be sent from one of a pair to any other socket, by its path.
        (Test(1, "!=", _STREAM, _TYPE_BITS), Test(1, "!=", _SEQUENCED, _TYPE_BITS), _NO_ACCESS),
    )
    program.answer(("connect",), reach)
    program.decide("sendto", (Test(3, "&", _FAST_OPEN), _NO_ACCESS), (IsGiven(4), reach))
    # Where such a call sends to stands in memory, which a filter cannot see. Without network there are only pairs.
    message = ALLOW if reach == _NO_ACCESS else reach
    program.decide("sendmsg", (Test(2, "&", _FAST_OPEN), _NO_ACCESS), otherwise=message)
    program.decide("sendmmsg", (Test(3, "&", _FAST_OPEN), _NO_ACCESS), otherwise=message)
    serve = reach if LOOPBACK in policy.network else _NO_ACCESS
    program.answer(("bind", "listen"), serve)
    program.answer(("accept", "accept4"), ALLOW if LOOPBACK in policy.network else _NO_ACCESS)
    program.decide(
        "setsockopt",
        # Whoever closes such a socket last waits until all is sent, which may be the supervising process.
        (Test(1, "==", _SOCKET_LEVEL), Test(2, "==", _LINGER), _DONE),
        (Test(1, "==", _IP), Test(2, "==", _IP_OPTIONS), _NOT_PERMITTED),
        (Test(1, "==", _IPV6), Test(2, "==", _IPV6_ROUTING), _NOT_PERMITTED),
        (Test(1, "==", _IPV6), Test(2, "==", _IPV6_OLD_ROUTING), _NOT_PERMITTED),
    )


def _rule_attributes(program: Program, *, listener: str) -> None:
    """Modes and times of files, which Landlock does not see: the supervising process changes them in the call's own.

    Without one, times of open files alone can be changed, which the host's own stores need.
    """
    if listener:
        program.answer(_OF_PATHS.split(), NOTIFY if listener == OWN else ALLOW)
        return
    program.decide("utimensat", (IsGiven(1), _NOT_PERMITTED))
    program.answer(_OF_PATHS.split(), _NOT_PERMITTED)


def _rule_others(program: Program) -> None:
    """Terminals, flags of files, and what can be done to other processes."""
    program.decide(
        "ioctl",
        *((Test(1, "==", request), _NOT_PERMITTED) for request in _REQUESTS),
    )
    program.decide("fcntl", *((Test(1, "==", command), _NOT_PERMITTED) for command in (_SET_LEASE, _NOTIFY_OF_FOLDER)))
    for name in ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        program.decide(name, (IsGiven(0), _NOT_PERMITTED))
    program.decide("setpriority", (IsGiven(0), _NOT_PERMITTED), (IsGiven(1), _NOT_PERMITTED))
    program.decide("ioprio_set", (Test(0, "!=", 1), _NOT_PERMITTED), (IsGiven(1), _NOT_PERMITTED))
    program.decide("personality", (Test(0, "!=", _QUERY_PERSONALITY), Test(0, "!=", 0), _NOT_PERMITTED))


def _rule_facts(program: Program, process: int, *, listener: str) -> None:
    """What is asked of other processes, by one that starts none: who listens tells its threads from others.

    Without a listener, only what is asked of groups and users is refused. One that may start processes is answered: it
    has to see /proc, which says the same, and a signal of a child that ends would interrupt a question that waits.
    """
    judged = NOTIFY if listener == OWN else ALLOW
    for name, place in NAMING.items():
        kind = _OF_PROCESS.get(name)
        others = () if kind is None else ((Test(0, "!=", kind), _NOT_PERMITTED),)
        program.decide(
            name, *others, (Test(place, "==", 0), ALLOW), (Test(place, "==", process), ALLOW), otherwise=judged
        )
    own = (~process << 3) & _ALL
    for name in CLOCKS:
        program.decide(
            name,
            (Test(0, "==", 0, _CLOCK_OF_PROCESS), ALLOW),
            (Test(0, "==", _CLOCK_OF_FILE, _CLOCK_KIND), ALLOW),
            (Test(0, "&", _CLOCK_OF_THREAD), ALLOW),  # the kernel has those of its own threads alone
            (Test(0, "==", _CLOCK_NUMBER, _CLOCK_NUMBER), ALLOW),
            (Test(0, "==", own, _CLOCK_NUMBER), ALLOW),
            otherwise=judged,
        )
    program.answer(("capget",), judged)


def _rule_itself(program: Program, policy: Policy) -> None:
    """No other listener, which would answer in our place; and what ends a process with its parent stays."""
    if policy.processes:
        program.decide("seccomp", (Test(1, "&", _NEW_LISTENER), _NOT_PERMITTED))
    else:
        program.answer(("seccomp",), _NOT_PERMITTED)
    program.decide(
        "prctl",
        (Test(0, "==", _SET_SECCOMP), _NOT_PERMITTED),
        (Test(0, "==", _SET_TRACER), _NOT_PERMITTED),
        (Test(0, "==", _SHARE_CORE), _NOT_PERMITTED),
        # A process could ignore any other signal. One that asks for SIGTERM, as libraries do for the programs that they
        # start, keeps SIGKILL, or goes on without: the host ends what a call has started.
        (Test(0, "==", _SET_DEATH_SIGNAL), Test(1, "==", _TERMINATE), _DONE),
        (Test(0, "==", _SET_DEATH_SIGNAL), Test(1, "!=", _KILL), _NOT_PERMITTED),
    )


def _rule_signals(program: Program, process: int) -> None:
    """Signals to the process itself and to its own group only. A kernel whose Landlock rules them needs none of it."""
    program.decide("kill", (Test(0, "!=", 0), Test(0, "!=", process), _NOT_PERMITTED))
    program.decide("tgkill", (Test(0, "!=", process), _NOT_PERMITTED))
    program.answer(("tkill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), _NOT_PERMITTED)
    program.decide("fcntl", *((Test(1, "==", command), _NOT_PERMITTED) for command in _SET_OWNER))
