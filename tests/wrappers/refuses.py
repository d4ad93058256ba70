"""Answers in the tool's place that it cannot answer."""

from ferrule import ToolError, hookimpl


@hookimpl(tryfirst=True, specname="execute")
def refuse(context):
    context.note("refuses", {"a": 1})
    raise ToolError("RATE_LIMIT", "Too many calls.", retry_after=7)
