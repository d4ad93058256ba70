"""What a server says of itself when it is added, over whichever transport it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.text.json_types import JSONObject


class Interview(NamedTuple):
    """What a server has said of itself.

    era: the release of the protocol. server: its `serverInfo`, {} where it gives none. capabilities: its own. offered:
    what it was offered. instructions: "" for none. tools: as it describes them. findings: a sentence for each thing
    that was odd. seconds: until the list of tools had come. stderr: its last lines, of a process that runs here.
    """

    era: str
    server: JSONObject
    capabilities: JSONObject
    offered: JSONObject
    instructions: str
    tools: list[JSONObject]
    findings: list[str]
    seconds: float
    stderr: Sequence[str] = ()
