"""`ferrule schema`: the schema that a function makes, and the file that it is shipped in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.admin import function_files
from ferrule.cli.output import note, plain, print_json
from ferrule.cli.selection import complete, find_tool, json_option
from ferrule.config import configuration

if TYPE_CHECKING:
    from ferrule.admin.function_files import FunctionFacts, Target


@click.command("schema")
@click.argument("target", default=".", metavar="[TOOL|PATH]", shell_complete=complete)
@click.option("--write", is_flag=True, help="Write the files that are missing or differ.")
@json_option
def command(target: str, write: bool, as_json: bool) -> int:
    """Print the schemas that are made from functions with @tool, or write them to their files.

    TOOL is an installed tool, PATH the folder of a project or a Python file; without it, the project in this folder.
    The functions are loaded in a process of their own; msgspec, of ferrule[schema], makes the schemas. A result that
    is a TypedDict or a dataclass has a schema, too, which goes to NAME.tool.json as result_schema. Where no tool.json
    says what the tool may touch, --write adds "permissions": {"network": []} there: a tool that needs the network says
    which.

    \b
    Examples:
      ferrule schema --write
      ferrule schema weather
      ferrule schema src/my_tools/weather.py

    Exit code: 1 where a schema cannot be made or written; 0 otherwise.
    """
    found = function_files.examine(_find(target), write=write)
    if as_json:
        print_json({"tools": found})
    elif write:
        _tell_written(found)
    else:
        for one in found:
            print_json(one["schema"])
            for file in one["files"]:
                if file["difference"]:
                    note(f"{file['difference']} `ferrule schema --write {target}` writes it.")
    return 0


def _find(target: str) -> Target:
    is_path = target == "." or os.sep in target or target.endswith(".py")
    if is_path or (target not in discovery.scan() and os.path.isdir(target)):
        return function_files.find_target(target)
    return function_files.Target([], [find_tool(target, configuration.read())])


def _tell_written(found: list[FunctionFacts]) -> None:
    for one in found:
        for file in one["files"]:
            word = "Wrote" if file["path"] in one["written"] else "Up to date:"
            click.echo(f"{word} {plain(os.path.relpath(file['path']))}")
