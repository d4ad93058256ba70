"""The tool `new_cli`, which runs a program."""

from __future__ import annotations

from typing import Annotated

from ferrule import Context, JSONObject, tool


@tool
def new_cli(
    lines: Annotated[list[str], "The lines to sort"],
    reverse: Annotated[bool, "Whether the last one comes first"] = False,
    unique: Annotated[bool, "Whether each line is kept once only"] = False,
    *,
    context: Context,
) -> JSONObject:
    """Sorts lines of text."""
    from ferrule_new_cli.program import run

    options = [option for option, is_on in (("-r", reverse), ("-u", unique)) if is_on]
    printed = run(options, "".join(f"{line}\n" for line in lines), context.remaining())
    return {"success": True, "lines": printed.splitlines()}
