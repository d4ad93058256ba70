"""The wrapper `artifacts`: a large result of a tool that allows it is stored, and its handle goes to the model."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from ferrule.plugin.hooks.hookspecs import hookimpl

if TYPE_CHECKING:
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.text.json_types import JSONObject

MAX_STORED_BYTES = 8 << 20  # of a result that is not sent but stored


@hookimpl
def order() -> int:
    """Outside of the cache, which keeps the result itself: a handle in it would outlive what it names."""
    return -100


@hookimpl(wrapper=True)
def execute(arguments: JSONObject, context: WrapperContext) -> Generator[None, object, object]:
    """Give back the result, or the summary of what was stored: where it is linkable and not small, or too large."""
    if not context.call.result_policy.linkable:
        result = yield
        return _link_too_large(result, context) if isinstance(result, dict) else result
    from ferrule.wrappers.artifacts.link import can_store, link_large

    # A tool that cuts its result to what the client reads has no reason to where it is stored instead of sent.
    sent = context.max_bytes
    context.max_bytes = max(sent, MAX_STORED_BYTES) if can_store(context) else sent
    try:
        result = yield
    finally:
        context.max_bytes = sent
    return link_large(result, context) if isinstance(result, dict) else result


def _link_too_large(result: JSONObject, context: WrapperContext) -> JSONObject:
    """Without a link, what is larger than the caller reads would be an error, whatever the tool's policy says."""
    if context.size(result) <= context.max_bytes:
        return result
    from ferrule.wrappers.artifacts.link import link_too_large

    return link_too_large(result, context)
