"""The files of the distribution that a tool comes from: what its RECORD says of them, and whether they are so.

A distribution without a RECORD of its modules, such as an editable one, is taken by the files of the package that the
tool is in. Compiled files (`__pycache__`) are not looked at, and neither is what the installer writes itself.
"""

from __future__ import annotations

import base64
import csv
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ferrule.schema import schema_file
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool

_OF_THE_INSTALLER = ("INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json")
_IMPORTED = (".py", ".pyc", ".so", ".pyd")
_MAX_SHOWN = 3
_SHA256 = "sha256="


class InstalledFiles:
    """The files of a tool. listed: what RECORD says, by path from the folder of the installation. root: that folder.

    sources: the files of the tool's package where RECORD does not list them, by path from `base`.
    """

    def __init__(self, tool: InstalledTool) -> None:
        self.root = os.path.dirname(os.path.abspath(tool.metadata))
        self.listed = dict(read_record(tool.metadata))
        self.module_file = schema_file.find_module_file(tool.module)
        top = schema_file.find_module_file(tool.module.partition(".")[0]) or self.module_file
        self.base = ""
        self.sources: list[str] = []
        if top and os.path.relpath(os.path.abspath(top), self.root) not in self.listed:
            self.base, self.sources = _sources(os.path.abspath(top))

    @property
    def are_known(self) -> bool:
        """Whether the module of the tool is among them; not where an import hook finds it."""
        return self.module_file is not None

    def paths(self) -> list[str]:
        """All files, and the folders whose times say whether others have come."""
        listed = [os.path.join(self.root, name) for name in self.listed]
        sources = [os.path.join(self.base, name) for name in self.sources]
        folders = sorted({os.path.dirname(path) for path in (*listed, *sources)})
        return [*folders, *listed, *sources]

    def digests(self) -> dict[str, str]:
        """The digest of each file by its path: as RECORD says it, else of what is there."""
        return {**self.listed, **{f"./{name}": _digest(os.path.join(self.base, name)) or "" for name in self.sources}}

    def problems(self) -> list[str]:
        """What is not as RECORD says, as ends of a sentence; each hashes its file."""
        wrong = [name for name, digest in self.listed.items() if _is_wrong(os.path.join(self.root, name), digest)]
        return [
            *_told(wrong, "is not as RECORD has it", "are not as RECORD has them"),
            *_told(sorted(self._unlisted()), "is not in RECORD", "are not in RECORD"),
        ]

    def _unlisted(self) -> Iterator[str]:
        """Modules that nobody has installed, in the packages of the distribution and beside its modules."""
        if self.sources:
            return
        for package in self._packages():
            for path in _walk(os.path.join(self.root, package)):
                name = os.path.relpath(path, self.root)
                if name.endswith(_IMPORTED) and name not in self.listed:
                    yield name
        stems = {name.removesuffix(".py") for name in self.listed if name.endswith(".py") and "/" not in name}
        for name in _names(self.root) if stems else ():
            if name.partition(".")[0] in stems and name.endswith(_IMPORTED) and name not in self.listed:
                yield name

    def _packages(self) -> set[str]:
        """The outermost packages; a folder without `__init__.py` may be shared with other distributions."""
        packages = {os.path.dirname(name) for name in self.listed if os.path.basename(name) == "__init__.py"}
        return {package for package in packages if os.path.dirname(package) not in packages}


class _Line(NamedTuple):
    name: str
    digest: str
    size: str


def read_record(metadata: str) -> Iterator[tuple[str, str]]:
    """The files of RECORD with their digests, without scripts, which every environment has written anew."""
    try:
        with open(os.path.join(metadata, "RECORD"), encoding="utf-8", newline="") as file:
            lines = [_Line(*line) for line in csv.reader(file) if len(line) == len(_Line._fields)]
    except (OSError, ValueError, csv.Error):
        return
    for line in lines:
        name = os.path.normpath(line.name)  # which may lead out in its midst, too
        is_inside = not name.startswith(("../", "/")) and ".data/scripts/" not in name
        is_own = os.path.basename(name) not in _OF_THE_INSTALLER and not _is_editable(metadata, name)
        if line.digest and is_inside and is_own:
            yield name, _as_hexadecimal(line.digest)


def _is_editable(metadata: str, name: str) -> bool:
    """Whether it names the folder of an editable installation, and does nothing else; that differs by machine."""
    if not name.endswith(".pth"):
        return False
    try:
        with open(os.path.join(os.path.dirname(metadata), name), encoding="utf-8") as file:
            lines = file.read().split()
    except (OSError, ValueError):
        return False
    return len(lines) == 1 and os.path.isabs(lines[0])


def _as_hexadecimal(digest: str) -> str:
    """`sha256=` and hexadecimal digits, from the base64 that RECORD has; another algorithm's as it is."""
    algorithm, _, value = digest.partition("=")
    if algorithm != "sha256":
        return digest
    try:
        return _SHA256 + base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    except ValueError:
        return digest


def _is_wrong(path: str, digest: str) -> bool:
    algorithm, _, value = digest.partition("=")
    if algorithm == "sha256":
        return _digest(path) != digest
    import hashlib

    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, algorithm).digest()
    except (OSError, ValueError, TypeError):
        return True
    return base64.urlsafe_b64encode(found).decode().rstrip("=") != value.rstrip("=")


def _digest(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return _SHA256 + sha256_hex(file.read())
    except OSError:
        return None


def _sources(top: str) -> tuple[str, list[str]]:
    """The folder, and the files in it, of a package or a plain module, by the file that is imported for it."""
    folder, name = os.path.split(top)
    if name == "__init__.py":
        base = os.path.dirname(folder)
        return base, [os.path.relpath(path, base) for path in _walk(folder)]
    stem = name.removesuffix(".py")
    return folder, [one for one in _names(folder) if one.partition(".")[0] == stem and not one.endswith("~")]


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not name.startswith("."))
        yield from (os.path.join(parent, name) for name in sorted(names) if not name.startswith("."))


def _names(folder: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return []


def _told(names: Iterable[str], one: str, several: str) -> list[str]:
    found = list(names)
    if not found:
        return []
    more = f" and {len(found) - _MAX_SHOWN} more" if len(found) > _MAX_SHOWN else ""
    return [f"{', '.join(found[:_MAX_SHOWN])}{more} {one if len(found) == 1 else several}"]
