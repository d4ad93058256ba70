"""npm and uv that remember: what one has made of a folder is kept, and put there when it is asked the same again.

    python -I -S kept_installers.py CACHE PROGRAM ARGUMENT...

It stands in the place of the program, so that a test which adds a server installs by the code of ferrule-mcp, and
waits neither for a registry nor for an installer that has done the same before. Asked the same means: the same
arguments, and the same files by which installers are told what to install. A file is shared with what is kept, by a
link, where nothing writes to it; what `bin` has is copied, with the path of the new folder in place of the old one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

_TOLD_BY = ("package.json", "package-lock.json", "requirements.in", "requirements.lock", "constraints.txt")
_KEPT = (("install",), ("ci",), ("pip", "compile"), ("pip", "install"))
_FOLDER = b"{the-folder-of-the-environment}"


def main(cache: str, program: str, *arguments: str) -> int:
    """Run the program in the working folder, or put there what it would leave; its exit code."""
    folder = os.getcwd()
    if not any(arguments[: len(words)] == words for words in _KEPT):
        return subprocess.run([program, *arguments], check=False).returncode
    kept = os.path.join(cache, _name(program, arguments, folder))
    if not os.path.isdir(kept):
        code = subprocess.run([program, *arguments], check=False).returncode
        if code:
            return code
        _compile(folder)
        _keep(folder, kept)
        return 0
    _copy(kept, folder, _FOLDER, os.fsencode(folder))
    return 0


def _name(program: str, arguments: tuple[str, ...], folder: str) -> str:
    digest = hashlib.sha256()
    for word in (os.path.basename(program), sys.version, *arguments):
        digest.update(word.replace(folder, "").encode() + b"\0")
    for name in _TOLD_BY:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest.update(name.encode() + b"\0" + file.read() + b"\0")
    return digest.hexdigest()[:32]


def _compile(folder: str) -> None:
    """Compile the modules of an environment of Python, so that ferrule finds that done for those that are kept."""
    python = os.path.join(folder, "bin", "python")
    if os.path.exists(python):
        words = [python, "-I", "-S", "-m", "compileall", "-q", os.path.join(folder, "lib")]
        subprocess.run(words, stdout=subprocess.DEVNULL, check=False)


def _keep(folder: str, kept: str) -> None:
    """Keep a folder as a whole or not at all."""
    parent = os.path.dirname(kept)
    os.makedirs(parent, exist_ok=True)
    building = tempfile.mkdtemp(dir=parent)
    _copy(folder, building, os.fsencode(folder), _FOLDER)
    try:
        os.rename(building, kept)
    except OSError:  # another test has kept the same meanwhile
        shutil.rmtree(building)


def _copy(source: str, target: str, old: bytes, new: bytes) -> None:
    """Put the files of a folder into another one. old, new: a path in the scripts of `bin`, and what stands for it."""

    def put(file: str, place: str) -> None:
        if os.path.lexists(place):
            os.unlink(place)
        if os.path.dirname(os.path.relpath(file, source)) == "bin":
            with open(file, "rb") as opened:
                content = opened.read()
            with open(place, "wb") as opened:
                opened.write(content.replace(old, new))
            shutil.copystat(file, place)
        elif "/" in os.path.relpath(file, source):
            _link(file, place)
        else:
            shutil.copy2(file, place)

    for parent, folders, files in os.walk(source):
        inside = os.path.join(target, os.path.relpath(parent, source))
        os.makedirs(inside, exist_ok=True)
        for name in [*files, *(one for one in folders if os.path.islink(os.path.join(parent, one)))]:
            file, place = os.path.join(parent, name), os.path.join(inside, name)
            if not os.path.islink(file):
                put(file, place)
            elif not os.path.lexists(place):
                os.symlink(os.readlink(file), place)


def _link(file: str, place: str) -> None:
    try:
        os.link(file, place)
    except OSError:  # another file system
        shutil.copy2(file, place)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
