"""The bytecode of what tools import, which some installers leave to the first import, as uv does.

The process of a tool may not write beside what it imports. So where there is no bytecode, each call compiles all that
its tool imports anew, which takes as long as the call. `ferrule link` compiles it once, as pip does when it installs.
A Python that uv has installed, and that of some container images, has its standard library as source, too.
"""

from __future__ import annotations

import os
import stat
import sysconfig
import warnings
from functools import partial
from importlib.util import MAGIC_NUMBER, cache_from_source
from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.plugin.requirements import brought_by
from ferrule.trust.lock.installed_files import read_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_COPIES = min(os.cpu_count() or 1, 8)
_SECONDS = 60.0  # for the files of one distribution
_MEMORY_MIB = 1024.0
_MAX_SOURCE_BYTES = 1 << 22
_HEAD_BYTES = 16  # of bytecode: for which Python, what it is, the time and size of its source, four bytes each
_SHARE = 0.1  # of the files of a distribution: more than that, and no installer has compiled it
_HOST = "ferrule"
_NOT_IMPORTED = ("__pycache__", "idlelib", "lib2to3", "site-packages", "dist-packages", "test", "tests", "turtledemo")


def find_uncompiled(distributions: Iterable[str]) -> dict[str, list[str]]:
    """The source files that have no bytecode, or that of another state, and may get some; by the distribution.

    They are those of the distributions, of what these may import by their metadata, of the host, and of the standard
    library, which is called `python`. Passed over are files that no RECORD lists, such as those of an editable
    installation, and the few of a distribution that an installer has compiled and which cannot be, such as those for
    another version of Python.
    """
    folders: dict[str, str] = {}
    for metadata in discovery.metadata_folders():
        folders.setdefault(discovery.name_and_version(metadata)[0], metadata)
    names = {_HOST, *(name for one in distributions for name in brought_by(one))}
    found = {name: _find_in(folders[name]) for name in sorted(names) if name in folders}
    found["python"] = _find_in_standard_library()
    return {name: files for name, files in found.items() if files}


def compile_files(files: Sequence[str]) -> int:
    """Compile source files of one distribution; how many of them have bytecode then.

    It is done in copies of this process, one for each processor: a file may be made to end the compiler, which costs
    those that its copy has not come to. None of the code runs.
    """
    from ferrule.supervision.bounded import run_bounded

    parts = [files[number::_COPIES] for number in range(min(_COPIES, len(files)))]
    run_bounded([partial(_compile, part) for part in parts], seconds=_SECONDS, memory_mib=_MEMORY_MIB)
    return sum(map(_is_compiled, files))


def _find_in(metadata: str) -> list[str]:
    root = os.path.dirname(os.path.abspath(metadata))
    sources = [os.path.join(root, name) for name, _ in read_record(metadata) if name.endswith(".py")]
    found = [path for path in sources if not _is_compiled(path) and _may_be_compiled(path, root)]
    return found if len(found) > _SHARE * len(sources) else []


def _find_in_standard_library() -> list[str]:
    root = os.path.realpath(sysconfig.get_path("stdlib"))
    try:
        modules = [name.removesuffix(".py") for name in os.listdir(root) if name.endswith(".py")]
    except OSError:
        return []
    missing = sum(not os.path.exists(cache_from_source(os.path.join(root, f"{name}.py"))) for name in modules)
    if missing <= _SHARE * len(modules):
        return []  # which is so nearly everywhere, and takes no look at the rest
    return [path for path in _walk(root) if not _is_compiled(path) and _may_be_compiled(path, root)]


def _walk(root: str) -> Iterator[str]:
    """The source files below a folder that programs import."""
    for parent, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOT_IMPORTED]
        yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(".py"))


def _is_compiled(path: str) -> bool:
    """Whether the interpreter would take the bytecode that is there, or whatever it is that is there."""
    try:
        source = os.stat(path)
        file = os.open(cache_from_source(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            head = os.read(file, _HEAD_BYTES)
        finally:
            os.close(file)
    except (OSError, NotImplementedError):
        return False
    kind, modified, size = (int.from_bytes(head[start : start + 4], "little") for start in (4, 8, 12))
    is_of_source = (modified, size) == (int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF)
    return head[:4] == MAGIC_NUMBER and (kind != 0 or is_of_source)  # another kind is known by a digest


def _may_be_compiled(path: str, root: str) -> bool:
    """Whether it is source, and its bytecode would be written below the folder of the installation, by this user."""
    try:
        facts = os.stat(path)
    except OSError:
        return False
    folder = os.path.realpath(os.path.dirname(cache_from_source(path)))
    is_inside = folder.startswith(os.path.realpath(root) + os.sep)
    is_source = stat.S_ISREG(facts.st_mode) and facts.st_size <= _MAX_SOURCE_BYTES
    return is_source and is_inside and os.access(os.path.dirname(path), os.W_OK)


def _compile(files: Sequence[str]) -> None:
    import py_compile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in files:
            try:
                py_compile.compile(path, doraise=True, quiet=2)
            except Exception:  # noqa: BLE001, S112 - it is left as it is, like what is for another version of Python
                continue
