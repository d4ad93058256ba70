"""Tools whose calls show what serving does to them: installed on a machine, one of them broken."""

import json

from ferrule_testkit.machine import Machine

SECRET = "s3cr3t-Value-0815"
NOTHING: dict[str, object] = {}

_EVENTS = """\
context.event({"event": "progress", "progress": 1, "total": 3, "message": "begun"})
    context.event({"event": "progress", "progress": 1, "total": 3, "message": "the same again"})
    context.event({"event": "progress", "progress": float(2)})
    context.event({"event": "progress", "progress": "all"})
    context.event({"kind": ["odd"], "event": {}})
    context.event({"kind": "config_required", "content": "Set a key."})
    context.event({"event": "note", "level": "error", "content": "bad"})
    context.event({"event": "note", "level": "loud", "content": "usual"})
    return {"told": True}
"""
_LEAKS = """\
key = context.credential("key")
    context.event({"event": "note", "content": f"the key is {key}"})
    context.event({"event": "progress", "progress": 1, "message": f"with {key}"})
    print(f"printed {key}")
    if arguments.get("fail"):
        raise ToolError("FAILED", f"cannot use {key}")
    return {"key": key, "inside": [f"Bearer {key}"]}
"""
_CREDENTIALS = """\
@hookimpl
def credentials():
    return [Credential("key", environment="SERVED_KEY", path="served.key", url="nowhere")]
"""
WAITS = """\
import os, subprocess, time
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    with open(arguments["mark"] + ".begun", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(arguments["mark"] + ".begun", arguments["mark"])
    while not os.path.exists(arguments["mark"] + ".go"):
        time.sleep(0.02)
    return {"waited": True}
"""


def install_two(machine: Machine) -> Machine:
    """Install one that greets, and one that waits: all that tests of the server itself need."""
    machine.uncover_the_host()
    machine.install("hello", execute="return {'hello': True}")
    _install_the_one_that_waits(machine)
    return machine


def install(machine: Machine) -> Machine:
    """Install all of them."""
    any_text = {"type": "string", "description": "A text."}
    machine.uncover_the_host()
    machine.install("echo", properties={"text": any_text, "n": {"type": "integer", "description": "N.", "minimum": 1}})
    declared = {"title": "Echo of a text", "read_only": False, "destructive": True, "open_world": False, "later": 1}
    (machine.site / "module_echo.tool.json").write_text(json.dumps(declared))
    machine.install("computed", static=False, top="print('imported')")
    machine.install("fails", execute='raise ToolError("NO_LUCK", "Not today.", retry_after=5)')
    machine.install("raises", execute='raise RuntimeError("unexpected")')
    machine.install("crashes", execute="import os; os._exit(3)")
    machine.install("prints", execute="print('to stdout', flush=True); return {'printed': True}")
    machine.install("tells", execute=_EVENTS)
    machine.install(
        "leaks",
        top=_CREDENTIALS,
        execute=_LEAKS,
        properties={"fail": {"type": "boolean", "description": "Fail."}},
    )
    _install_the_one_that_waits(machine)
    machine.install(
        "large",
        top=(
            "from ferrule import ResultPolicy, hookimpl\n"
            "result_policy = hookimpl(lambda: ResultPolicy(linkable=True, cache_seconds=60))"
        ),
        execute="return {'title': 'Much', 'text': 'x' * 40_000}",
        properties={"topic": any_text},
    )
    machine.install("sees", execute="import os; return {'names': sorted(os.environ), 'cwd': os.getcwd()}")
    machine.install("broken", top="raise ImportError('it cannot be')", static=False)
    machine.environment["SERVED_KEY"] = SECRET
    return machine


def _install_the_one_that_waits(machine: Machine) -> None:
    """Its mark is a path in the machine's `work`, since it may write nowhere else."""
    machine.install(
        "waits",
        execute=WAITS,
        properties={"mark": {"type": "string", "description": "A path."}},
        permissions={"network": [], "write": [str(machine.work)], "programs": ["sleep"]},
    )
