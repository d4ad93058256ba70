"""`ferrule schemas`: tools in the form in which a provider's request takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ferrule.cli.output import note, print_json
from ferrule.cli.selection import entries, json_option, tools_argument
from ferrule.errors import FerruleError
from ferrule.installed.inventory import DISABLED, OK, Entry
from ferrule.schema.providers import FORMATS, ProviderFormat

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


@click.command("schemas")
@click.option("--for", "provider", type=click.Choice(list(FORMATS)), required=True, help="Who is to read them.")
@tools_argument
@json_option
def command(provider: str, tools: tuple[str, ...], as_json: bool) -> int:
    """Print TOOLs as the JSON array `tools` of a request to a provider; without any, all that are ok.

    Each plugin is loaded, in a process of its own. stderr has a line for each thing that a
    provider refuses or drops, and for each tool that is left out. openai is the form of Chat Completions,
    openai-responses that of Responses. --json prints {"form", "tools", "losses", "left_out"} instead.

    \b
    Examples:
      ferrule schemas --for anthropic web_fetch
      ferrule schemas --for gemini > tools.json

    Exit code: 1 where a TOOL that was named is left out, 0 otherwise.
    """
    form = FORMATS[provider]
    found = list(entries(tools, load=True))
    usable = [entry for entry in found if entry.state == OK]
    left_out = [entry for entry in found if entry.state != OK and (tools or entry.state != DISABLED)]
    shaped = form.tools(entry.schema for entry in usable)
    losses = {entry.name: [loss.as_dict() for loss in form.losses(entry.schema)] for entry in usable}
    if as_json:
        print_json({"form": provider, "tools": shaped, "losses": losses, "left_out": list(map(_reason, left_out))})
    else:
        _tell(form, losses, left_out)
        print_json(shaped)
    return int(bool(tools and left_out))


def _tell(form: ProviderFormat, losses: dict[str, list[JSONObject]], left_out: list[Entry]) -> None:
    for name, ones in losses.items():
        for loss in ones:
            verb = "refuses" if loss["refused"] else "loses"
            note(f"{name}: {form.name} {verb} {loss['pointer']}: {loss['message']}")
    for entry in left_out:
        note(f"{entry.name}: left out, it is {entry.state}. {_error(entry).message}")


def _reason(entry: Entry) -> JSONObject:
    return {"tool": entry.name, "state": entry.state, "error": _error(entry).facts()}


def _error(entry: Entry) -> FerruleError:
    return entry.error or FerruleError(f"Run `ferrule validate {entry.name}` to see why.")
