"""`ferrule mcp` where a process is killed, where two change one server, and where calls run meanwhile."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit.machine import BIN, Finished, Machine
from ferrule_testkit.mcp_servers import scripted_server

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]

SECRET = "s3cr3t-of-the-killed-4711"
# Kills itself with the first event of a kind whose arguments have a text in them: EVENT, TEXT, ARGUMENT…
_KILLED = """\
import os, signal, sys
event, text, process = sys.argv.pop(1), sys.argv.pop(1), os.getpid()
def watch(name, arguments):
    if name == event and os.getpid() == process and text in str(arguments):
        os.kill(process, signal.SIGKILL)
sys.addaudithook(watch)
sys.argv[0] = "ferrule"
from ferrule.cli import main
sys.exit(main())
"""


class Place:
    """A machine with a server `talk` to be added. temporary: the folder for temporary files."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.temporary = folder / "temporary"
        self.scenario = folder / "scenario.json"
        self.data = machine.home / ".local/share/ferrule"
        self.temporary.mkdir()
        machine.environment["TMPDIR"] = str(self.temporary)
        self.tell("Says it.")

    def tell(self, description: str) -> None:
        """What the server says of its tool, and of itself in each answer."""
        listed = {"name": "say", "description": description, "inputSchema": {"type": "object", "properties": {}}}
        answer = {"content": [{"type": "text", "text": description}]}
        script = {"tools/list": [[{"result": {"tools": [listed]}}]], "tools/call": [[{"result": answer}]]}
        new = self.scenario.with_suffix(".new")
        new.write_text(json.dumps({"on": script}))
        new.rename(self.scenario)

    def words(self) -> list[str]:
        command = [sys.executable, "-I", "-S", scripted_server.__file__, str(self.scenario)]
        options = ["--allow", f"read={self.scenario}", "--env", f"SKY_API_KEY={SECRET}"]
        return ["mcp", "add", "talk", *options, "--", *command]

    def add(self) -> Finished:
        return self.machine.ferrule(*self.words())

    def kill(self, event: str, text: str, *words: str) -> None:
        """Run a command that is killed on its way."""
        command = [sys.executable, "-c", _KILLED, event, text, *words]
        done = subprocess.run(command, env=self.machine.environment, cwd=self.machine.work, capture_output=True)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()

    def call(self) -> Any:
        return self.machine.ferrule("run", "talk_say", "{}").document

    def list_left(self) -> list[str]:
        """What is there of servers and of what was tried, without locks."""
        folders = [self.data / "sources", self.data / "environments/mcp", self.data / "homes/mcp/talk", self.temporary]
        names = [name for folder in folders if folder.is_dir() for name in os.listdir(folder)]
        return sorted(name for name in names if not name.endswith(".lock"))


@pytest.fixture
def place(machine: Machine, tmp_path: Path) -> Place:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Place(machine, folder)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ("subprocess.Popen", "'--trace'"),  # the first start
        pytest.param("os.rename", "dist-info", marks=pytest.mark.slow),  # of the trial
        pytest.param("os.remove", ".trial", marks=pytest.mark.slow),
        pytest.param("open", ".ferrule-interview-", marks=pytest.mark.slow),
        pytest.param("open", ".unfinished", marks=pytest.mark.slow),
        pytest.param("os.rename", "sources/.source_mcp_talk", marks=pytest.mark.slow),
        pytest.param("subprocess.Popen", "'permissions'", marks=pytest.mark.slow),
        pytest.param("subprocess.Popen", "'credentials'", marks=pytest.mark.slow),
        pytest.param("os.remove", ".unfinished", marks=pytest.mark.slow),
    ],
)
def test_an_addition_that_is_killed_is_cleaned_up_by_the_next_one(event: str, text: str, place: Place) -> None:
    place.kill(event, text, *place.words())
    listed = place.machine.ferrule("mcp", "list", "--json")
    assert (listed.code, listed.err) == (0, "")
    added = place.add()
    assert added.code == 0, added.err
    assert place.call()["content"][0]["text"] == "Says it."
    assert SECRET in place.machine.credentials.read_text()
    assert place.list_left() == ["source_mcp_talk", "source_mcp_talk-1.dist-info"]
    assert "There is an MCP server 'talk' already." in place.add().err
    place.machine.ferrule("mcp", "remove", "talk")
    assert place.list_left() == []


@pytest.mark.slow
def test_what_is_half_added_can_be_removed(place: Place) -> None:
    place.kill("subprocess.Popen", "'credentials'", *place.words())
    assert ".talk.unfinished" in place.list_left()
    place.machine.hide_commands("ferrule-mcp")
    assert place.machine.ferrule("doctor", "--json", close_fds=True).err == ""
    assert place.machine.ferrule("mcp", "remove", "talk").code == 0
    assert place.list_left() == []


@pytest.mark.slow
def test_of_two_additions_one_wins_and_the_other_says_so(place: Place) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: _run(place, *place.words()), range(2)))
    codes = sorted(one.code for one in done)
    assert codes == [0, 1], [one.err for one in done]
    (late,) = [one for one in done if one.code]
    assert "Another process is changing" in late.err or "There is an MCP server 'talk' already." in late.err
    assert place.call()["content"][0]["text"] == "Says it."
    assert place.list_left() == ["source_mcp_talk", "source_mcp_talk-1.dist-info"]


@pytest.mark.slow
def test_calls_end_with_the_old_or_the_new_while_a_server_is_renewed_and_removed(place: Place) -> None:
    assert place.add().code == 0
    over = place.scenario.with_name("over")
    with ThreadPoolExecutor(2) as pool:
        calling = [pool.submit(_call_until, place, over) for _ in range(2)]
        try:
            place.tell("Says more.")
            renewed = _run(place, "mcp", "refresh", "talk", "--accept")
            removed = _run(place, "mcp", "remove", "talk")
        finally:
            over.touch()
        answers = [one for found in calling for one in found.result()]
    assert (renewed.code, removed.code) == (0, 0), renewed.err + removed.err
    assert answers
    for one in answers:
        document = one.document
        said = document["content"][0]["text"] if document.get("success", True) else document["error_code"]
        assert said in ("Says it.", "Says more.", "TOOL_UNKNOWN"), one


def _run(place: Place, *words: str) -> Finished:
    """`ferrule` as a program of its own."""
    environment, folder = place.machine.environment, place.machine.work
    done = subprocess.run([BIN / "ferrule", *words], env=environment, cwd=folder, capture_output=True, text=True)
    return Finished(done.returncode, done.stdout, done.stderr)


def _call_until(place: Place, over: Path) -> list[Finished]:
    """What came of calls, one after the other, until a file is there and one more was made."""
    answers = []
    is_over = False
    while not is_over:
        is_over = over.exists()
        answers.append(_run(place, "run", "talk_say", "{}"))
    return answers
