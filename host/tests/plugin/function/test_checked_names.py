"""Names of `typing` that a module imports for type checkers alone: known to the schema, and not loaded for a call."""

import json
import subprocess

import pytest

from ferrule.plugin.function.schema import make_schema
from ferrule_testkit.machine import Machine

TOOL = '''\
from __future__ import annotations

import sys

from ferrule import Context, Range, tool

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Annotated, Any, Literal, Optional


@tool
def late(
    city: Annotated[str, "Name of the city"],
    days: Annotated[int, "Days to look ahead", Range(1, 7)] = 3,
    unit: Annotated[Literal["C", "F"], "Unit"] = "C",
    tags: list[Annotated[str, 'A tag']] = [],
    note: Optional[str] = None,
    share: Annotated[float, "A share"] = 0.5,
    least: float | None = None,
    *,
    context: Context,
) -> dict[str, Any]:
    """Tells whether typing was loaded."""
    return {"given": [city, days, unit, tags, note, share, least], "loaded": "typing" in sys.modules}
'''
GIVEN = {"city": "Oslo", "days": 2, "unit": "F", "tags": ["a"], "note": "b", "share": 1, "least": 2}


def schema_of(source: str) -> dict[str, object]:
    names = {"__name__": __name__}
    exec(source, names)
    return make_schema(names["late"].definition)


@pytest.mark.parametrize("tag", ["Annotated[str, 'A tag']", "\"Annotated[str, 'A tag']\""], ids=["bare", "quoted"])
def test_the_schema_is_that_of_a_module_that_imports_them(tag: str) -> None:
    source = TOOL.replace("Annotated[str, 'A tag']", tag)
    assert schema_of(source) == schema_of(source.replace("TYPE_CHECKING = False", "TYPE_CHECKING = True"))


def test_a_name_of_the_module_goes_before_one_of_typing() -> None:
    own = TOOL.replace("TYPE_CHECKING = False", 'TYPE_CHECKING = False\nLiteral = {("C", "F"): str}')
    assert "enum" not in schema_of(own)["parameters"]["properties"]["unit"]


@pytest.mark.process
def test_a_call_loads_no_typing_for_what_json_has(machine: Machine) -> None:
    package, metadata = machine.site / "late", machine.site / "late-1.0.dist-info"
    package.mkdir()
    metadata.mkdir()
    (package / "__init__.py").write_text(TOOL)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ferrule.tools]\nlate = late:late\n")
    assert machine.ferrule("schema", "late", "--write").code == 0
    assert machine.ferrule("link", "late").code == 0
    done = subprocess.run(
        [machine.tools / "late-tool"],
        input=json.dumps(GIVEN).encode(),
        env=machine.environment,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == {"given": list(GIVEN.values()), "loaded": False}
