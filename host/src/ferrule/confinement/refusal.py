"""What a call was denied, found in the exception that it ended with."""

from __future__ import annotations

import os

from ferrule.confinement.denials import CONNECT, FORK, OTHER, READ, RUN, SIGNAL, WRITE, may_read, may_write
from ferrule.confinement.policy import RELAY_REFUSAL, Denial
from ferrule.confinement.refused_call import as_text, is_raised, refused_call
from ferrule.confinement.refused_network import WAITING, is_name_lookup, socket_kind, waiting_address, wanted_address

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from ferrule.confinement.policy import Policy
    from ferrule.confinement.refused_call import RefusedCall

_MAX_EXCEPTIONS = 50
_OF_KERNEL = (1, 13)  # EPERM, EACCES
_OTHER_DISK = 18
_OF_PROGRAMS = ("subprocess.py", "os.py", "<frozen os>", "pty.py")
# The function that starts a program, and the variable that has it.
_PROGRAM_IN = {"_execute_child": "executable", "_execvpe": "file", "_spawnvef": "file"}
_OF_SOCKETS = (
    "socket.py", "selector_events.py", "base_events.py", "connection.py", "ssl.py", "client.py", "socketserver.py",
    "unix_events.py", "sock.py",
)  # fmt: skip
_OF_PROCESSES = ("process.py", "popen_fork.py", "context.py", "bounded.py", "supervisor.py")
# By the name of the function that was refused. What makes a name needs nothing of what that leads to.
_RUNNING = ("exec", "spawn", "posix_spawn")
_SIGNALLING = frozenset(("kill", "killpg", "pidfd_send_signal", "pthread_kill"))
_FORKING = frozenset(("fork", "forkpty", "vfork", "fork_exec", "start"))
_SHARING = {"SemLock": "a lock that processes share", "shm_open": "memory that processes share"}
_REACHING = frozenset((
    "accept", "bind", "connect", "connect_ex", "create_connection", "create_server", "listen", "send", "sendall",
    "sendfile", "sendmsg", "sendto", "socket", "socketpair", "fromfd",
))  # fmt: skip
_MAKING, _NAMING = frozenset(("mkfifo", "mknod")), frozenset(("symlink", "symlink_to"))
_READING = frozenset(("listdir", "scandir", "iterdir", "readlink", "chdir", "walk"))
_CHANGING = frozenset((
    "chmod", "fchmod", "ftruncate", "link", "mkdir", "makedirs", "remove", "rename",
    "replace", "rmdir", "touch", "truncate", "unlink", "utime",
))  # fmt: skip
# What no tool does to any file, whatever it may.
_NEVER = frozenset(("chown", "fchown", "lchown", "setxattr", "removexattr", "chroot"))
_NOWHERE = 1 << 20  # no place of an argument
_FOLDERS = ("dir_fd", "src_dir_fd", "dst_dir_fd")
_LIBRARY_ENDINGS = (": cannot open shared object file: Permission denied",)
_DATABASE = "unable to open database file"


def find(error: BaseException, policy: Policy) -> Denial | None:
    """What the policy has refused, where an exception, or one that it followed from, is a refusal; else None.

    What the policy allows, and the system refuses for another reason, is none.
    """
    unnamed = None
    for one in _chain(error):
        denial = _of_any(one, policy)
        if denial is not None and denial != Denial(OTHER, ""):
            return denial
        unnamed = unnamed or denial
    return unnamed


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, those that it was raised from or during, and those of groups."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting and len(seen) < _MAX_EXCEPTIONS:
        one = waiting.pop(0)
        if any(one is known for known in seen):
            continue
        seen.append(one)
        yield one
        inner = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
        waiting += [other for other in (one.__cause__, one.__context__, *inner) if other is not None]


def _of_any(error: BaseException, policy: Policy) -> Denial | None:
    if not policy.network and is_name_lookup(error):
        return Denial(CONNECT, wanted_address(error))
    if policy.relays and _says(error, RELAY_REFUSAL):
        return Denial(CONNECT, "")  # the relay has told the supervising process which host it was
    if isinstance(error, PermissionError):
        return _of(error, policy) if error.errno in _OF_KERNEL else None  # else it is the tool's own
    if isinstance(error, OSError) and error.errno == _OTHER_DISK:
        # A link or a name that would take a file out of its rules, which Landlock refuses as if of another disk.
        return _of_paths([os.fsdecode(name) for name in (error.filename, error.filename2) if name], policy)
    return _of_library(error, policy)


def _says(error: BaseException, words: str) -> bool:
    """Whether these words are in the text of an exception, which may raise another one when it is asked for that."""
    try:
        return words in str(error)
    except Exception:  # noqa: BLE001 - it is a plugin's own
        return False


def _of_library(error: BaseException, policy: Policy) -> Denial | None:
    """A file that a library of C was refused, which says so in words alone."""
    name = type(error).__name__
    if isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is None):
        path = next((str(error).removesuffix(end) for end in _LIBRARY_ENDINGS if str(error).endswith(end)), "")
        return _of_paths([path], policy) if path.startswith("/") else None
    if name == "OperationalError" and type(error).__module__ == "sqlite3" and str(error) == _DATABASE:
        given = as_text(refused_call(_last(error.__traceback__)).argument(0, "database"))
        path = given.removeprefix("file:").partition("?")[0] if given.startswith("file:") else given
        return _of_paths([path], policy) if path else None
    return None


def _of(error: PermissionError, policy: Policy) -> Denial | None:
    place = _last(error.__traceback__)
    module, function, program = _place(error)
    call = refused_call(place)
    called = call.name or _used(place)
    names = _names(error, call, is_told_by_python=is_raised(place))
    if program or called.startswith(_RUNNING) or (module in _OF_PROGRAMS and function.startswith(("_exec", "_spawn"))):
        return Denial(RUN, program or next(iter([*names, *call.texts()]), "a program"))
    if called in _SHARING and not policy.processes:
        return Denial(FORK, _SHARING[called])
    if called in _NEVER:
        return Denial(OTHER, " ".join([called, *map(_resolved, (names or _given(call))[:1])]))
    if called in _MAKING | _NAMING or (called in _CHANGING and not names):
        made = (names or _given(call, is_last=called in _NAMING))[-1:]
        return Denial(WRITE, _resolved(made[0]) if made else "")
    if names:
        return _of_paths(names, policy, called, writes=_is_writing(call))
    if error.filename and call.name in _READING | {"open"}:  # in a folder that the source does not tell
        return Denial(WRITE if _is_writing(call) else READ, "")
    return _without_a_path(error, policy, called, module)


def _without_a_path(error: PermissionError, policy: Policy, called: str, module: str) -> Denial | None:
    if called in _REACHING or module in _OF_SOCKETS:
        return _of_network(error, policy, called)
    if called in _FORKING or module in _OF_PROCESSES:
        return Denial(FORK, "") if not policy.processes else None
    if called in _SIGNALLING:
        return Denial(SIGNAL, "")
    named = error.filename if isinstance(error.filename, str) and error.filename.isidentifier() else ""
    return Denial(OTHER, named or called)


def _of_network(error: PermissionError, policy: Policy, called: str) -> Denial:
    kind = socket_kind(error)
    if kind:
        return Denial(OTHER, kind)
    waits, address = waiting_address(error, called)
    if waits:
        return Denial(CONNECT, f"{address} {WAITING}".strip())
    return Denial(CONNECT, "" if policy.network else wanted_address(error))


def _used(place: TracebackType | None) -> str:
    """What says it if there is no source: the functions that the refused one uses."""
    used = () if place is None or is_raised(place) else place.tb_frame.f_code.co_names
    return next((name for name in used if name in _SIGNALLING or name in ("fork", "mkfifo", "mknod")), "")


def _names(error: PermissionError, call: RefusedCall, *, is_told_by_python: bool) -> list[str]:
    """The paths that the error has. What a statement has put there may be anything, such as the name of a call."""
    named = (error.filename, error.filename2)
    names = [os.fsdecode(name) for name in named if isinstance(name, str | bytes)]
    if is_told_by_python:
        return [name for name in names if name.startswith("/") or os.path.lexists(name)]
    if not names and isinstance(error.filename, int):
        return _of_descriptor(error.filename)
    return _in_folders(names, call)


def _in_folders(names: list[str], call: RefusedCall) -> list[str]:
    """Names that the call was given with an open folder, as paths; none where the source does not tell which folder."""
    given = [name for name in _FOLDERS if call.has(name)]
    # The folders stand in the order of the names, and a name that is alone has one of them.
    owners = [call.argument(_NOWHERE, name) for name in given[: len(names)] or given]
    owners += owners[-1:] * len(names)
    if not owners:
        return names
    found = []
    for owner, name in zip(owners, names, strict=False):
        folder = _of_descriptor(owner) if isinstance(owner, int) else []
        if not folder and not name.startswith("/"):
            return []
        found.append(os.path.join(*folder, name))
    return found


def _given(call: RefusedCall, *, is_last: bool = False) -> list[str]:
    """The path that a call was given, or that of the file that it was given open."""
    descriptor, texts = call.argument(0), call.texts()
    texts = texts[-1:] if is_last else texts[:1]
    return _of_descriptor(descriptor) if type(descriptor) is int else _in_folders(texts, call)


def _of_descriptor(file: int) -> list[str]:
    try:
        path = os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return []
    return [path] if path.startswith("/") else []


def _is_writing(call: RefusedCall) -> bool:
    """Whether a file was to be opened for more than reading, as far as the source tells."""
    mode = call.argument(1, "mode") if call.name == "open" else None
    if isinstance(mode, int):
        return bool(mode & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
    return isinstance(mode, str) and not set("wax+").isdisjoint(mode)


def _last(place: TracebackType | None) -> TracebackType | None:
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place


def _place(error: PermissionError) -> tuple[str, str, str]:
    """The file and the function in which it was raised, and the program that was to be started."""
    frame, program = None, ""
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        variable = _PROGRAM_IN.get(frame.f_code.co_name)
        if variable is not None:
            arguments = frame.f_locals.get("args")
            first = arguments[0] if isinstance(arguments, list | tuple) and arguments else arguments
            program = program or as_text(frame.f_locals.get(variable)) or as_text(first)
        step = step.tb_next
    if frame is None:
        return "", "", program
    return os.path.basename(frame.f_code.co_filename), frame.f_code.co_name, program


def _of_paths(names: list[str], policy: Policy, called: str = "", *, writes: bool = False) -> Denial | None:
    for name in names:
        path = _resolved(name)
        if not may_write(policy, path):
            can_read = may_read(policy, path)
            if can_read and os.path.lexists(path) and not os.access(path, os.R_OK):
                continue  # which the system refuses to this user, whatever the policy is
            # What may be read was to be written, and so was what is not there.
            is_written = can_read or writes or called in _CHANGING or not os.path.lexists(path)
            return Denial(WRITE if is_written and called not in _READING else READ, path)
    return None


def _resolved(name: str) -> str:
    """The path without links, as far as they can be followed: those of another process cannot."""
    try:
        return os.path.realpath(name)
    except OSError:
        return os.path.abspath(name)
