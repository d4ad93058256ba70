"""What a call was denied, found in the exception that it ended with, and in words."""

from __future__ import annotations

import os

from ferrule.confinement.policy import LOOPBACK, PRIVATE, PUBLIC, RELAY_REFUSAL, Denial
from ferrule.confinement.refused_call import refused_call
from ferrule.confinement.refused_network import is_name_lookup, wanted_address

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from ferrule.confinement.policy import Policy

_MAX_EXCEPTIONS = 50
_MAX_REFUSED = 3
_OTHER_DISK = 18
_OF_PROGRAMS = ("subprocess.py", "os.py", "pty.py")
_OF_SOCKETS = (
    "socket.py", "selector_events.py", "base_events.py", "connection.py", "ssl.py", "client.py", "socketserver.py",
    "unix_events.py", "sock.py",
)  # fmt: skip
_OF_PROCESSES = ("process.py", "popen_fork.py", "context.py", "bounded.py", "supervisor.py")
# By the name of the function that was refused. What makes a name needs nothing of what that leads to.
_RUNNING = ("exec", "spawn", "posix_spawn")
_SIGNALLING = frozenset(("kill", "killpg", "pidfd_send_signal", "pthread_kill"))
_FORKING = frozenset(("fork", "forkpty", "vfork", "fork_exec", "start"))
_REACHING = frozenset((
    "accept", "bind", "connect", "connect_ex", "create_connection", "create_server", "listen", "send", "sendall",
    "sendfile", "sendmsg", "sendto", "socket", "socketpair", "fromfd",
))  # fmt: skip
_MAKING, _NAMING = frozenset(("mkfifo", "mknod")), frozenset(("symlink", "symlink_to"))
_READING = frozenset(("listdir", "scandir", "iterdir", "readlink", "chdir", "walk"))
_CHANGING = frozenset((
    "chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "mkdir", "makedirs", "remove", "rename",
    "replace", "rmdir", "setxattr", "removexattr", "touch", "truncate", "unlink", "utime",
))  # fmt: skip
_READ, _WRITE, _CONNECT, _RUN, _FORK, _SIGNAL, _OTHER = "read", "write", "connect", "run", "fork", "signal", "other"
_NETWORKS = {PUBLIC: "the public web", LOOPBACK: "this machine", PRIVATE: "the local network"}
_MIN_PROCESSES = 4  # that are proposed to a tool that may have fewer
KINDS = frozenset((_READ, _WRITE, _CONNECT, _RUN, _FORK, _SIGNAL, _OTHER))
_VERBS = {
    _READ: "read {}", _WRITE: "write {}", _CONNECT: "reach {}", _RUN: "run {}", _FORK: "start a process",
    _SIGNAL: "send a signal to another process",
}  # fmt: skip


def find(error: BaseException, policy: Policy) -> Denial | None:
    """What the policy has refused, where an exception, or one that it followed from, is a refusal; else None.

    What the policy allows, and the system refuses for another reason, is none.
    """
    for one in _chain(error):
        if not policy.network and is_name_lookup(one):
            denial: Denial | None = Denial(_CONNECT, wanted_address(one))
        elif policy.relays and _says(one, RELAY_REFUSAL):
            denial = Denial(_CONNECT, "")  # the relay has told the supervising process which host it was
        else:
            denial = _of(one, policy) if isinstance(one, PermissionError) else _of_link(one, policy)
        if denial is not None:
            return denial
    return None


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


def _of(error: PermissionError, policy: Policy) -> Denial | None:
    module, function, program, frame = _place(error)
    called, given = refused_call(frame)
    if not called and frame is not None:  # there is no source, and so what the function uses has to say it
        used = frame.tb_frame.f_code.co_names
        called = next((name for name in used if name in _SIGNALLING or name in ("fork", "mkfifo", "mknod")), "")
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    if program or called.startswith(_RUNNING) or (module in _OF_PROGRAMS and function.startswith(("_exec", "_spawn"))):
        return Denial(_RUN, program or (names or [given])[0] or "a program")
    if called in _MAKING | _NAMING or (called in _CHANGING and not names):
        made = names[-1] if names else given
        return Denial(_WRITE, _resolved(made) if made else "")
    if names:
        return _of_paths(names, policy, called)
    if called in _REACHING or module in _OF_SOCKETS:
        return Denial(_CONNECT, "" if policy.network else wanted_address(error))
    if called in _FORKING or module in _OF_PROCESSES:
        return Denial(_FORK, "") if not policy.processes else None
    if called in _SIGNALLING:
        return Denial(_SIGNAL, "")
    return Denial(_OTHER, called)


def _says(error: BaseException, words: str) -> bool:
    """Whether these words are in the text of an exception, which may raise another one when it is asked for that."""
    try:
        return words in str(error)
    except Exception:  # noqa: BLE001 - it is a plugin's own
        return False


def _of_link(error: BaseException, policy: Policy) -> Denial | None:
    """A link or a name that would take a file out of its rules, which Landlock refuses as if of another disk."""
    if not isinstance(error, OSError) or error.errno != _OTHER_DISK:
        return None
    return _of_paths([os.fsdecode(name) for name in (error.filename, error.filename2) if name], policy)


def _place(error: PermissionError) -> tuple[str, str, str, TracebackType | None]:
    """The file and the function in which it was raised, the program that was to be started, and the place itself."""
    frame, program, last = None, "", error.__traceback__
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        if frame.f_code.co_name == "_execute_child":
            executable, arguments = frame.f_locals.get("executable"), frame.f_locals.get("args")
            first = arguments[0] if isinstance(arguments, list | tuple) and arguments else arguments
            program = _text(executable) or _text(first)
        last, step = step, step.tb_next
    if frame is None:
        return "", "", program, None
    return os.path.basename(frame.f_code.co_filename), frame.f_code.co_name, program, last


def _text(value: object) -> str:
    return os.fsdecode(value) if isinstance(value, str | bytes) else ""


def _of_paths(names: list[str], policy: Policy, called: str = "") -> Denial | None:
    for name in names:
        path = _resolved(name)
        if not may_write(policy, path):
            can_read = may_read(policy, path)
            if can_read and os.path.lexists(path) and not os.access(path, os.R_OK):
                continue  # which the system refuses to this user, whatever the policy is
            # What may be read was to be written, and so was what is not there.
            is_written = can_read or called in _CHANGING or not os.path.lexists(path)
            return Denial(_WRITE if is_written and called not in _READING else _READ, path)
    return None


def _resolved(name: str) -> str:
    """The path without links, as far as they can be followed: those of another process cannot."""
    try:
        return os.path.realpath(name)
    except OSError:
        return os.path.abspath(name)


def may_write(policy: Policy, path: str) -> bool:
    """Whether a file may be written by the policy, by its path without links."""
    return any(
        _is_in(path, folder) for folder in (*policy.write, *policy.append, os.environ.get("TMPDIR") or "/dev/null")
    )


def may_read(policy: Policy, path: str) -> bool:
    """Whether a file may be read by the policy, by its path without links."""
    from ferrule.confinement.kernel import system_paths

    folders = [*policy.read, *system_paths.DEVICES, *map(os.path.realpath, system_paths.readable(with_others=False))]
    return may_write(policy, path) or any(_is_in(path, folder) for folder in folders)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def message(policy: Policy, denial: Denial) -> str:
    """What was tried and why it is not allowed, as a sentence."""
    kind = denial.kind
    if kind not in _VERBS:
        how = f" ({denial.what})" if denial.what.isidentifier() else ""
        return f"{policy.tool or 'The tool'} wanted something of the system that no tool may do{how}."
    what = shown(denial) or ("an address" if kind == _CONNECT else "a file")
    text = f"{policy.tool or 'The tool'} wanted to {_VERBS[kind].format(what)}; it {_allowed(policy, kind)}."
    refused = policy.refused if kind in (_READ, _WRITE, _RUN) else ()
    return " ".join([text, *(f"Its entry {one}, so it is not granted." for one in refused[:_MAX_REFUSED])])


def shown(denial: Denial) -> str:
    """What was tried to be reached, with `~` for the user's home."""
    home = os.environ.get("HOME", "")
    is_below = home not in ("", "/") and denial.what.startswith(home.rstrip("/") + "/")
    return "~" + denial.what[len(home.rstrip("/")) :] if is_below else denial.what


def advice(policy: Policy, denial: Denial) -> str | None:
    """How an admin allows it, which no model is told; None where no admin can."""
    if lacks_network(policy, denial):
        denial = Denial(_CONNECT, denial.what or PUBLIC)
    command = command_for(policy.tool, denial, policy.processes)
    if command is None:
        return None
    text = f"An administrator allows it by `{command}`."
    return f"{text} {declared_by_author(denial)}" if lacks_network(policy, denial) else text


def lacks_network(policy: Policy, denial: Denial) -> bool:
    """Whether a call wanted to reach something, and its tool has no network at all, as one that declares nothing."""
    return denial.kind == _CONNECT and not policy.network


def declared_by_author(denial: Denial) -> str:
    """The line of tool.json by which the tool has the network that it was refused, as a sentence."""
    return f'Its author declares it in tool.json: "permissions": {{"network": ["{_network(denial.what or PUBLIC)}"]}}.'


def command_for(tool: str, denial: Denial, processes: int = 0) -> str | None:
    """The command that allows a tool what it was refused; None where there is none. processes: that it may have."""
    option = {
        _READ: f"--read {_quoted(shown(denial))}",
        _WRITE: f"--write {_quoted(shown(denial))}",
        _RUN: f"--program {_quoted(os.path.basename(denial.what))}",
        _FORK: f"--processes {max(_MIN_PROCESSES, 2 * processes)}",
        _CONNECT: f"--network {_quoted(_network(denial.what))}",
    }.get(denial.kind)
    is_of_a_process = denial.what.startswith("/proc/")  # which is another one in the next call
    is_named = bool(denial.what) or denial.kind == _FORK
    if option is None or not tool or not is_named or is_of_a_process or not denial.what.isprintable():
        return None
    return f"ferrule permissions grant {tool} {option}"


def _quoted(word: str) -> str:
    """A word as a shell takes it: the tool has chosen it."""
    if word.isascii() and all(letter.isalnum() or letter in "_@%+=:,./~-" for letter in word):
        return word
    from shlex import quote

    return quote(word)


def _network(address: str) -> str:
    """The word for a special address, else the address itself."""
    from ferrule.confinement.networks import kind_of

    address = address.partition(" ")[0]
    if address == PUBLIC:
        return address
    kind = kind_of(address.rpartition(":")[0].strip("[]"))
    if kind is None:
        return "public"
    return kind.allowed_by or address


def _allowed(policy: Policy, kind: str) -> str:
    if kind in (_READ, _WRITE):
        return "declares no files" if not policy.read else f"does not declare that it {kind}s it"
    if kind == _CONNECT:
        places = dict.fromkeys(_NETWORKS.get(one, one) for one in policy.network)
        return f"may reach {', '.join(places)}" if places else "declares no network"
    if kind == _RUN:
        names = dict.fromkeys(os.path.basename(program) for program in policy.programs)
        return f"may run {', '.join(names)}" if names else "declares no programs"
    if kind == _FORK:
        return f"may have {policy.processes} at a time" if policy.processes else "declares no processes"
    return "may reach its own processes only"
