"""Function tools as they are installed: called, listed without an import, their files written and compared."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process

SOURCE = '''\
from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from ferrule import Range, ToolError, tool

if TYPE_CHECKING:
    from ferrule import Context


@dataclass
class Forecast:
    """What comes out."""

    city: str
    days: list[float]
    heavy: list[str]


@tool
def weather(
    city: Annotated[str, "Name of the city, such as Oslo"],
    days: Annotated[int, "Days to look ahead", Range(1, 7)] = 3,
    unit: Literal["C", "F"] = "C",
    *,
    context: Context,
) -> Forecast:
    """Tells the weather of a city."""
    if city == "Atlantis":
        raise ToolError("CITY_UNKNOWN", "There is no such city.")
    heavy = {"pydantic", "msgspec", "dataclasses", "annotated_types", "jsonschema", "asyncio"} & set(sys.modules)
    return Forecast(city, [0.5] * days, sorted(heavy - {"asyncio"}))


@tool
async def wait(seconds: Annotated[float, "How long"]) -> dict[str, float]:
    """Waits."""
    await asyncio.sleep(seconds)
    return {"slept": seconds}
'''
WEATHER = {
    "name": "weather",
    "description": "Tells the weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city, such as Oslo"},
            "days": {"type": "integer", "description": "Days to look ahead (default: 3)", "minimum": 1, "maximum": 7},
            "unit": {"type": "string", "description": "Default: C", "enum": ["C", "F"]},
        },
        "required": ["city"],
    },
}


def install(machine: Machine, source: str = SOURCE) -> Path:
    """A distribution with both tools in one package; the folder of the package."""
    package = machine.site / "ferrule_weather"
    package.mkdir()
    (package / "__init__.py").write_text(source)
    metadata = machine.site / "ferrule_weather-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ferrule-weather\nVersion: 1.0\n")
    points = "[ferrule.tools]\nweather = ferrule_weather:weather\nwait = ferrule_weather:wait\n"
    (metadata / "entry_points.txt").write_text(points)
    return package


def call(machine: Machine, name: str, arguments: dict[str, Any], *options: str) -> tuple[int, Any]:
    """A call by the executable that `ferrule link` writes."""
    done = subprocess.run(
        [machine.tools / f"{name}-tool", *options],
        input=json.dumps(arguments).encode(),
        env=machine.environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
def test_a_function_answers_with_and_without_its_files(machine: Machine) -> None:
    package = install(machine)
    assert machine.ferrule("link", "weather", "wait").code == 0
    assert call(machine, "weather", {}, "--schema") == (0, WEATHER)
    assert call(machine, "weather", {"city": "Oslo"})[1]["city"] == "Oslo", "computed, for want of a file"

    written = machine.ferrule("schema", "weather", "--write")
    assert (written.code, sorted(path.name for path in package.glob("*.json"))) == (
        0,
        ["weather.schema.json", "weather.tool.json"],
    ), "one of several functions has files of its own"
    assert machine.ferrule("schema", "wait", "--write", "--json").document["tools"][0]["written"] == [
        str(package / "wait.schema.json"),
        str(package / "wait.tool.json"),
    ]
    assert json.loads((package / "wait.tool.json").read_text()) == {"permissions": {"network": []}}
    assert json.loads((package / "weather.schema.json").read_text()) == WEATHER
    assert machine.ferrule("show", "weather", "--json").document["schema"] == WEATHER

    code, answer = call(machine, "weather", {"city": "Oslo", "days": 2, "unit": ""})
    assert (code, answer["days"]) == (0, [0.5, 0.5])
    assert answer["heavy"] == ["dataclasses"], "what the plugin itself imports"
    assert call(machine, "wait", {"seconds": 0}) == (0, {"slept": 0.0})
    code, answer = call(machine, "weather", {"city": "Atlantis"})
    assert (code, answer["error_code"]) == (1, "CITY_UNKNOWN")
    code, answer = call(machine, "weather", {"city": "Oslo", "days": 8, "until": "May"})
    assert (code, answer["error_code"]) == (1, "INVALID_INPUT")
    assert "days: expected at most 7, got 8" in answer["error"]
    assert "until: there is no such argument" in answer["error"]


def test_listing_reads_the_file_of_the_function_and_imports_nothing(machine: Machine) -> None:
    package = install(machine, "raise SystemExit('imported')\n")
    (package / "weather.schema.json").write_text(json.dumps(WEATHER))
    (package / "schema.json").write_text(json.dumps({**WEATHER, "name": "wait"}))
    listed = {one["name"]: one for one in machine.ferrule("list", "--json").document["tools"]}
    assert listed["weather"]["description"] == listed["wait"]["description"] == WEATHER["description"]
    (package / "schema.json").write_text(json.dumps({**WEATHER, "name": "another"}))
    listed = {one["name"]: one for one in machine.ferrule("list", "--json").document["tools"]}
    assert listed["wait"]["description"] is None, "the file is of another tool of the module"


def test_a_file_that_is_stale_is_told_with_the_place(machine: Machine) -> None:
    package = install(machine)
    (package / "weather.tool.json").write_text('{"title": "Weather"}')
    assert machine.ferrule("schema", "weather", "--write").code == 0
    declared = json.loads((package / "weather.tool.json").read_text())
    assert declared["title"] == "Weather", "what the author has declared stays"
    assert declared["result_schema"]["required"] == ["city", "days", "heavy"]

    again = machine.ferrule("schema", "weather", "--write")
    assert again.out.count("Up to date") == 2
    source = (package / "__init__.py").read_text().replace("Range(1, 7)", "Range(1, 14)").replace("heavy", "loaded")
    (package / "__init__.py").write_text(source)
    (tool,) = machine.ferrule("schema", "weather", "--json").document["tools"]
    assert [one["state"] for one in tool["files"]] == ["stale", "stale"]
    assert "/parameters/properties/days/maximum is 7 in the file, 14 by the function" in tool["files"][0]["difference"]
    assert "/properties/loaded is missing in the file" in tool["files"][1]["difference"]
    shown = machine.ferrule("schema", "weather")
    assert shown.document["parameters"]["properties"]["days"]["maximum"] == 14
    assert "`ferrule schema --write weather` writes it" in shown.err


def test_the_functions_of_a_project_and_of_a_file_need_no_installation(machine: Machine) -> None:
    package = machine.work / "src" / "my_tools"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from my_tools.sky import weather\n")
    (package / "sky.py").write_text(SOURCE)
    points = '[project.entry-points."ferrule.tools"]\nweather = "my_tools:weather"\n'
    (machine.work / "pyproject.toml").write_text(f'[project]\nname = "my-tools"\nversion = "1"\n{points}')
    done = machine.ferrule("schema", "--write")
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["Wrote src/my_tools/weather.schema.json", "Wrote src/my_tools/weather.tool.json"]
    of_file = machine.ferrule("schema", "src/my_tools/sky.py", "--json").document["tools"]
    assert [one["name"] for one in of_file] == ["weather", "wait"]
    assert [one["state"] for one in of_file[0]["files"]] == ["same", "same"]


@pytest.mark.slow
@pytest.mark.usefixtures("commands")
def test_ferrule_check_fails_where_file_and_function_differ_and_nowhere_else(machine: Machine) -> None:
    package = install(machine)
    assert machine.ferrule("schema", "weather", "--write").code == 0
    for replaced, by, expected in (("", "", []), ("Days to look", "Days to see", ["schema-agrees"])):
        source = (package / "__init__.py").read_text().replace(replaced, by)
        (package / "__init__.py").write_text(source)
        report = machine.ferrule("check", "weather", "--quick", "--json", start_new_session=True).document
        checks = report["targets"][0]["checks"]
        assert [one["id"] for one in checks if one["state"] == "failed"] == expected
        assert next(one["state"] for one in checks if one["id"] == "schema-agrees") != "skipped"


def test_the_only_function_of_a_package_shares_what_is_there_already(machine: Machine) -> None:
    package = install(machine, SOURCE.replace("@tool\nasync", "async"))
    (package / "tool.json").write_text('{"title": "All tools"}')
    assert machine.ferrule("schema", "weather", "--write").code == 0
    assert sorted(path.name for path in package.glob("*.json")) == ["schema.json", "tool.json", "weather.tool.json"]
    (package / "weather.tool.json").unlink()
    (package / "tool.json").write_text('{"title": "This tool", "result_schema": {}}')
    written = machine.ferrule("schema", "weather", "--write", "--json").document["tools"][0]["written"]
    assert written == [str(package / "tool.json")]
    declared = json.loads((package / "tool.json").read_text())
    assert list(declared) == ["title", "result_schema", "permissions"]
    (package / "tool.json").write_text(json.dumps({**declared, "permissions": {"network": ["sky.example:443"]}}))
    assert machine.ferrule("schema", "weather", "--write", "--json").document["tools"][0]["written"] == []


@pytest.mark.parametrize(
    ("replaced", "by", "told"),
    [
        (
            "unit: Literal",
            "unit: int | Literal",
            "The parameter 'unit' of weather cannot be described: the format has no",
        ),
        ("import asyncio", "import nowhere", "No module named 'nowhere'"),
        ("@tool\ndef", "def", "weather is no function with @tool"),
    ],
)
def test_what_cannot_be_made_is_an_error_without_a_traceback(
    replaced: str, by: str, told: str, machine: Machine
) -> None:
    package = install(machine, SOURCE.replace(replaced, by))
    for options in ([], ["--write"]):
        done = machine.ferrule("schema", "weather", *options)
        assert (done.code, done.out) == (1, "")
        assert told in done.err
        assert "Traceback" not in done.err
    assert list(package.glob("*.json")) == []


@pytest.mark.parametrize(
    ("entry_point", "told"),
    [
        ("forecast = my_tools.deep:weather", "names the function of a tool 'weather'"),
        ("weather = my_tools:weather", 'Write weather = "my_tools.deep:weather"'),
        ("weather = my_tools.deep:alias", 'Write weather = "my_tools.deep:weather"'),
    ],
)
def test_an_entry_point_by_which_the_files_would_not_be_found_is_refused(
    entry_point: str, told: str, machine: Machine
) -> None:
    package = machine.work / "my_tools" / "deep"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from my_tools.deep import weather\n")
    (package / "__init__.py").write_text(f"{SOURCE}\nalias = weather\n")
    name, _, value = entry_point.partition(" = ")
    points = f'[project.entry-points."ferrule.tools"]\n{name} = "{value}"\n'
    (machine.work / "pyproject.toml").write_text(f'[project]\nname = "my-tools"\nversion = "1"\n{points}')
    done = machine.ferrule("schema", "--write")
    assert done.code == 1
    assert told in done.err
    assert list(package.glob("*.json")) == []


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("nothing", "No installed distribution offers a tool named 'nothing'"),
        (".", "has no pyproject.toml"),
        ("./empty.py", "empty has no function with @tool"),
        ("tools/", "declares no function as a tool"),
    ],
)
def test_a_target_that_has_no_function_is_told_what_to_do(target: str, told: str, machine: Machine) -> None:
    (machine.work / "empty.py").write_text("")
    (machine.work / "tools").mkdir()
    (machine.work / "tools" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    done = machine.ferrule("schema", target)
    assert (done.code, done.out) == (1, "")
    assert told in done.err


def test_without_msgspec_the_way_out_is_named(machine: Machine) -> None:
    package = install(machine)
    (machine.site / "msgspec.py").write_text("raise ModuleNotFoundError('No module named msgspec', name='msgspec')\n")
    done = machine.ferrule("schema", "weather", start_new_session=True)  # not in a fork, which may have imported it
    assert done.code == 1
    assert "msgspec is needed" in done.err
    assert "Install ferrule[schema]" in done.err
    (package / "weather.schema.json").write_text(json.dumps(WEATHER))
    assert machine.ferrule("link", "weather", start_new_session=True).code == 0
    assert call(machine, "weather", {"city": "Oslo"})[0] == 0, "what has its file needs no msgspec"
