"""Programs that a served tool starts: what they are denied is told to their own call, and their memory is bounded."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ferrule import confinement
from ferrule_testkit.processes.memory_groups import Hierarchy
from ferrule_testkit.serve.pool import Served, install

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule_serve.pool import Pool
    from ferrule_testkit.machine import Machine

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel cannot hold a call"),
]
reusable = pytest.mark.parametrize("is_reusable", [False, pytest.param(True, marks=pytest.mark.slow)])
THREAD = "import threading; threading.Thread(target=time.sleep, args=(60,)).start()"
threaded = pytest.mark.parametrize("top", ["", THREAD])
# A thread of its import keeps a process from being copied, whatever the tool says of its calls.
of_each_kind = pytest.mark.parametrize(
    ("is_reusable", "top"),
    [
        (False, ""),
        pytest.param(True, "", marks=pytest.mark.slow),
        pytest.param(True, THREAD, marks=pytest.mark.slow),
        pytest.param(False, THREAD, marks=pytest.mark.full),
    ],
)
RUN = """import subprocess
    done = subprocess.run({words!r}, capture_output=True, text=True)
    if done.returncode:
        raise ToolError("PROGRAM_FAILED", done.stderr[-200:])
    return {{"printed": done.stdout}}"""


def takes(name: str, kind: str) -> dict[str, Any]:
    """A schema with one argument."""
    properties = {name: {"type": kind, "description": "It."}}
    parameters = {"type": "object", "properties": properties, "required": [name]}
    return {"name": "probe", "description": "Does something.", "parameters": parameters}


@pytest.fixture
def served(machine: Machine) -> Served:
    return Served(machine)


def declared(is_reusable: bool, *programs: str) -> dict[str, Any]:
    return {"permissions": {"network": [], "programs": programs}, "reusable": is_reusable}


@of_each_kind
def test_a_file_that_a_program_is_denied_is_why_the_served_call_fails(
    served: Served, is_reusable: bool, top: str
) -> None:
    secret = served.machine.home / "secret.txt"
    secret.write_text("open-sesame")
    install(served, RUN.format(words=["cat", str(secret)]), top=top, declared=declared(is_reusable, "cat"))
    for document in served.calls("probe", 2):
        assert document["error_code"] == "PERMISSION_DENIED"
        assert "probe wanted to read ~/secret.txt" in document["error"]


@pytest.mark.slow
@reusable
def test_what_a_program_is_denied_is_told_to_no_other_call(served: Served, is_reusable: bool) -> None:
    secret = served.machine.home / "secret.txt"
    secret.write_text("open-sesame")
    body = (
        "import subprocess\n    done = subprocess.run(['cat', arguments['path']], capture_output=True)\n"
        "    if done.returncode:\n        raise ToolError('PROGRAM_FAILED', 'It failed.')\n    return {}"
    )
    install(served, body, declared=declared(is_reusable, "cat"), schema=takes("path", "string"))
    paths = [str(secret), "/nowhere/at/all"] * 5

    async def work(pool: Pool) -> list[str]:
        answers = await asyncio.gather(*(pool.call("probe", {"path": path}) for path in paths))
        answers += [await pool.call("probe", {"path": path}) for path in paths]
        return [json.loads(answer.document)["error_code"] for answer in answers]

    assert served.run(work) == ["PERMISSION_DENIED", "PROGRAM_FAILED"] * 10


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed")
@of_each_kind
def test_node_runs_in_a_served_call_and_one_that_uses_too_much_ends_it(
    served: Served, is_reusable: bool, top: str
) -> None:
    served.environment["FERRULE_MEMORY"] = "400"
    body = (
        "import subprocess\n    script = 'const a=[];for(let i=0;i<' + str(arguments['mib']) + ';i++)"
        "a.push(Buffer.alloc(1<<20,1));console.log(a.length)'\n"
        "    return {'printed': subprocess.run(['node', '-e', script], capture_output=True, text=True).stdout}"
    )
    install(served, body, top=top, declared=declared(is_reusable, "node"), schema=takes("mib", "integer"))

    async def work(pool: Pool) -> list[dict[str, Any]]:
        sizes = (100, 1_000_000, 100)
        return [json.loads((await pool.call("probe", {"mib": size})).document) for size in sizes]

    first, second, third = served.run(work)
    assert first == third == {"printed": "100\n"}
    assert second["error_code"] == "OUT_OF_MEMORY"
    assert "more than 400 MiB of memory" in second["error"]


def test_what_a_program_of_a_served_call_leaves_behind_is_counted(served: Served) -> None:
    served.environment["FERRULE_MEMORY"] = "150"
    source = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nx = bytes([1]) * (300 << 20)\ntime.sleep(60)"
    body = f"import subprocess\n    subprocess.run(['python3', '-c', {source!r}])\n    time.sleep(60)\n    return {{}}"
    install(served, body, declared=declared(False, "python3"))
    assert served.calls("probe", 1)[0]["error_code"] == "OUT_OF_MEMORY"


@pytest.fixture
def hierarchy(served: Served, tmp_path: Path) -> Hierarchy:
    """Control groups of the supervisor, which a folder stands in for."""
    made = Hierarchy(tmp_path / "cgroup")
    patch = f"from ferrule_testkit.processes.memory_groups import install\ninstall({str(made.root)!r})\n"
    (served.machine.site / "sitecustomize.py").write_text(patch)
    return made


@of_each_kind
def test_each_served_call_has_a_group_that_its_process_enters(
    served: Served, hierarchy: Hierarchy, is_reusable: bool, top: str
) -> None:
    served.environment["FERRULE_MEMORY"] = "400"
    body = (
        "import glob\n    groups = sorted(glob.glob(ROOT + '/box/ferrule-call-*'))\n"
        "    return {'groups': [[open(group + '/' + name).read() for name in ('cgroup.procs', 'memory.max')]"
        " for group in groups]}"
    ).replace("ROOT", repr(str(hierarchy.root)))
    permissions = {"network": [], "programs": ["cat"], "read": [str(hierarchy.root)]}
    install(served, body, top=top, declared={"permissions": permissions, "reusable": is_reusable})
    for document in served.calls("probe", 2):
        assert document["groups"], document
        assert {tuple(group) for group in document["groups"]} <= {("0", str(400 << 20)), ("", str(400 << 20))}
        assert document["groups"][0] == ["0", str(400 << 20)]  # of the process that has loaded the tool
    assert not hierarchy.calls()


@threaded
def test_a_served_call_that_the_kernel_has_ended_ran_out_of_memory(
    served: Served, hierarchy: Hierarchy, top: str
) -> None:
    body = (
        "import glob, signal\n    for path in glob.glob(ROOT + '/box/ferrule-call-*/memory.events'):\n"
        "        with open(path, 'w') as file:\n            file.write('oom 1\\noom_kill 2\\n')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    ).replace("ROOT", repr(str(hierarchy.root)))
    permissions = {"network": [], "programs": ["cat"], "write": [str(hierarchy.root)]}
    install(served, body, top=top, declared={"permissions": permissions})
    assert [document["error_code"] for document in served.calls("probe", 2)] == ["OUT_OF_MEMORY"] * 2
    assert not hierarchy.calls()
