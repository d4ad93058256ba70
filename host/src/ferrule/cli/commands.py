"""The subcommands of `ferrule`: those of the host, and those of the entry-point group `ferrule.commands`.

A distribution adds one with the entry point `NAME = "module:attribute"`, where the attribute is a `click.Command`. Its
line of help is the first line of the module's docstring, which is read from the file: listing imports nothing.
"""

from __future__ import annotations

import ast
import importlib

import click

from ferrule import discovery
from ferrule.admin.entry_point import EntryPoint, entry_points
from ferrule.schema.schema_file import find_module_file

BUILT_IN = {
    "list": "List the installed tools.",
    "show": "Show all that is known of one tool.",
    "validate": "Check schemas: of tools, of executables, of drafts.",
    "schema": "Print the schema that a function makes, or write its file.",
    "schemas": "Print the schemas of tools as a provider takes them.",
    "run": "Call a tool.",
    "log": "Show the journal of calls.",
    "link": "Write the executables that the client starts.",
    "lock": "Keep tools as they are accepted, and show what changes.",
    "unlink": "Remove executables that `ferrule link` wrote.",
    "credentials": "Show and set the credentials that tools need.",
    "permissions": "Show and change what the tools may touch.",
    "cache": "Show, explain and empty the cache.",
    "keep": "Show and stop what keeps tools ready between calls.",
    "doctor": "Find what is wrong: links, plugins, credentials, configuration.",
    "install": "Install packages with tools beside ferrule.",
    "uninstall": "Uninstall packages with tools.",
    "completion": "Print the completion script of a shell.",
}
"""Each command of the host and what it is for; here, so that --help imports none of them."""

_ROOMS = {
    "tools": ("list", "show", "run", "validate", "schema", "schemas"),
    "setup": ("install", "uninstall", "link", "unlink", "credentials"),
    "upkeep": ("doctor", "lock", "log", "permissions", "cache", "keep"),
}

_NO_HELP = "(its module cannot be read)"


def plugin_commands() -> dict[str, EntryPoint]:
    """The commands of installed distributions by name. A name of the host's is passed over."""
    return entry_points(discovery.COMMANDS, BUILT_IN)[0]


def help_lines() -> dict[str, str]:
    """One line for each command of installed distributions, by name; no module is imported."""
    return {
        name: one.clash("command").message if one.rivals else _first_line_of_docstring(one.module)
        for name, one in plugin_commands().items()
    }


def module_of(name: str) -> str:
    """The module of a command of the host."""
    room = next((room for room, names in _ROOMS.items() if name in names), None)
    return ".".join(filter(None, ("ferrule.cli", room, name)))


def load(name: str) -> click.Command | None:
    """The command of that name, imported now; None if there is none. Raises FerruleError for a broken one."""
    if name in BUILT_IN:
        command: click.Command = importlib.import_module(module_of(name)).command
        return command
    found = plugin_commands().get(name)
    return load_added(found) if found else None


def load_added(one: EntryPoint) -> click.Command:
    """The command of an installed distribution, imported now. Raises FerruleError for a broken one."""
    command = one.load("command")
    if not isinstance(command, click.Command):
        raise one.unusable("command", "is not a click command")
    return command


def _first_line_of_docstring(module: str) -> str:
    file = find_module_file(module)
    if file is None:
        return _NO_HELP
    try:
        with open(file, "rb") as source:
            docstring = ast.get_docstring(ast.parse(source.read()))
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):  # the last two of an endless nesting
        return _NO_HELP
    return docstring.splitlines()[0] if docstring else ""
