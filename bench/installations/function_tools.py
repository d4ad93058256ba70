"""One tool by hooks, as a function, and as a function in a module that imports typing for its annotations."""

from __future__ import annotations

import compileall
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from installations.installation import Installation

HOOKS, FUNCTION, TYPED_FUNCTION = "bench_hooks", "bench_function", "bench_typed_function"

_BY_HOOKS = '''\
"""A tool by hooks."""

from __future__ import annotations

from ferrule import Context, JSONObject, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    days, unit = arguments.get("days", 3), arguments.get("unit", "C")
    return {"success": True, "weather": f"{arguments['city']}, {days} days in {unit}", "tool": context.tool}
'''
_AS_FUNCTION = '''\
"""The same tool as a function."""

from __future__ import annotations

from ferrule import Context, Range, tool

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Annotated, Any, Literal


@tool
def bench_function(
    city: Annotated[str, "Name of the city"],
    days: Annotated[int, "Days to look ahead", Range(1, 7)] = 3,
    unit: Annotated[Literal["C", "F"], "Unit"] = "C",
    *,
    context: Context,
) -> dict[str, Any]:
    """Tells the weather of a city."""
    return {"success": True, "weather": f"{city}, {days} days in {unit}", "tool": context.tool}
'''
_AS_TYPED_FUNCTION = _AS_FUNCTION.replace(FUNCTION, TYPED_FUNCTION).replace(
    "TYPE_CHECKING = False\n\nif TYPE_CHECKING:\n    from typing", "from typing"
)
_PROPERTIES = {
    "city": {"type": "string", "description": "Name of the city"},
    "days": {"type": "integer", "description": "Days to look ahead (default: 3)", "minimum": 1, "maximum": 7},
    "unit": {"type": "string", "description": "Unit (default: C)", "enum": ["C", "F"]},
}
_PARAMETERS = {"type": "object", "properties": _PROPERTIES, "required": ["city"]}


def add_all(installation: Installation) -> None:
    """Install the three tools as their wheels would be, with the schema files that wheels have."""
    _add(installation, HOOKS, HOOKS, _BY_HOOKS)
    _add(installation, FUNCTION, f"{FUNCTION}:{FUNCTION}", _AS_FUNCTION)
    _add(installation, TYPED_FUNCTION, f"{TYPED_FUNCTION}:{TYPED_FUNCTION}", _AS_TYPED_FUNCTION)


def _add(installation: Installation, name: str, entry_point: str, source: str) -> None:
    metadata = installation.site / f"{name}-1.0.dist-info"
    metadata.mkdir()
    metadata.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    metadata.joinpath("entry_points.txt").write_text(f"[ferrule.tools]\n{name} = {entry_point}\n")
    package = installation.site / name
    package.mkdir()
    package.joinpath("__init__.py").write_text(source)
    schema = {"name": name, "description": "Tells the weather of a city.", "parameters": _PARAMETERS}
    package.joinpath("schema.json").write_text(json.dumps(schema))
    compileall.compile_dir(package, quiet=2)
