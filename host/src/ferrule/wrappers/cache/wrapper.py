"""The hooks of the wrapper `cache`. Whatever goes wrong in here is a miss, told in an event."""

from __future__ import annotations

from ferrule.errors import ToolError
from ferrule.tool.hookspecs import hookimpl
from ferrule.wrappers.cache.cached_call import CachedCall, raised_again, tell

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

    from ferrule.tool.context import Context

_calls: dict[int, CachedCall] = {}


@hookimpl
def order() -> int:
    """Inside of what changes a result, so that what is kept is the result of the tool itself."""
    return 10


@hookimpl(wrapper=True)
def execute(context: Context) -> Generator[None, dict[str, Any], dict[str, Any]]:
    """Look up what is known, let it or the tool answer, and keep what the tool has said."""
    call = _begun(context)
    try:
        result = yield
    except ToolError as error:
        if call and not call.found:
            _try(call.failed, error, context)
        raise
    else:
        if call and not call.found:
            _try(call.answered, result, context)
        return result
    finally:
        _calls.pop(id(context), None)
        if call:
            call.end()


@hookimpl(tryfirst=True, specname="execute")
def look_up(context: Context) -> dict[str, Any] | None:
    """What is known of the call; None has the tool answer. A failure that was kept is raised again."""
    call = _calls.get(id(context))
    if call is None or call.found is None:
        return None
    failure = raised_again(call.found)
    if failure is not None:
        raise failure
    result: dict[str, Any] = call.found.outcome["result"]
    return result


def _begun(context: Context) -> CachedCall | None:
    call = None
    try:
        call = CachedCall.of(context)
        if call is not None:
            call.look_up()
            _calls[id(context)] = call
    except Exception as failure:  # noqa: BLE001 - a defect in here must not cost a call
        tell(context, failure)
        if call is not None:
            call.end()
        return None
    return call


def _try(keep: Callable[[Any], None], value: object, context: Context) -> None:
    try:
        keep(value)
    except Exception as failure:  # noqa: BLE001 - a defect in here must not cost a result
        tell(context, failure)
