"""Answers that come in pieces: server-sent events, as each maker of models documents them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ferrule_testkit.model.server import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence

EVENTS = "text/event-stream; charset=utf-8"


def frame(event: Any) -> bytes:
    """One event as it is sent: with its name where it has one, as the makers that name theirs do."""
    data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
    return f"{name}data: {data}\n\n".encode()


def in_pieces(events: Sequence[Any]) -> Reply:
    """The whole of an answer."""
    return Reply(b"".join(map(frame, events)), content_type=EVENTS)


def says_in_pieces(*pieces: str, stop_reason: str = "end_turn") -> list[Any]:
    """The events of a message of Anthropic's with these pieces of text."""
    usage = {"input_tokens": 20, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-5-5"}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]
