"""What a server that runs calls itself may import of the host."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule.calls import server_interface
from ferrule_testkit.machine import Machine

MAX_NAMES = 20
PAGE = Path(__file__).parents[3] / "docs/reference/server-interface.md"


def test_every_name_is_there_and_documented() -> None:
    documented = set(re.findall(r"\w+", server_interface.__doc__ or ""))
    for name in server_interface.__all__:
        assert getattr(server_interface, name) is not None
        assert name in documented
        assert f"`{name}`" in PAGE.read_text()


def test_its_names_are_few() -> None:
    assert len(server_interface.__all__) <= MAX_NAMES


@pytest.mark.process
def test_importing_it_imports_no_other_room_of_the_host() -> None:
    code = (
        "import sys, ferrule.calls.server_interface\n"
        "print(*(name for name in sys.modules if name.startswith('ferrule.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert set(done.stdout.split()) <= {"ferrule.calls", "ferrule.calls.server_interface", "ferrule.lazy"}


@pytest.mark.process
def test_modules_are_imported_ahead_though_one_of_them_fails() -> None:
    code = (
        "import sys\nfrom ferrule.calls.fork_server.child.imports import import_ahead\n"
        "import_ahead(['no.such.module', 'ferrule.wrappers.guard', 'colorsys'])\n"
        "assert {'ferrule.wrappers.guard', 'colorsys'} <= sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.process
def test_the_server_of_the_page_makes_calls_at_once_and_ends_them(machine: Machine, tmp_path: Path) -> None:
    machine.install("alpha")
    machine.install("sleeper", top="import time", execute="time.sleep(60)")
    messages = [
        {"id": 1, "tool": "sleeper", "arguments": {}},
        {"id": "two", "tool": "alpha", "arguments": {"city": "Oslo"}},
        {"id": 3, "tool": "missing", "arguments": {}},
        {"cancel": 1},
    ]
    program = tmp_path / "line_server.py"
    program.write_text("\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)))
    done = subprocess.run(
        [sys.executable, program],
        input="".join(f"{json.dumps(one)}\n" for one in messages).encode(),
        capture_output=True,
        env=machine.environment,
        cwd=machine.work,
        check=True,
    )
    answers = {one["id"]: one["answer"] for one in map(json.loads, done.stdout.splitlines())}
    assert answers["two"] == {"got": {"city": "Oslo"}}
    assert (answers[1]["error_code"], answers[3]["error_code"]) == ("INTERNAL_ERROR", "TOOL_UNKNOWN")
    assert "cancelled" in answers[1]["error"]
    assert list(answers)[-1] == "two"
