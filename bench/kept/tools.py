"""Small tools, put into an environment as their wheels would be: single use and used again, with a large import."""

from __future__ import annotations

import compileall
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from installations.installation import Installation

_SOURCE = '''\
"""A tool that does next to nothing."""

from __future__ import annotations
{imports}
from ferrule import JSONObject, hookimpl, static_schema


@hookimpl
def schema() -> JSONObject:
    return static_schema(__file__)


@hookimpl
def execute(arguments: JSONObject) -> JSONObject:
    return {{"success": True, "weather": f"none in {{arguments['city']}}"}}
'''
_CITY = {"city": {"type": "string", "description": "Name of the city"}}
_PARAMETERS = {"type": "object", "properties": _CITY, "required": ["city"]}


def add_tool(installation: Installation, name: str, *, is_reusable: bool, library: str = "") -> str:
    """Put one there; its name. library: that it imports."""
    metadata = installation.site / f"{name}-1.0.dist-info"
    metadata.mkdir()
    metadata.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    metadata.joinpath("entry_points.txt").write_text(f"[ferrule.tools]\n{name} = {name}\n")
    package = installation.site / name
    package.mkdir()
    imports = f"\nimport {library}\n" if library else ""
    package.joinpath("__init__.py").write_text(_SOURCE.format(imports=imports))
    schema = {"name": name, "description": "Tells the weather of a city.", "parameters": _PARAMETERS}
    package.joinpath("schema.json").write_text(json.dumps(schema))
    package.joinpath("tool.json").write_text(json.dumps({"reusable": is_reusable}))
    compileall.compile_dir(package, quiet=2)
    return name
