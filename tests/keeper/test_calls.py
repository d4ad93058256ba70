"""A call that the keeper makes answers as the executable itself does, and has its caller's surroundings."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ferrule.links import keeper_frames as frames
from ferrule_testkit.keeper import KeptMachine

pytestmark = pytest.mark.process

OSLO = {"city": "Oslo"}
_SURROUNDINGS = """\
import os
    mask = os.umask(0)
    os.umask(mask)
    names = ("IKIGAI_AGENT_ID", "TERM", "OWN", "OTHER")
    return {"folder": os.getcwd(), "mask": mask, "seen": {name: os.environ.get(name) for name in names}}"""
_COUNT = """\
global count
    count += 1
    return {"count": count}"""


def cold(kept: KeptMachine, tool: str, data: bytes, **environ: str) -> tuple[Any, str, int]:
    """The same call by an executable, without a keeper."""
    folder = kept.machine.work / "bin"
    path = folder / f"{tool.replace('_', '-')}-tool"
    if not path.exists():
        done = kept.machine.ferrule("link", tool, "--to", str(folder))
        assert done.code == 0, done.err
    ended = subprocess.run(
        [path], input=data, capture_output=True, env={**kept.machine.environment, **environ}, cwd=kept.machine.work
    )
    return json.loads(ended.stdout), ended.stderr.decode(), ended.returncode


EXECUTES = [
    ("return {'got': arguments}", b'{"city": "Oslo"}'),
    ("return {'got': arguments}", b'{"town": "Oslo"}'),
    ("return {'got': arguments}", b"no json"),
    ("return {'got': arguments}", b"[]"),
    ("return {'got': arguments}", b'{"city": "' + b"x" * (1 << 20) + b'"}'),
    ("raise ToolError('NOT_HERE', 'Oslo is not here.', hint='Try Bergen.')", b"{}"),
    ("raise RuntimeError('broken')", b"{}"),
    ("print('printed'); return {}", b"{}"),
    ("context.event('config_required', {'tool': 'x'}); return {}", b"{}"),
    ("return {'long': 'x' * 100_000}", b"{}"),
    ("import os; os._exit(3)", b"{}"),
]
"""What a tool does, and the input of its call."""


def test_it_writes_what_the_executable_writes(kept: KeptMachine) -> None:
    """One keeper, which has a tool for each of them."""
    tools = {execute: f"alpha_{number}" for number, (execute, _) in enumerate(EXECUTES)}
    for execute, name in tools.items():
        kept.machine.install(name, execute=execute)
    without = [cold(kept, tools[execute], data) for execute, data in EXECUTES]
    kept.start()

    def settle(text: str) -> str:
        return re.sub(r"0x[0-9a-f]+|in [0-9.]+ s", "", text)

    for (execute, data), (document, text, code) in zip(EXECUTES, without, strict=True):
        answer = kept.call(tools[execute], data)
        assert answer.document == document, execute
        assert (settle(answer.stderr), answer.exit_code) == (settle(text), code), execute


def test_failures_exit_as_the_caller_chooses(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    assert kept.call("alpha", b"{").exit_code == 1
    assert kept.call("alpha", b"{", environ={"IKIGAI_AGENT_ID": "agent-1"}).exit_code == 0


def test_each_call_has_the_variables_the_folder_and_the_mask_of_its_caller(kept: KeptMachine, tmp_path: Path) -> None:
    kept.machine.install("alpha", execute=_SURROUNDINGS, permissions={"environment": ["OWN"]})
    kept.start()
    for number in ("1", "2", "1"):
        environ = {"IKIGAI_AGENT_ID": f"agent-{number}", "TERM": "dumb", "OWN": number, "OTHER": "secret"}
        folder = tmp_path / number
        folder.mkdir(exist_ok=True)
        found = kept.call("alpha", {}, environ=environ, folder=str(folder), umask=0o027 + int(number)).document
        assert found == {
            "folder": str(folder),
            "mask": 0o027 + int(number),
            "seen": {"IKIGAI_AGENT_ID": f"agent-{number}", "TERM": "dumb", "OWN": number, "OTHER": None},
        }


def test_nothing_is_left_of_a_call_for_the_next_one(kept: KeptMachine) -> None:
    kept.machine.install("alpha", top="count = 0", execute=_COUNT)
    kept.start()
    assert [kept.call("alpha", {}).document["count"] for _ in range(4)] == [1, 1, 1, 1]


def test_a_credential_is_the_callers_and_what_it_is_now(kept: KeptMachine) -> None:
    top = "@hookimpl\ndef credentials():\n    return [Credential('key', environment='OWN_KEY', path='own.key')]"
    kept.machine.install("alpha", top=top, execute="return {'length': len(context.credential('key'))}")
    kept.start()
    assert kept.call("alpha", {}, environ={"OWN_KEY": "abcdef"}).document == {"length": 6}
    assert kept.call("alpha", {}, environ={"OWN_KEY": "abcdefgh"}).document == {"length": 8}
    assert kept.call("alpha", {}).document["error_code"] == "AUTH_MISSING"
    kept.machine.credentials.parent.mkdir(parents=True)
    kept.machine.credentials.write_text(json.dumps({"own": {"key": "abc"}}))
    assert kept.call("alpha", {}).document == {"length": 3}


def test_what_is_accepted_of_a_tool_counts_for_the_next_call(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    assert kept.call("alpha", OSLO).document == {"got": OSLO}
    record_of(kept, "alpha").chmod(0o666)  # so that anybody can have written it
    assert kept.call("alpha", OSLO).document["error_code"] == "PERMISSION_DENIED"
    record_of(kept, "alpha").chmod(0o600)
    assert kept.call("alpha", OSLO).document == {"got": OSLO}


@pytest.mark.slow
def test_a_call_that_waits_has_its_callers_credential_though_the_policy_is_found_again(kept: KeptMachine) -> None:
    top = """\
import time; time.sleep(1)
@hookimpl
def credentials():
    return [Credential('key', environment='OWN_KEY', path='own.key')]"""
    execute = "return {'length': len(context.credential('key'))}"
    kept.machine.install("alpha", top=top, execute=execute)
    kept.start()
    environ = {"OWN_KEY": "abcdef"}
    with kept.begun("alpha", environ=environ) as first, kept.begun("alpha", environ=environ) as second:
        for caller in (first, second):  # while the tool is being loaded
            caller.send_input(b"{}")
            caller.send(frames.frame(frames.PING))
            caller.expect(frames.PONG)
            record_of(kept, "alpha").touch()
        assert [one.answer().document for one in (first, second)] == [{"length": 6}] * 2


def record_of(kept: KeptMachine, tool: str) -> Path:
    """What was accepted of a tool, written at its first call."""
    return kept.machine.home / f".local/state/ferrule/permissions/{tool}.json"


def test_many_at_once_each_get_their_own_answer(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    cities = [f"city {number}" for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda city: kept.call("alpha", {"city": city}).document, cities))
    assert answers == [{"got": {"city": city}} for city in cities]


def test_a_tool_that_has_other_tools_run_gives_them_the_callers_variables(kept: KeptMachine) -> None:
    kept.machine.install(
        "inner", execute="import os; return {'own': os.environ.get('OWN')}", permissions={"environment": ["OWN"]}
    )
    kept.machine.install(
        "outer",
        top="import json, time\nfrom ferrule.installed import run_tool",
        execute="return json.loads(run_tool('inner', {}, deadline=time.monotonic() + 20).result)",
        permissions={"tools": ["inner"]},
    )
    kept.start()
    assert kept.call("outer", {}, environ={"OWN": "mine"}).document == {"own": "mine"}


def test_the_journal_has_the_caller(kept: KeptMachine) -> None:
    kept.configure('[keep]\ntools = ["*"]\n[journal]\nenabled = true\n')
    kept.machine.install("alpha")
    kept.start()
    kept.call("alpha", OSLO, environ={"IKIGAI_AGENT_ID": "agent-7", "FERRULE_CALLER": "tests"})
    entry = json.loads(kept.machine.ferrule("log", "--json").out)["calls"][0]
    assert (entry["tool"], entry["way"], entry["agent"]) == ("alpha", "tests", "agent-7")


def test_a_linked_executable_starts_it_and_does_not_wait(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    assert cold(kept, "alpha", b"{}")[2] == 0
    state = kept.ferrule_keep("start")  # which finds the one that was started
    assert os.path.exists(state["socket"])
    kept.path = state["socket"]
    assert kept.call("alpha", OSLO).document == {"got": OSLO}


def test_no_executable_starts_one_for_a_tool_that_is_not_kept(kept: KeptMachine) -> None:
    kept.configure('[keep]\ntools = ["beta"]\n')
    kept.machine.install("alpha")
    assert cold(kept, "alpha", b"{}")[2] == 0
    assert not list(kept.runtime.rglob("keep-*"))


def test_what_is_taken_away_while_a_tool_is_loaded_is_gone_for_the_calls_that_wait_and_all_later_ones(
    kept: KeptMachine, tmp_path: Path
) -> None:
    gate, diary = kept.machine.gate(), tmp_path / "diary"
    diary.write_text("private")
    held = f"import os\nif os.path.exists({str(gate)!r}):\n    open({str(gate)!r}).read()"
    kept.machine.install("alpha", top=held, execute=f"return {{'got': open({str(diary)!r}).read()}}", permissions={})
    table = '[keep]\ntools = ["*"]\n'
    kept.configure(f'{table}[tools.alpha.permissions]\nread = ["{diary}"]\n')
    kept.start()
    with kept.begun("alpha") as first:
        first.send_input(b"{}")
        with open(gate, "w"):  # which waits until the tool is being loaded
            gate.unlink()
            kept.configure(table)
            answers = [kept.call("alpha", {}), first.answer(), kept.call("alpha", {})]
    assert [one.document.get("error_code") for one in answers] == ["PERMISSION_DENIED"] * 3
