"""The command `ferrule`, one file a command, and public: what a command of another distribution uses.

- `json_option`, `tools_argument`: the option `--json`, the argument `[TOOL]...`; `complete` completes names of tools.
- `print_json`, `print_table`, `print_indented`: an answer on stdout; `note`: a line on stderr.
- `plain`, `harmless`: text on one line or on several, without anything that a terminal would obey.
- `install_command`: the line of `ferrule install` that brings a package into this environment.
- `show_files`: a command lets a diagnosis of its distribution read files; `shown_files`: which it may read.
- `store_credential`, `remove_credential`: what is kept in the credentials file, such as the token of a login.
- `counted`, `home_as_tilde`: `2 tools`; `~/.ikigai/tools`. `coloured`: a state or a severity in its colour.
- `BUILT_IN`: the commands of `ferrule` itself, whose names no other can have.
- `serve_tool`: the console script `weather-mcp` of a package with the tool `weather`.

Such a command is a `click.Command` that returns its exit code; an entry point of the group `ferrule.commands` names it
as `NAME = "module:attribute"`. Its line of help is the first line of the module's docstring. A FerruleError that it
raises becomes a message and an exit code. Every name is loaded when it is first used.

Exit codes: 0 where all is well, 1 where something is wrong (each command's help says what counts), 2 for a command
line that cannot be understood, 130 where the user interrupted it, 141 where its output has no reader any more.
"""

from __future__ import annotations

import gc
import os
import sys

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

    from ferrule.admin.doctor.diagnosis_entry import Diagnosis
    from ferrule.admin.shown_files import show_files, shown_files
    from ferrule.cli.commands import BUILT_IN
    from ferrule.cli.kept_credentials import remove_credential, store_credential
    from ferrule.cli.output import (
        coloured,
        counted,
        harmless,
        home_as_tilde,
        note,
        plain,
        print_indented,
        print_json,
        print_table,
    )
    from ferrule.cli.selection import complete, json_option, tools_argument
    from ferrule.plugin.remedies.installation import install_command

_OUTPUT = (
    "coloured", "counted", "harmless", "home_as_tilde", "note", "plain", "print_indented", "print_json", "print_table",
)  # fmt: skip
_SELECTION = ("complete", "json_option", "tools_argument")

__all__ = [
    "BUILT_IN", "Diagnosis", "coloured", "complete", "counted", "harmless", "home_as_tilde", "install_command",
    "json_option", "main", "note", "plain", "print_indented", "print_json", "print_table", "remove_credential",
    "serve_tool", "show_files", "shown_files", "store_credential", "tools_argument",
]  # fmt: skip

_WITHOUT_PARSER = (["list"], ["list", "--json"])  # command lines that need no click, which costs two starts of Python

__getattr__ = attach(
    __name__,
    {
        "BUILT_IN": "ferrule.cli.commands",
        **dict.fromkeys(("remove_credential", "store_credential"), "ferrule.cli.kept_credentials"),
        "Diagnosis": "ferrule.admin.doctor.diagnosis_entry",
        **dict.fromkeys(("show_files", "shown_files"), "ferrule.admin.shown_files"),
        **dict.fromkeys(_OUTPUT, "ferrule.cli.output"),
        **dict.fromkeys(_SELECTION, "ferrule.cli.selection"),
        "install_command": "ferrule.plugin.remedies.installation",
    },
)


def main() -> NoReturn:
    """Run the command that the process's arguments name, and leave with its exit code."""
    # As on the path of a call: the collector would run in the midst of imports, and the interpreter's end costs
    # a seventh of its start.
    gc.disable()
    if sys.argv[1:] in _WITHOUT_PARSER:
        from ferrule.cli.tools.tool_list import run
    else:
        from ferrule.cli.program import run
    os._exit(run(sys.argv[1:]))


def serve_tool() -> NoReturn:
    """The console script `weather-mcp`: `ferrule serve weather`, for a client of MCP that starts its servers itself.

    The tool is that of the process's name. A script with the name of its distribution, such as `ferrule-weather`,
    serves all tools of it. Options are those of `ferrule serve`.
    """
    from ferrule.cli.commands import plugin_commands

    tools = _served_tools(sys.argv[0])
    if "serve" not in plugin_commands():
        sys.stderr.write(f"Error: {', '.join(tools)} cannot be served, since ferrule-serve is not installed.\n")
        sys.stderr.write("Run `ferrule install ferrule-serve`, or install the package with the extra `mcp`.\n")
        sys.exit(1)
    sys.argv[1:] = ["serve", *tools, *sys.argv[1:]]
    main()


def _served_tools(script: str) -> list[str]:
    from ferrule import discovery
    from ferrule.text.names import same_distribution, served_tool

    distribution = same_distribution(os.path.basename(script))
    claims = discovery.scan()
    own = [name for name in sorted(claims) if same_distribution(claims[name][0].distribution) == distribution]
    return own or [served_tool(script)]
