"""What the calls of a tool were refused, as far as the journal has it, each with the command that allows it."""

from __future__ import annotations

from typing import NamedTuple

from ferrule.confinement.denials import command_for
from ferrule.confinement.policy import Denial
from ferrule.journal.entries import DamagedLine, JournalReader
from ferrule.journal.record import journal_settings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool

_MAX_REFUSALS = 10


class Refusal(NamedTuple):
    """kind, what: see `Denial`. time: of the last call that wanted it, in UTC. command: None where none allows it."""

    kind: str
    what: str
    time: str
    command: str | None


def refused_lately(tool: InstalledTool, settings: Configuration) -> list[Refusal]:
    """The last ones of a tool, the newest first; empty if there is no journal, or none that can be read."""
    found: dict[Denial, str] = {}
    reader = JournalReader(journal_settings(settings).path)
    try:
        for entry in reader.read():
            if isinstance(entry, DamagedLine) or entry["tool"] != tool.name:
                continue
            for one in entry.get("denied", ()):
                denial = Denial(str(one["kind"]), str(one["what"]))
                found.pop(denial, None)
                found[denial] = entry["time"]
    except OSError:
        return []
    finally:
        reader.close()
    newest = reversed(list(found.items())[-_MAX_REFUSALS:])
    return [
        Refusal(one.kind, one.what, time, command_for(tool.name, one, granted_by=tool.grant_command))
        for one, time in newest
    ]
