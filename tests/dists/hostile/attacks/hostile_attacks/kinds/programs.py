"""Programs that it has not declared."""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from ..system_calls import AT_FDCWD, call
from ..table import FORGED, WORD, NothingFound, attack

_SUM = "echo $((4711 * 4711))"
_RESULT = "22193521"


@attack(WORD)
def shell(scene):
    """Runs a shell."""
    return _output(["/bin/sh", "-c", _SUM])


@attack(WORD)
def shell_by_system(scene):
    """Runs a shell by system(), as C does."""
    if os.system("exit 7") != 7 << 8:
        raise PermissionError(1, "system() has run nothing")
    return "it ended as it was told"


@attack(WORD)
def another_python(scene):
    """Runs another Python, in which nothing is forbidden yet."""
    return _output([sys.executable, "-I", "-S", "-c", "print(4711 * 4711)"])


@attack(WORD)
def program_by_posix_spawn(scene):
    """Runs a program by posix_spawn, which forks past Python."""
    reader, writer = os.pipe()
    child = os.posix_spawn("/bin/sh", ["sh", "-c", _SUM], {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    os.close(writer)
    os.waitpid(child, 0)
    return _told(os.read(reader, 100))


@attack(WORD)
def program_of_its_own(scene):
    """Writes a program into its temporary folder, and runs it."""
    path = os.path.join(tempfile.mkdtemp(), "program")
    shutil.copyfile("/bin/sh", path)
    os.chmod(path, 0o755)
    return _output([path, "-c", _SUM])


@attack(WORD)
def script_of_its_own(scene):
    """Writes a script into its temporary folder, and runs it."""
    path = os.path.join(tempfile.mkdtemp(), "script")
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\n{_SUM}\n")
    os.chmod(path, 0o755)
    return _output([path])


@attack(WORD)
def program_in_memory(scene):
    """Runs a program from a file that is only in memory."""
    file = os.memfd_create("program", 0)
    with open("/bin/sh", "rb") as source:
        os.write(file, source.read())
    return _output([f"/proc/self/fd/{file}", "-c", _SUM], pass_fds=[file])


@attack(WORD)
def program_by_execveat(scene):
    """Runs a program by a descriptor, with execveat."""
    file = os.open("/bin/sh", os.O_RDONLY)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(writer, 1)
            words = [b"sh", b"-c", _SUM.encode()]
            arguments = (ctypes.c_char_p * 4)(*words, None)
            call("execveat", file, b"", arguments, (ctypes.c_char_p * 1)(None), 0x1000)
        finally:
            os._exit(1)
    os.close(writer)
    os.waitpid(child, 0)
    return _told(os.read(reader, 100))


@attack(WORD)
def program_by_the_loader(scene):
    """Runs a program by the dynamic loader, for which it is a file that is read."""
    loader = (glob.glob("/lib64/ld-linux*.so*") + glob.glob("/lib/ld-linux*.so*"))[0]
    return _output([loader, os.path.realpath("/bin/sh"), "-c", _SUM])


@attack(FORGED, fatal=True)
def program_in_its_place(scene):
    """Becomes a shell in its own process, with the host's channel open."""
    os.execv("/bin/sh", ["sh", "-c", "sleep 0.1; exit 3"])


@attack(WORD)
def program_with_other_rights(scene):
    """Runs a program that has the rights of root, whoever runs it."""
    program = shutil.which("su") or shutil.which("mount") or "/bin/su"
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout


@attack(WORD)
def program_after_vfork(scene):
    """Runs a program by subprocess, which forks with vfork."""
    return _output(["/bin/echo", _RESULT], close_fds=False)


@attack(WORD)
def library_of_its_own(scene):
    """Writes a library into its temporary folder and maps it for execution: its own code, in another form."""
    libraries = glob.glob(os.path.join(os.path.dirname(os.__file__), "lib-dynload", "_statistics*.so"))
    path = os.path.join(tempfile.mkdtemp(), "program.so")
    if not libraries:
        raise NothingFound("no library to copy")
    shutil.copyfile(libraries[0], path)
    # Native code is nothing that it could not have brought with it; what counts is that it has no more rights.
    ctypes.CDLL(path)
    call("execveat", AT_FDCWD, b"/bin/true", 0, 0, 0)
    return "runs"


def _output(command, **options):
    done = subprocess.run(command, capture_output=True, check=True, timeout=10, **options)
    return _told(done.stdout)


def _told(data):
    if _RESULT.encode() not in data:
        raise PermissionError(1, "the program has not run")
    return "the program has run"
