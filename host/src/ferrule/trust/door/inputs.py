"""The files by which the answer for a tool was found. Each change of one of them is a change of its stamp.

What a tool is given depends on config.toml; on which distributions are installed, whose folders an installer changes;
on the tool's metadata, module, `tool.json` and schema, or on their absence; on the records of the state folder; and on
the host's own code, which a user may install from its source.
"""

from __future__ import annotations

import os
import sys

from ferrule.config.own_folders import state_folder
from ferrule.schema import schema_file
from ferrule.trust import accepted_version
from ferrule.trust.credentials import claims, declared_keys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool

_METADATA = ("", "METADATA", "PKG-INFO", "RECORD", "INSTALLER", "entry_points.txt", "direct_url.json")
_OF_HOST = (
    *("", "config", "confinement", "plugin/admission", "schema", "schema/rules", "storage"),
    *("trust", "trust/credentials", "trust/door", "trust/resolution"),
)


def find_inputs(tool: InstalledTool, settings: Configuration) -> list[str]:
    """The paths of all these files and folders, also of those that are not there."""
    found = [
        settings.path,
        settings.lock_path,
        *sys.path,
        *(os.path.join(tool.metadata, name) for name in _METADATA),
        *_files_of_code(tool),
        *_records(tool),
        *_code_of_host(),
    ]
    return list(dict.fromkeys(found))


def _files_of_code(tool: InstalledTool) -> Iterator[str]:
    """The module, the folders in which its files are, these files, and where another module of its name would be.

    What comes into a folder of the path changes that folder; a package in it may be one already.
    """
    head, inner = tool.module.partition(".")[0], tool.module.replace(".", "/")
    for folder in sys.path:
        if not os.path.isdir(os.path.join(folder, head)):
            continue
        yield from (os.path.join(folder, name) for name in (f"{head}/__init__.py", f"{inner}/__init__.py"))
        yield os.path.join(folder, f"{inner}.py")
        yield from (os.path.join(folder, name) for name in (f"{inner}/schema.json", f"{inner}.schema.json"))
    file = schema_file.find_module_file(tool.module)
    if file is None:
        return
    folder = os.path.dirname(file)
    for _ in range(tool.module.count(".") + 1):
        yield folder
        folder = os.path.dirname(folder)
    yield from schema_file.find_beside(tool.value, schema_file.DECLARATION)
    schema = schema_file.find_for_tool(tool)
    if schema:
        yield schema


def _records(tool: InstalledTool) -> Iterator[str]:
    """What was accepted, what its hook has named, and whose which credential is: each is replaced as a whole."""
    yield accepted_version.path_of(tool.name)
    yield declared_keys.path_of(tool.name)
    yield claims.path_of(tool.name)
    yield os.path.join(state_folder(), claims.FOLDER)


def _code_of_host() -> Iterator[str]:
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    yield from (os.path.join(package, name) for name in _OF_HOST)
