"""Asking without an asker of one's own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ferrule_ask.client import Asker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule_ask.answer import Answer

_askers: dict[tuple[str, ...] | None, Asker] = {}
_lock = threading.Lock()


def ask(
    context: str | None,
    prompt: str,
    *,
    model: str | None = None,
    max_tokens: int | None = None,
    tools: Sequence[str] | None = None,
) -> Answer:
    """Ask, and wait for the answer, as `Asker.ask` does.

    tools: names of what the model may call; () for none. None for the default: the first search tool that has its keys.
    """
    return _asker(tools).ask(context, prompt, model=model, max_tokens=max_tokens)


async def ask_async(
    context: str | None,
    prompt: str,
    *,
    model: str | None = None,
    max_tokens: int | None = None,
    tools: Sequence[str] | None = None,
) -> Answer:
    """The same as a coroutine."""
    return await _asker(tools).ask_async(context, prompt, model=model, max_tokens=max_tokens)


def _asker(tools: Sequence[str] | None) -> Asker:
    names = None if tools is None else tuple(tools)
    with _lock:
        if names not in _askers:
            _askers[names] = Asker(tools=tools)
        return _askers[names]
