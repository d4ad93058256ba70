"""What a call imports: it is paid by each call of each tool of a server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.mcp_servers.scenario import on_call, text_result, write_scenario

pytestmark = pytest.mark.process

# Each takes as long to import as a tenth of an interpreter's start, or more.
HEAVY = {
    "asyncio", "binascii", "collections", "contextlib", "dataclasses", "enum", "functools", "inspect", "json", "mcp",
    "pathlib", "re", "selectors", "signal", "socket", "subprocess", "threading", "types", "typing", "urllib",
}  # fmt: skip
_CALL = """\
import json, sys, time
scenario = json.loads(sys.argv[1])
for name in [name for name in sys.modules if name in {heavy!r}]:
    del sys.modules[name]
before = set(sys.modules)
from ferrule import Context
from ferrule_mcp.stdio_call import call_tool
server = {{"name": "scripted", "command": scenario}}
answer = call_tool(server, "look", {{}}, Context("look", time.monotonic() + 1e6), {{}})
print(json.dumps([answer, sorted(set(sys.modules) - before)]))
"""


def test_a_call_imports_nothing_that_takes_long(tmp_path: Path) -> None:
    command = write_scenario(tmp_path, **on_call(text_result("done")))
    paths = [str(PROJECT / "host/src"), str(PROJECT / "plugins/mcp/src")]
    code = f"import sys; sys.path[:0] = {paths!r}\n{_CALL.format(heavy=HEAVY)}"
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, json.dumps(command)], capture_output=True, text=True, check=True
    )
    answer, modules = json.loads(ended.stdout)
    assert answer == "done"
    assert HEAVY & {name.partition(".")[0] for name in modules} == set()
    own = [name for name in modules if name.startswith("ferrule_mcp")]
    assert len(own) <= 16, own


def test_no_command_imports_the_sdk_before_it_is_used() -> None:
    """It takes longer to import than everything else that adding a server does."""
    code = (
        "import importlib, pkgutil, sys, ferrule_mcp.commands as commands\n"
        "names = [one.name for one in pkgutil.iter_modules(commands.__path__)]\n"
        "for name in names: importlib.import_module(f'ferrule_mcp.commands.{name}')\n"
        "print(*names)\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, modules = (line.split() for line in done.stdout.splitlines())
    assert {"add_server", "login_server"} <= set(names)
    assert {"mcp", "mcp_types", "httpx2", "pydantic", "anyio"}.isdisjoint(modules)
