"""The tools of a source: what no distribution offers, such as the tools of a server, as data.

A distribution names its source in the group `ferrule.sources`: the value is a function that makes the plugin of one
tool, `function(folder, tool) -> module with hooks`. `SourceTools` writes what belongs together, such as all tools of
one server, as an installer would: metadata with the entry points, which is all that discovery reads, a package with
the schemas, a `tool.json`, and whatever files the source needs. ferrule does with these all that it does with a tool.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from ferrule import discovery
from ferrule.config.own_folders import data_folder, sources_folder
from ferrule.errors import InputError, SourceError, ToolNameClash, no_tool_name
from ferrule.schema import schema_file
from ferrule.storage import locked
from ferrule.text import strict_json
from ferrule.text.names import is_tool_name, same_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

_PREFIX = "source_"
_LOCK_SECONDS = 30.0
_MAX_NAME_CHARACTERS = 64
_FILE_MODE, _FOLDER_MODE = 0o644, 0o755  # at most: what a tool runs is written by nobody else, whatever the umask is
_WORKING_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_OWN_FILES = ("__init__.py", schema_file.DECLARATION)
_CODE = '''\
"""Tools of the source {source!r}, written by ferrule. Change them by the commands of that source."""

from {module} import {function} as _make_tool


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(name)
    return _make_tool(__path__[0], name)
'''
_METADATA = """\
Metadata-Version: 2.1
Name: {distribution}
Version: {version}
Summary: {summary}
Requires-Dist: {requirement}
"""


class SourceTools:
    """What a source has installed under one name.

    Args:
        source: the name in the group `ferrule.sources`, such as `mcp`.
        name: of letters and digits in lower case, and single underscores between them, such as `git`; 64 at most.
        data: the data folder of the processes that are to find the tools, by default that of this one.

    Raises InputError for another name, and for a data folder that is relative: each process would have another one.
    """

    def __init__(self, source: str, name: str, data: str = "") -> None:
        if not _is_source_name(name):
            hint = "It has lower case letters, digits, and single underscores between them, such as `git_2`."
            raise InputError(f"{name!r} is no name for tools of the source {source!r}.", hint=hint)
        self._sources = sources_folder(data)
        if not os.path.isabs(self._sources):
            raise InputError(
                f"The data folder {data or data_folder()!r} is no absolute path.", hint="Set FERRULE_DATA."
            )
        self.source = source
        self.name = name
        self.module = f"{_PREFIX}{source}_{name}"

    @property
    def distribution(self) -> str:
        """The name under which all that ferrule shows has its tools."""
        return same_distribution(self.module)

    @property
    def folder(self) -> str:
        """The package with the schemas and the files of the source."""
        return os.path.join(self._sources, self.module)

    @property
    def metadata(self) -> str | None:
        """The folder of the metadata; None where nothing is installed under this name."""
        return next((path for path in _metadata_folders(self._sources) if _module_of(path) == self.module), None)

    @property
    def version(self) -> str:
        """The version that is installed; empty where none is."""
        return discovery.name_and_version(self.metadata)[1] if self.metadata else ""

    def tools(self) -> list[InstalledTool]:
        """Its tools by name, without those of other distributions."""
        claims = discovery.scan([self._sources])
        return [one for _, found in sorted(claims.items()) for one in found if one.module == self.module]

    def read(self, file: str) -> bytes | None:
        """The bytes of one of its files; None where it is not there. Raises OSError for one that cannot be read."""
        try:
            with open(os.path.join(self.folder, file), "rb") as stream:
                return stream.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def check(self, schemas: Mapping[str, JSONObject]) -> None:
        """Raise where these tools cannot be installed.

        Raises SchemaInvalid for a schema that the client or a provider would not take, ToolNameClash for a name that
        another distribution has, and ToolUnavailable for one that is none.
        """
        claims = discovery.scan()
        for tool, schema in schemas.items():
            if not is_tool_name(tool):
                raise no_tool_name(tool)
            new = self._describe(tool, "")
            if others := [one for one in claims.get(tool, ()) if one.module != self.module]:
                raise _clash(new, others)
            schema_file.require_valid(schema, new)

    def write(
        self,
        version: str,
        schemas: Mapping[str, JSONObject],
        declaration: JSONObject,
        files: Mapping[str, bytes],
        summary: str = "",
    ) -> None:
        """Install its tools, in place of those that it has now: all of them, or none.

        Args:
            version: of letters, digits, dots, `+` and `_`.
            schemas: of each tool, as `--schema` prints it.
            declaration: the content of `tool.json`, which holds for all of them.
            files: more files by name, which `folder` has.
            summary: one line about them.

        Raises what `check` raises, SourceError where no distribution has the source, OSError and TimeoutError.
        """
        self.check(schemas)
        if not version or not set(version) <= _VERSION or set(files) & set(_OWN_FILES):
            raise InputError(
                f"{version!r} is no version of {self.distribution}, or a file has the name of another one."
            )
        _make_folder(self._sources)
        with self._hold_stage() as made:
            metadata = f"{self.module}-{version}.dist-info"
            package = {"__init__.py": self._code(), schema_file.DECLARATION: strict_json.dumps(declaration), **files}
            package |= {f"{tool}.schema.json": strict_json.dumps(schema) for tool, schema in schemas.items()}
            written = {f"{self.module}/{name}": data for name, data in package.items()}
            written |= {f"{metadata}/{name}": data for name, data in self._metadata(version, schemas, summary).items()}
            _write_all(made, written, f"{metadata}/RECORD")
            self._put(made, metadata)

    def remove(self) -> bool:
        """Uninstall its tools; whether there were any. Raises OSError and TimeoutError."""
        if not os.path.isdir(self._sources):
            return False
        with self._hold_stage() as gone:
            return self._take_out(gone)

    @contextlib.contextmanager
    def _hold_stage(self) -> Iterator[str]:
        """An empty folder next to what is installed, which goes away, while no other process changes a source.

        What a process that was killed has left of these tools goes first. Raises TimeoutError.
        """
        with locked(os.path.join(self._sources, ".lock"), _LOCK_SECONDS):
            prefix = f".{self.module}-"
            for name in os.listdir(self._sources):
                if name.startswith(prefix):
                    shutil.rmtree(os.path.join(self._sources, name), ignore_errors=True)
            made = tempfile.mkdtemp(prefix=prefix, dir=self._sources)
            try:
                yield made
            finally:
                shutil.rmtree(made, ignore_errors=True)

    def _put(self, made: str, metadata: str) -> None:
        """Put what was made in place of what is installed, which is found all the time where the system can do that.

        Args:
            made: the folder with the new package and the new metadata, which gets the old ones.
            metadata: the name of the new metadata.
        """
        package, new = os.path.join(made, self.module), os.path.join(made, metadata)
        target, old = os.path.join(self._sources, metadata), self.metadata
        if old and os.path.isdir(self.folder) and _exchange(package, self.folder):
            if _exchange(new, old):
                os.rename(old, target)
                return
            _exchange(package, self.folder)
        self._take_out(made)
        os.rename(package, self.folder)
        os.rename(new, target)

    def _take_out(self, folder: str) -> bool:
        """Move what is installed into a folder, the metadata first: what is not whole is not found."""
        old = [path for path in (self.metadata, self.folder) if path and os.path.lexists(path)]
        for path in old:
            os.rename(path, os.path.join(folder, f"old-{os.path.basename(path)}"))
        return bool(old)

    def _describe(self, tool: str, version: str) -> InstalledTool:
        metadata = os.path.join(self._sources, f"{self.module}-{version}.dist-info")
        return discovery.InstalledTool(tool, f"{self.module}:{tool}", self.distribution, version, metadata)

    def _code(self) -> bytes:
        """The package's own module. Raises SourceError where no distribution has the source, or several have."""
        found = {value for name, value, _ in discovery.entry_points(discovery.SOURCES) if name == self.source}
        if len(found) != 1:
            why = "More than one distribution has" if found else "No installed distribution has"
            raise SourceError(f"{why} the source {self.source!r}.", hint="Install exactly one that has it.")
        module, _, function = found.pop().partition(":")
        return _CODE.format(source=self.source, module=module, function=function).encode()

    def _metadata(self, version: str, tools: Mapping[str, object], summary: str) -> dict[str, bytes]:
        owners = [source for name, _, source in discovery.entry_points(discovery.SOURCES) if name == self.source]
        facts = {"distribution": self.distribution, "version": version, "summary": " ".join(summary.split())}
        lines = [f"{tool} = {self.module}:{tool}" for tool in sorted(tools)]
        return {
            "METADATA": _METADATA.format(**facts, requirement=owners[0].partition(" ")[0]).encode(),
            "INSTALLER": b"ferrule\n",
            "entry_points.txt": "\n".join([f"[{discovery.TOOLS}]", *lines, ""]).encode(),
        }


_VERSION = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+_")


def find_sources(source: str) -> list[SourceTools]:
    """All that a source has installed, by name."""
    start = f"{_PREFIX}{source}_"
    modules = sorted({_module_of(path) for path in _metadata_folders(sources_folder())})
    names = [one.removeprefix(start) for one in modules if one.startswith(start)]
    return [SourceTools(source, name) for name in names if _is_source_name(name)]


def _is_source_name(name: str) -> bool:
    is_plain = is_tool_name(name) and name == same_distribution(name).replace("-", "_")
    return is_plain and len(name) <= _MAX_NAME_CHARACTERS


def _metadata_folders(sources: str) -> Iterator[str]:
    names = sorted(os.listdir(sources)) if os.path.isdir(sources) else []
    return (os.path.join(sources, name) for name in names if name.endswith(".dist-info"))


def _module_of(metadata: str) -> str:
    return os.path.basename(metadata).partition("-")[0]


def _write_all(folder: str, files: Mapping[str, bytes], record: str) -> None:
    """Write files by their paths in a folder, and the RECORD of them."""
    lines = []
    for name, data in files.items():
        path = os.path.join(folder, name)
        _make_folder(os.path.dirname(path))
        with open(path, "wb", opener=_open_as_ours) as stream:
            stream.write(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    with open(os.path.join(folder, record), "w", encoding="utf-8", opener=_open_as_ours) as text:
        text.writelines([*lines, f"{record},,\n"])


def _exchange(one: str, other: str) -> bool:
    """Let two folders change places in one step; False where the system or the disk cannot."""
    import ctypes

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    done: int = rename(_WORKING_FOLDER, os.fsencode(one), _WORKING_FOLDER, os.fsencode(other), _EXCHANGE)
    return done == 0


def _open_as_ours(path: str, flags: int) -> int:
    return os.open(path, flags, _FILE_MODE)


def _make_folder(path: str) -> None:
    """Make a folder, and those above it that are missing, which nobody else may write to."""
    if not os.path.isdir(path):
        _make_folder(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):  # another process was first
            os.mkdir(path, _FOLDER_MODE)


def _clash(new: InstalledTool, others: list[InstalledTool]) -> ToolNameClash:
    found = discovery.clash(new.name, [new, *others])
    found.hint = "Give it another name or prefix."
    return found
