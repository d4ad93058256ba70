"""What is checked: an executable, and what is known of it before it runs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrule import config, discovery
from ferrule.admin.author_interface import (
    Declaration,
    MalformedDeclaration,
    interpreter,
    inventory,
    linked_executables,
    read_declaration,
)
from ferrule.errors import FerruleError
from ferrule.installed import unknown_tool
from ferrule.text.names import executable_name, tool_name
from ferrule_dev.conformance.runs.surroundings import is_credential_name

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject

_MAX_READ_BYTES = 16 << 20
_VARIABLE = re.compile(rb"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![A-Za-z0-9_])")
_PYTHON = re.compile(rb"^#!.*\bpython[\d.]*\b")


@dataclass
class Target:
    """One executable. name: as the user wrote it. tool: what is installed and started by it, where that is known.

    credentials: the variables that hold its credentials. examples: arguments that the author gives. declaration: the
    tool's. declaration_problem: why it cannot be read.
    """

    name: str
    path: str
    tool: InstalledTool | None = None
    entry: inventory.Entry | None = None
    credentials: list[str] = field(default_factory=list)
    examples: list[JSONObject] = field(default_factory=list)
    declaration: Declaration = field(default_factory=Declaration)
    declaration_problem: str | None = None

    @property
    def is_python(self) -> bool:
        """Whether its first line names Python."""
        return bool(_PYTHON.match(_read(self.path, 256)))


def find_target(name: str, folder: str) -> Target:
    """The installed tool of that name, or else the executable at that path.

    folder: where an executable is written for a tool that has none. Raises FerruleError if there is neither.
    """
    claims = discovery.scan()
    if name in claims and "/" not in name:
        return _of_tool(name, discovery.find(name, config.read()), None, folder)
    if not os.path.exists(name):
        error = unknown_tool(name, claims)
        error.message = f"{name!r} is neither an installed tool nor a file."
        if "/" in name:  # no tool is meant
            error.hint = "Name the path of an executable."
        raise error
    path = os.path.abspath(name)
    if os.path.isdir(path):
        raise FerruleError(f"{name} is a folder.", hint="Name the executable in it.")
    facts = linked_executables.read_facts(path)
    tool = facts["tool"] if facts else tool_name(path)
    if tool in claims and (facts or os.path.realpath(path) == os.path.realpath(_beside(tool))):
        return _of_tool(name, discovery.find(tool, config.read()), path, folder)
    return Target(name, path, credentials=credentials_in(path))


def credentials_in(path: str) -> list[str]:
    """The names of credentials that stand in a file: `WEATHER_API_KEY`."""
    names = {one.decode() for one in _VARIABLE.findall(_read(path, _MAX_READ_BYTES))}
    return sorted(name for name in names if is_credential_name(name))


def _of_tool(name: str, tool: InstalledTool, path: str | None, folder: str) -> Target:
    entry = inventory.examine(inventory.Entry(tool.name, [tool]), config.read(), load=True)
    path = path or _beside(tool.name)
    if not os.access(path, os.X_OK):
        if entry.schema is None:
            raise entry.error or FerruleError(f"{tool.name} is {entry.state}.")
        link = linked_executables.Link(tool, entry.schema, {})
        linked_executables.write(link, folder)
        path = os.path.join(folder, link.file_name())
    secrets = [one["environment"] for one in entry.credentials if one["secret"]]
    target = Target(name, path, tool, entry, secrets)
    try:
        target.declaration = read_declaration(tool.value)
    except MalformedDeclaration as error:
        target.declaration_problem = str(error)
    target.examples = list(target.declaration.examples)
    return target


def _beside(tool: str) -> str:
    return os.path.join(os.path.dirname(interpreter()), executable_name(tool))


def _read(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return b""
