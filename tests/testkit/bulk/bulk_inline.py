"""The same, and says nothing of what may be done with its results."""

from typing import Any

import bulk

from ferrule import Context, hookimpl


@hookimpl
def schema() -> dict[str, Any]:
    return bulk.described("bulk_inline")


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    return bulk.result(arguments)
