"""The subcommands of `ferrule`: those of the host, and those of the entry-point group `ferrule.commands`.

A distribution adds one with the entry point `NAME = "module:attribute"`, where the attribute is a `click.Command`. Its
line of help is the first line of the module's docstring, which is read from the file: listing imports nothing.
"""

from __future__ import annotations

import ast
import importlib
from typing import NamedTuple

import click

from ferrule import discovery
from ferrule.errors import FerruleError
from ferrule.schema.schema_file import locate_module

BUILT_IN = {
    "list": "List the installed tools.",
    "show": "Show all that is known of one tool.",
    "validate": "Check schemas: of tools, of executables, of drafts.",
    "schemas": "Print the schemas of tools as a provider takes them.",
    "run": "Call a tool.",
    "link": "Write the executables that the client starts.",
    "unlink": "Remove executables that `ferrule link` wrote.",
    "credentials": "Show and set the credentials that tools need.",
    "cache": "Show, explain and empty the cache.",
    "doctor": "Find what is wrong: links, plugins, credentials, configuration.",
    "new": "Start a plugin of your own.",
    "completion": "Print the completion script of a shell.",
}
"""Each command of the host and what it is for; here, so that --help imports none of them."""

_NO_HELP = "(its module cannot be read)"


class PluginCommand(NamedTuple):
    """An entry point of the group `ferrule.commands`. source: the distribution that offers it, and its version."""

    name: str
    value: str
    source: str

    @property
    def help(self) -> str:
        """One line, from the docstring of its module; the module is not imported."""
        return _first_line_of_docstring(self.value.partition(":")[0])

    def load(self) -> click.Command:
        """Import it. Raises FerruleError that names the command where the distribution cannot provide it."""
        module, _, attribute = self.value.partition(":")
        try:
            command = getattr(importlib.import_module(module), attribute)
        except Exception as error:
            raise self._broken(f"{self.value} cannot be loaded ({type(error).__name__}: {error})") from error
        if not isinstance(command, click.Command):
            raise self._broken(f"{self.value} is not a click command")
        return command

    def _broken(self, why: str) -> FerruleError:
        return FerruleError(
            f"The command {self.name!r} of {self.source} cannot be used: {why}.",
            hint=f"Update or uninstall {self.source.partition(' ')[0]}; all other commands work.",
        )


def plugin_commands() -> dict[str, PluginCommand]:
    """The commands of installed distributions, by name. A name of the host's, or one that is taken, is passed over."""
    found: dict[str, PluginCommand] = {}
    for name, value, source in discovery.entry_points(discovery.COMMANDS):
        if name not in BUILT_IN:
            found.setdefault(name, PluginCommand(name, value, source))
    return dict(sorted(found.items()))


def load(name: str) -> click.Command | None:
    """The command of that name, imported now; None where there is none. Raises FerruleError for a broken one."""
    if name in BUILT_IN:
        command: click.Command = importlib.import_module(f"ferrule.cli.{name}").command
        return command
    plugin = plugin_commands().get(name)
    return plugin.load() if plugin else None


def _first_line_of_docstring(module: str) -> str:
    file = locate_module(module)
    if file is None:
        return _NO_HELP
    try:
        with open(file, "rb") as source:
            docstring = ast.get_docstring(ast.parse(source.read()))
    except (OSError, SyntaxError, ValueError):
        return _NO_HELP
    return (docstring or _NO_HELP).splitlines()[0]
