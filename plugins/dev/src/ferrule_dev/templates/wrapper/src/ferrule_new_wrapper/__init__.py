"""The wrapper `new_wrapper`: names the tool in each result."""

from __future__ import annotations

from collections.abc import Generator

from ferrule import JSONObject, WrapperContext, hookimpl

NAME = "new_wrapper"
LABEL_VARIABLE = "FERRULE_NEW_WRAPPER_LABEL"


@hookimpl
def order() -> int:
    """Inside of the cache (10), outside of the timing (1000)."""
    return 500


@hookimpl(wrapper=True)
def execute(context: WrapperContext) -> Generator[None, JSONObject, JSONObject]:
    """Add the name of the tool. The key `label` of the wrapper's table in config.toml says what it is called."""
    label = context.wrapper_setting(NAME, "label", LABEL_VARIABLE) or "tool"
    result = yield
    context.note(NAME, {str(label): context.call.tool})
    return result
