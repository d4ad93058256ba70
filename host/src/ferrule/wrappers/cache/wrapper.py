"""The hooks of the wrapper `cache`. A failure in here is a miss, which an event reports."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.errors import ToolError
from ferrule.plugin.hooks.hookspecs import hookimpl
from ferrule.wrappers.cache.cached_call import CachedCall, report, stored_failure

if TYPE_CHECKING:
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.text.json_types import JSONObject

_calls: dict[int, CachedCall] = {}


@hookimpl
def order() -> int:
    """Inside of what changes a result, so that what is kept is the result of the tool itself."""
    return 10


@hookimpl(wrapper=True)
def execute(context: WrapperContext) -> Generator[None, JSONObject, JSONObject]:
    """Look up what is known, let it or the tool answer, and keep what the tool has said."""
    call = _begin(context)
    try:
        result = yield
    except ToolError as error:
        if call and not call.found:
            with _reporting(context):
                call.keep_failure(error)
        raise
    else:
        if call and not call.found:
            with _reporting(context):
                call.keep_result(result)
        return result
    finally:
        _calls.pop(id(context), None)
        if call:
            call.end()


@hookimpl(tryfirst=True, specname="execute")
def look_up(context: WrapperContext) -> JSONObject | None:
    """What is known of the call; None has the tool answer. A failure that was kept is raised again."""
    call = _calls.get(id(context))
    if call is None or call.found is None:
        return None
    failure = stored_failure(call.found)
    if failure is not None:
        raise failure
    result: JSONObject = call.found.outcome["result"]
    return result


def _begin(context: WrapperContext) -> CachedCall | None:
    call = None
    with _reporting(context):
        call = CachedCall.of(context)
        if call is not None:
            call.look_up()
            _calls[id(context)] = call
        return call
    if call is not None:
        call.end()
    return None


@contextmanager
def _reporting(context: WrapperContext) -> Iterator[None]:
    """A defect in here must cost neither a call nor its result."""
    try:
        yield
    except Exception as failure:  # noqa: BLE001 - reported, as the docstring says
        report(context, failure)
