"""The line of the journal that a call leaves. Imported only where config.toml has a table for the journal."""

from __future__ import annotations

from ferrule.journal.settings import is_on

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONMapping, JSONObject


def write_journal(
    settings: Configuration,
    tool: InstalledTool | str,
    arguments: JSONMapping | None,
    outcome: Outcome,
    *,
    sizes: tuple[int, int],
    seconds: float,
    way: str,
    client: JSONMapping | None,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Write the line of a call that has ended just now, where the journal is on. Never raises.

    Args:
        tool: what was found, or the name that was asked for.
        sizes: bytes of the input and of the output.
        way, client, environ: see `caller_facts`.

    Returns:
        A line of warning where it cannot be written, once in a process; else an empty text.
    """
    if not is_on(settings):
        return ""
    from ferrule.journal.record import caller_facts, record

    call: JSONObject = {"tool": tool, "input_bytes": sizes[0], "output_bytes": sizes[1]}
    if not isinstance(tool, str):
        call |= {"tool": tool.name, "distribution": tool.distribution, "version": tool.version}
    from ferrule.plugin.hooks.credentials import likely_secrets

    caller = caller_facts(way, client, environ)
    return record(settings, call, arguments, outcome, caller, seconds, lambda: likely_secrets(environ))
