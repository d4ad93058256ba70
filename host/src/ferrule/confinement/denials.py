"""What a call was denied, in words, and what a policy lets it have."""

from __future__ import annotations

import os

from ferrule.confinement.policy import LOOPBACK, PRIVATE, PUBLIC, Denial
from ferrule.confinement.refused_network import WAITING

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.policy import Policy

_MAX_REFUSED = 3
READ, WRITE, CONNECT, RUN, FORK, SIGNAL, OTHER = "read", "write", "connect", "run", "fork", "signal", "other"
"""The kinds of what a call is denied."""

_OF_SOCKETS = ("AF_", "SOCK_", "IPPROTO_")
_NETWORKS = {PUBLIC: "the public web", LOOPBACK: "this machine", PRIVATE: "the local network"}
_MIN_PROCESSES = 4  # that are proposed to a tool that may have fewer
_KEYS = {READ: "read", WRITE: "write", RUN: "programs", CONNECT: "network"}  # of `permissions`
KINDS = frozenset((READ, WRITE, CONNECT, RUN, FORK, SIGNAL, OTHER))
_VERBS = {
    READ: "read {}", WRITE: "write {}", CONNECT: "reach {}", RUN: "run {}", FORK: "start a process",
    SIGNAL: "send a signal to another process",
}  # fmt: skip


def may_write(policy: Policy, path: str) -> bool:
    """Whether a file may be written by the policy, by its path without links."""
    return any(
        _is_in(path, folder) for folder in (*policy.write, *policy.append, os.environ.get("TMPDIR") or "/dev/null")
    )


def may_read(policy: Policy, path: str) -> bool:
    """Whether a file may be read by the policy, by its path without links."""
    from ferrule.confinement.policy import DEVICES, readable

    folders = [*policy.read, *DEVICES, *map(os.path.realpath, readable(with_others=False))]
    return may_write(policy, path) or any(_is_in(path, folder) for folder in folders)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def message(policy: Policy, denial: Denial) -> str:
    """What was tried and why it is not allowed, as a sentence."""
    kind, tool = denial.kind, policy.tool or "The tool"
    if kind not in _VERBS:
        if denial.what.startswith(_OF_SOCKETS):
            return f"{tool} wanted a socket of the kind {denial.what}, which no tool may have."
        how = f" ({shown(denial)})" if denial.what.partition(" ")[0].isidentifier() else ""
        return f"{tool} wanted something of the system that no tool may do{how}."
    text = f"{tool} wanted {_wanted(denial)}; it {_allowed(policy, kind)}."
    refused = policy.refused if kind in (READ, WRITE, RUN) else ()
    return " ".join([text, *(f"Its entry {one}, so it is not granted." for one in refused[:_MAX_REFUSED])])


def _wanted(denial: Denial) -> str:
    kind, what = denial.kind, shown(denial)
    if kind == FORK and what.startswith(("a lock", "memory")):
        return what
    if kind == CONNECT and what.endswith(WAITING):
        return f"to wait for connections at {what.removesuffix(WAITING).strip() or 'an address'}"
    return "to " + _VERBS[kind].format(what or ("an address" if kind == CONNECT else "a file"))


def shown(denial: Denial) -> str:
    """What was tried to be reached, with `~` for the user's home."""
    call, space, path = denial.what.rpartition(" /") if denial.kind == OTHER else ("", "", denial.what)
    path = f"/{path}" if space else path
    home = os.environ.get("HOME", "")
    is_below = home not in ("", "/") and path.startswith(home.rstrip("/") + "/")
    path = "~" + path[len(home.rstrip("/")) :] if is_below else path
    return f"{call} {path}" if space else path


def advice(policy: Policy, denial: Denial) -> str | None:
    """How an admin allows it, which no model is told; None where no admin can."""
    if lacks_network(policy, denial):
        denial = Denial(CONNECT, denial.what or PUBLIC)
    command = command_for(policy.tool, denial, policy.processes, policy.granted_by)
    if command is None:
        return None
    together = policy.granted_by and command.startswith(policy.granted_by)
    text = f"An administrator allows it{' to all tools that come with it' if together else ''} by `{command}`."
    return f"{text} {declared_by_author(denial)}" if lacks_network(policy, denial) else text


def lacks_network(policy: Policy, denial: Denial) -> bool:
    """Whether a call wanted to reach something, and its tool has no network at all, as one that declares nothing."""
    return denial.kind == CONNECT and not policy.network


def declared_by_author(denial: Denial) -> str:
    """The line of tool.json by which the tool has the network that it was refused, as a sentence."""
    return f'Its author declares it in tool.json: "permissions": {{"network": ["{_network(denial.what or PUBLIC)}"]}}.'


def command_for(tool: str, denial: Denial, processes: int = 0, granted_by: str = "") -> str | None:
    """The command that allows a tool what it was refused; None if there is none.

    Args:
        tool: its name.
        denial: what it was refused.
        processes: that it may have.
        granted_by: see `Policy`.
    """
    entry = _entry(denial)
    option = {
        READ: f"--read {_quoted(entry)}",
        WRITE: f"--write {_quoted(entry)}",
        RUN: f"--program {_quoted(entry)}",
        FORK: f"--processes {max(_MIN_PROCESSES, 2 * processes)}",
        CONNECT: f"--network {_quoted(entry)}",
    }.get(denial.kind)
    is_of_a_process = denial.what.startswith("/proc/")  # which is another one in the next call
    is_named = bool(denial.what) or denial.kind == FORK
    is_nowhere = denial.what.endswith(WAITING) and _network(denial.what) != LOOPBACK  # where no tool may wait
    if option is None or not tool or not is_named or is_of_a_process or is_nowhere or not denial.what.isprintable():
        return None
    if granted_by and denial.kind in _KEYS:
        return f"{granted_by} {_quoted(f'{_KEYS[denial.kind]}={entry}')}"
    return f"ferrule permissions grant {tool} {option}"


def _entry(denial: Denial) -> str:
    """What permissions have for it, as far as they have anything."""
    if denial.kind == RUN:
        return os.path.basename(denial.what)
    return _network(denial.what) if denial.kind == CONNECT else shown(denial)


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
    if kind in (READ, WRITE):
        return "declares no files" if not policy.read else f"does not declare that it {kind}s it"
    if kind == CONNECT:
        places = dict.fromkeys(_NETWORKS.get(one, one) for one in policy.network)
        return f"may reach {', '.join(places)}" if places else "declares no network"
    if kind == RUN:
        names = dict.fromkeys(os.path.basename(program) for program in policy.programs)
        return f"may run {', '.join(names)}" if names else "declares no programs"
    if kind == FORK:
        return f"may have {policy.processes} at a time" if policy.processes else "declares no processes"
    return "may reach its own processes only"
