"""`typing` in the process of a function tool: not loaded where annotations alone name it, and never anything else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ferrule

if TYPE_CHECKING:
    from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process

FUTURE = "from __future__ import annotations\n"
FOR_ANNOTATIONS = (
    f"{FUTURE}from typing import TYPE_CHECKING, Annotated, Any\ndef f(a: Annotated[str, 'x'] = '') -> Any: pass"
)
START = """
import sys
from ferrule.plugin.function.stand_ins import defer
defer()
import made
def is_loaded():
    return "NamedTuple" in vars(sys.modules["typing"])
"""
TOOL = """\
from __future__ import annotations

import sys
from typing import Annotated, Any, Literal, Optional

from ferrule import Context, Range, tool


@tool
def late(
    city: Annotated[str, "Name of the city"],
    days: Annotated[int, "Days to look ahead", Range(1, 7)] = 3,
    unit: Annotated[Literal["C", "F"], "Unit"] = "C",
    tags: Annotated[list[str], "Tags"] = [],
    note: Annotated[str | None, "A note"] = None,
    *,
    context: Context,
) -> dict[str, Any]:
    \"\"\"Tells whether typing was loaded.\"\"\"
    return {"given": [city, days, unit, tags, note], "loaded": "NamedTuple" in vars(sys.modules["typing"])}
"""


def run(folder: Path, source: str, program: str) -> str:
    """What a program prints that has imported a module of this source."""
    (folder / "made.py").write_text(source)
    path = f"{Path(ferrule.__file__).parents[1]}:{folder}"
    command = [sys.executable, "-S", "-P", "-c", START + program]
    done = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("source", "is_loaded"),
    [
        (FOR_ANNOTATIONS, False),
        (f"{FUTURE}from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typing import Any", False),
        ("import typing", False),
        ("from typing import Any\ndef f(a: Any) -> Any: pass", True),
        (f"{FUTURE}from typing import Any\nkinds = {{Any: 1}}", True),
        (f"{FUTURE}from typing import Any\ndef f(): return Any", True),
        (f"{FUTURE}from typing import Any\nclass One:\n    def f(self): return lambda: Any", True),
        (f"{FUTURE}from typing import Any as Some\ndef f(a: Some): pass", True),
        (f"{FUTURE}def f():\n    from typing import Any\n    return Any\nfound = f()", True),
        (f"{FUTURE}from typing import Any, NamedTuple", True),
        (f"{FUTURE}import typing\nAny = typing.Any", True),
        (f"{FUTURE}from dataclasses import dataclass\nfrom typing import Any\n@dataclass\nclass A:\n    a: Any", True),
    ],
)  # fmt: skip
def test_it_is_loaded_where_more_than_annotations_name_it(source: str, is_loaded: bool, tmp_path: Path) -> None:
    own = "import typing\nprint(all(v is vars(typing)[n] for n, v in vars(made).items() if n in typing.__all__))"
    assert run(tmp_path, source, f"print(is_loaded())\n{own}").split() == [str(is_loaded), "True"]


@pytest.mark.parametrize(
    "use",
    [
        "found = made.Any",
        "from made import Any as found",
        "found = sys.modules['typing'].Any",
        "import typing; found = typing.get_type_hints(made.f)['return']",
        "eval(made.f.__annotations__['a'], vars(made)); found = vars(made)['Any']",
        "eval('Any | None', vars(made)); found = vars(made)['Any']",
        "eval('None | Any', vars(made)); found = vars(made)['Any']",
    ],
)
def test_whoever_uses_a_name_gets_the_object_of_typing(use: str, tmp_path: Path) -> None:
    program = f"print(is_loaded())\n{use}\nimport typing\nprint(found is typing.Any, type(made) is type(sys))"
    assert run(tmp_path, FOR_ANNOTATIONS, program).split() == ["False", "True", "True"]


def test_threads_that_use_it_at_once_find_it_whole(tmp_path: Path) -> None:
    program = """
import threading
start, found = threading.Barrier(8), []
def use():
    start.wait()
    import typing
    found.append((typing.overload, typing.Any))
threads = [threading.Thread(target=use) for _ in range(8)]
[one.start() for one in threads], [one.join() for one in threads]
print(len(found), len(set(found)))
"""
    assert run(tmp_path, FOR_ANNOTATIONS, program) == "8 1"


def test_a_name_that_typing_has_not_is_the_error_of_python(tmp_path: Path) -> None:
    program = "try:\n    from typing import Anything\nexcept ImportError as error:\n    print(error.name)"
    assert run(tmp_path, FOR_ANNOTATIONS, program) == "typing"


def test_a_call_of_a_function_loads_it_for_no_usual_type(machine: Machine) -> None:
    package, metadata = machine.site / "late", machine.site / "late-1.0.dist-info"
    package.mkdir()
    metadata.mkdir()
    (package / "__init__.py").write_text(TOOL)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ferrule.tools]\nlate = late:late\n")
    assert machine.ferrule("schema", "late", "--write").code == 0
    assert machine.ferrule("link", "late").code == 0
    given = {"city": "Oslo", "days": 2, "unit": "F", "tags": ["a"], "note": "b"}
    done = subprocess.run(
        [machine.tools / "late-tool"],
        input=json.dumps(given).encode(),
        env=machine.environment,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == {"given": list(given.values()), "loaded": False}
