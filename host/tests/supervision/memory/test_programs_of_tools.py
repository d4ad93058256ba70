"""Programs that a tool starts: what they are denied is told, and what they use of the memory is bounded."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule.confinement import support
from ferrule_testkit.machine import Machine

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(support().missing), reason=f"not held here: {'; '.join(support().missing)}"),
]
with_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

RUN = """import subprocess
    done = subprocess.run({words}, capture_output=True, text=True, shell={shell})
    if done.returncode:
        raise ToolError("PROGRAM_FAILED", done.stderr[-200:] or "It failed.")
    return {{"printed": done.stdout}}"""
ALLOCATES = "const a=[];for(let i=0;i<MIB;i++)a.push(Buffer.alloc(1<<20,1));console.log(a.length)"
OBJECTS = "const a=[];for(let i=0;i<5e6;i++)a.push({i});console.log(a.length)"


def install(machine: Machine, words: list[str] | str, programs: list[str], **permissions: Any) -> None:
    """A tool that runs a program, with `PROGRAM_FAILED` for one that fails."""
    execute = RUN.format(words=repr(words), shell=isinstance(words, str))
    machine.install("alpha", properties={}, execute=execute, permissions={"programs": programs, **permissions})


def run(machine: Machine, **environment: str) -> Any:
    return machine.ferrule("run", "alpha", "{}", environment=environment).document


@pytest.fixture
def secret(machine: Machine) -> Path:
    path = machine.home / "secret.txt"
    path.write_text("open-sesame")
    return path


def told(machine: Machine, document: Any) -> str:
    """What a failure says that was denied, with its verb; its code for any other failure."""
    if document["error_code"] != "PERMISSION_DENIED":
        return str(document["error_code"])
    wanted: str = document["error"].removeprefix("alpha wanted to ").partition(";")[0]
    return wanted.replace("~", str(machine.home))


@pytest.mark.parametrize("way", ["absolute", "relative", "by a link"])
def test_a_file_that_a_program_is_denied_is_why_the_call_fails(machine: Machine, secret: Path, way: str) -> None:
    link = machine.work / "link"
    link.symlink_to(secret)
    word = {"absolute": str(secret), "relative": os.path.relpath(secret, machine.work), "by a link": str(link)}[way]
    install(machine, ["cat", word], ["cat"])
    called = machine.ferrule("run", "alpha", "{}")
    document = called.document
    assert told(machine, document) == f"read {secret}"
    assert "ferrule permissions grant alpha --read ~/secret.txt" in called.err
    assert "The tool said PROGRAM_FAILED: cat: " in document["error"]


def test_a_link_in_a_folder_that_may_be_read_does_not_hide_what_it_leads_to(machine: Machine, secret: Path) -> None:
    (machine.home / "notes").mkdir()
    (machine.home / "notes" / "link").symlink_to(secret)
    install(machine, ["cat", str(machine.home / "notes" / "link")], ["cat"], read=["~/notes"])
    assert told(machine, run(machine)) == f"read {secret}"


DENIED = {
    "a file is written": ("echo a > HOME/new", "write HOME/new"),
    "a folder is made": ("mkdir HOME/new", "write HOME/new"),
    "a file is removed": ("rm HOME/secret.txt", "write HOME/secret.txt"),
    "a file is renamed": ("mv -f HOME/secret.txt HOME/other.txt", "write HOME/other.txt"),
    "a program is started": ("head -c 1 /dev/null", f"run {os.path.realpath('/usr/bin/head')}"),
    "a folder is listed": ("ls HOME", "read HOME"),
    "the last of several": ("cat HOME/secret.txt HOME/.profile", "read HOME/.profile"),
    "what was given, before what was looked for": ("cat HOME/secret.txt; . HOME/.profile", "read HOME/secret.txt"),
}


@pytest.mark.parametrize("what", DENIED)
@pytest.mark.usefixtures("secret")
def test_what_programs_are_denied_is_told(machine: Machine, what: str) -> None:
    command, denied = DENIED[what]
    (machine.home / ".profile").touch()
    install(machine, command.replace("HOME", str(machine.home)), ["sh", "cat", "mkdir", "rm", "mv", "ls"])
    assert told(machine, run(machine)) == denied.replace("HOME", str(machine.home))


@pytest.mark.usefixtures("secret")
def test_a_program_that_does_without_what_it_is_denied_is_no_failure(machine: Machine) -> None:
    install(machine, f"cat {machine.home}/secret.txt || echo none", ["sh", "cat"])
    assert run(machine) == {"printed": "none\n"}


@pytest.mark.parametrize("command", ["cat /nowhere/at/all", "cat ~/secret.txt > /dev/null; exit 3", "exit 3"])
@pytest.mark.usefixtures("secret")
def test_a_program_that_fails_for_another_reason_is_told_as_it_was(machine: Machine, command: str) -> None:
    install(machine, command, ["sh", "cat"], read=["~/secret.txt"])
    assert run(machine)["error_code"] == "PROGRAM_FAILED"


def test_what_a_program_does_without_is_not_told_for_a_failure_of_the_tool(machine: Machine, secret: Path) -> None:
    install(machine, f"true < {secret} || true", ["sh"])
    path = machine.site / "module_alpha.py"
    path.write_text(
        path.read_text().replace("    return {", '    raise ToolError("CITY_UNKNOWN", "No.")\n    return {')
    )
    assert run(machine)["error_code"] == "CITY_UNKNOWN"


def test_a_file_that_python_opens_is_told_as_before(machine: Machine, secret: Path) -> None:
    machine.install("alpha", execute=f"open({str(secret)!r})", permissions={"programs": ["cat"]})
    assert told(machine, run(machine)) == f"read {secret}"


@with_node
@pytest.mark.parametrize("form", ["readFileSync(P)", "promises.readFile(P).catch(e => process.exit(7))"])
def test_what_node_is_denied_is_told_and_not_what_node_looks_for_itself(
    machine: Machine, secret: Path, form: str
) -> None:
    (machine.home / "package.json").write_text("{}")
    (machine.home / ".config").mkdir(exist_ok=True)
    install(machine, ["node", "-e", f"const P={str(secret)!r};require('fs').{form}"], ["node"])
    assert told(machine, run(machine)) == f"read {secret}"


READ_BY_PYTHON = {
    "its words name the file": ("import sys; open('HOME/' + sys.argv[1])", ["secret.txt"], "read HOME/secret.txt"),
    "its command line names the file": (
        "import os, sys\ntry: open(sys.argv[1])\nexcept OSError: os._exit(3)", ["HOME/secret.txt"],
        "read HOME/secret.txt",
    ),
    "its words name it as from its folder": ("open('../secret.txt')", ["../secret.txt"], "read HOME/secret.txt"),
    "nothing names the file": (
        "import os, sys\ntry: open('HO' 'ME/secr' + 'et.txt')\nexcept OSError: os._exit(3)", [], "PROGRAM_FAILED",
    ),
    "it fails for another reason": ("open('nothing')", ["secret.txt"], "PROGRAM_FAILED"),
    "it names what is not there": ("open('HOME/absent')", ["HOME/absent"], "PROGRAM_FAILED"),
    "it names what it may read": ("open(1 / 0)", ["/usr/share", "/dev/null"], "PROGRAM_FAILED"),
}  # fmt: skip


@pytest.mark.parametrize("what", READ_BY_PYTHON)
def test_what_an_interpreter_is_denied_is_found_by_its_words(machine: Machine, secret: Path, what: str) -> None:
    code, arguments, denied = READ_BY_PYTHON[what]
    folder = machine.home / "inner"
    folder.mkdir()
    home = str(machine.home)
    words = ["sh", "-c", f'cd {folder} && exec "$@"', "sh", sys.executable, "-c", code, *arguments]
    install(machine, [word.replace("HOME", home) for word in words], ["sh", sys.executable])
    assert told(machine, run(machine)) == denied.replace("HOME", home)


def test_what_a_program_reads_and_goes_on_without_does_not_wait_for_the_host(machine: Machine, secret: Path) -> None:
    (machine.home / ".config" / "ferrule").mkdir(parents=True)
    (machine.home / ".config" / "ferrule" / "config.toml").write_text("[journal]\nenabled = true\n")
    code = f"try: open({str(secret)!r})\nexcept OSError: print('none')"
    install(machine, [sys.executable, "-c", code], [sys.executable])
    assert run(machine) == {"printed": "none\n"}
    assert machine.ferrule("log", "--denied", "--json").document["calls"] == []


@pytest.mark.slow
def test_the_journal_and_a_trace_have_what_a_program_was_denied(machine: Machine, secret: Path) -> None:
    (machine.home / ".config" / "ferrule").mkdir(parents=True)
    (machine.home / ".config" / "ferrule" / "config.toml").write_text("[journal]\nenabled = true\n")
    install(machine, ["cat", str(secret)], ["cat"])
    run(machine)
    calls = machine.ferrule("log", "--denied", "--json").document["calls"]
    assert [call["denied"] for call in calls] == [[{"kind": "read", "what": str(secret)}]]
    traced = machine.ferrule("run", "--trace", "--confined", "alpha", "{}", "--json").document
    assert told(machine, traced["answer"]) == f"read {secret}"
    assert traced["denied"] == [{"kind": "read", "what": str(secret)}]
    shown = machine.ferrule("run", "--trace", "--confined", "alpha", "{}").out
    assert f"Denied:\n  read {secret}\n" in shown


@pytest.mark.slow
@pytest.mark.usefixtures("commands")
def test_a_check_fails_with_the_file_that_a_program_is_denied(machine: Machine) -> None:
    install(machine, ["cat", "notes.txt"], ["cat"])
    declared = machine.site / "module_alpha.tool.json"
    declared.write_text(json.dumps({**json.loads(declared.read_text()), "examples": [{}]}))
    folder = machine.work / "folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("a note")
    checked = machine.ferrule("check", "alpha", "--quick", "--in", str(folder), "--json")
    states = {one["id"]: one for one in checked.document["targets"][0]["checks"]}
    assert checked.code == 1
    assert (states["examples"]["state"], states["permissions"]["state"]) == ("failed", "failed")
    assert "notes.txt" in states["examples"]["message"]
    declared.write_text(json.dumps({"permissions": {"programs": ["cat"], "read": ["."]}, "examples": [{}]}))
    passed = machine.ferrule("check", "alpha", "--quick", "--in", str(folder), "--json")
    states = {one["id"]: one["state"] for one in passed.document["targets"][0]["checks"]}
    assert (states["examples"], states["permissions"], states["good-input"]) == ("passed", "passed", "passed")


@with_node
@pytest.mark.parametrize("program", [ALLOCATES.replace("MIB", "300"), OBJECTS], ids=["buffers", "objects"])
@pytest.mark.parametrize("isolation", ["strict", pytest.param("off", marks=pytest.mark.slow)])
def test_node_has_the_address_space_that_it_reserves(machine: Machine, program: str, isolation: str) -> None:
    configure(machine, isolation)
    install(machine, ["node", "-e", program], ["node"])
    assert run(machine, FERRULE_MEMORY="1024")["printed"].strip() in ("300", "5000000")


@with_node
@pytest.mark.parametrize("isolation", ["strict", pytest.param("off", marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["run", "executable", pytest.param("trace", marks=pytest.mark.slow)])
def test_programs_that_use_too_much_end_the_call_which_names_the_setting(
    machine: Machine, isolation: str, way: str
) -> None:
    configure(machine, isolation)
    install(machine, ["node", "-e", "const a=[];for(;;)a.push(Buffer.alloc(1<<20,1))"], ["node"])
    memory = {"FERRULE_MEMORY": "200"}
    if way == "executable":
        machine.ferrule("link", "alpha")
        document = run_executable(machine, memory)
    else:
        option = ["--trace", "--json"] if way == "trace" else []
        done = machine.ferrule("run", *option, "alpha", "{}", environment=memory)
        document = done.document["answer"] if way == "trace" else done.document
        assert way == "trace" or "[tools.alpha] memory = 400" in done.err
    assert document["error_code"] == "OUT_OF_MEMORY"
    assert "more than 200 MiB" in document["error"]
    assert "memory = 400" not in json.dumps(document)


@pytest.mark.slow
def test_several_programs_are_counted_together_and_what_they_share_once(machine: Machine) -> None:
    each = "x = bytes([1]) * (60 << 20); import time; time.sleep(60)"
    words = f"for i in 1 2 3 4; do python3 -c '{each}' & done; wait"
    install(machine, words, ["sh", "python3"])
    assert run(machine, FERRULE_MEMORY="150")["error_code"] == "OUT_OF_MEMORY"
    shared = (
        "import os, time\nx = bytearray(b'1') * (60 << 20)\nfor _ in range(4):\n    if not os.fork():\n"
        "        time.sleep(0.5)\n        os._exit(0)\nfor _ in range(4):\n    os.wait()\nprint('done')"
    )
    install(machine, ["python3", "-c", shared], ["python3"])
    assert run(machine, FERRULE_MEMORY="200") == {"printed": "done\n"}


def test_what_a_program_leaves_behind_is_counted(machine: Machine) -> None:
    each = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nx = bytes([1]) * (300 << 20)\ntime.sleep(60)"
    install(machine, f"python3 -c '{each}'; sleep 60", ["sh", "python3", "sleep"])
    assert run(machine, FERRULE_MEMORY="150")["error_code"] == "OUT_OF_MEMORY"


def test_the_code_of_the_tool_itself_has_as_much_address_space_as_before(machine: Machine) -> None:
    machine.install("alpha", execute="bytearray(1 << 30)", permissions={"programs": ["cat"]})
    document = run(machine, FERRULE_MEMORY="300")
    assert "ran out of memory" in document["error"]
    lifting = (
        "import resource\n    hard = resource.getrlimit(resource.RLIMIT_AS)[1]\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))\n    kept = bytearray(b'1') * (1 << 30)\n"
        "    import time; time.sleep(20)"
    )
    machine.install("alpha", execute=lifting, permissions={"programs": ["cat"]})
    assert run(machine, FERRULE_MEMORY="300")["error_code"] == "OUT_OF_MEMORY"


@pytest.mark.parametrize("when", ["imported", "called"])
def test_a_library_that_does_not_fit_is_said_to_want_more_memory(machine: Machine, when: str) -> None:
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    library = machine.site / "large.so"
    source = b"char large[2000000000];"
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    subprocess.run(command, input=source, check=True)
    loading = f"import ctypes; ctypes.CDLL({str(library)!r})"
    if when == "imported":
        machine.install("alpha", top=loading)
    else:
        machine.install("alpha", execute=loading)
    document = run(machine)
    assert "failed to map segment" in document["error"] or "ran out of memory" in document["error"]
    assert ("Raise `memory` (MiB)" in document["error"]) is (when == "imported")
    shown = machine.ferrule("run", "alpha", "{}")
    assert "Raise `memory` (MiB)" in shown.out + shown.err


@pytest.mark.parametrize("has_file", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_the_table_of_a_tool_gives_its_calls_is_there_while_it_is_asked_for_its_schema(
    machine: Machine, has_file: bool
) -> None:
    folder = machine.home / ".config" / "ferrule"
    folder.mkdir(parents=True)
    folder.joinpath("config.toml").write_text("[tools.alpha]\nmemory = 4096\n")
    machine.install("alpha", top="import mmap\nlibrary = mmap.mmap(-1, 1500 << 20)", static=has_file)
    assert run(machine) == {"got": {}}
    for words in (("validate", "alpha"), ("list", "--check"), ("show", "alpha"), ("link", "alpha")):
        done = machine.ferrule(*words)
        assert (done.code, "cannot be loaded" in done.out + done.err) == (0, False), (words, done)


def configure(machine: Machine, isolation: str) -> None:
    folder = machine.home / ".config" / "ferrule"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f'[permissions]\nisolation = "{isolation}"\n')


def run_executable(machine: Machine, environment: dict[str, str]) -> Any:
    done = subprocess.run(
        [machine.tools / "alpha-tool"], input=b"{}", env={**machine.environment, **environment}, cwd=machine.work,
        capture_output=True, check=False,
    )  # fmt: skip
    return json.loads(done.stdout)
