"""A call that a keeper makes instead of this server: of a tool that holds something between its calls."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.calls.server_interface import CallAnswer
from ferrule.installed import call_keeper
from ferrule.text import strict_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferrule.text.json_types import JSONObject


async def call_kept(
    tool: str,
    arguments: bytes,
    seconds: float | None,
    on_event: Callable[[JSONObject], None] | None,
    environ: Mapping[str, str],
) -> CallAnswer | None:
    """The answer of a keeper; None where none takes the call, which this server makes then.

    Args:
        tool: its name.
        arguments: a JSON object.
        seconds: that the call may take, None for the configured deadline.
        on_event: gets each event as it happens.
        environ: that of tools, without what this server adds.

    Raises KeeperLost, see `call_keeper`.
    """

    def hand_on(event: bytes) -> None:
        if on_event is not None:
            on_event(strict_json.loads_object(event))

    began = asyncio.get_running_loop().time()
    limit = config.deadline(environ) if seconds is None else seconds
    caller = {**environ, "FERRULE_CALLER": "serve"}
    answer = await call_keeper(tool, arguments, limit, caller, on_event=hand_on, is_lasting=True)
    if answer is None:
        return None
    return CallAnswer(answer.document, answer.has_failed, "", asyncio.get_running_loop().time() - began)
