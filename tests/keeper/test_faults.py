"""Whatever happens to a keeper and around it, a call has one answer, in time, and nothing is left behind."""

import json
import os
import select
import shutil
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

import ferrule
from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_address import runtime_folder
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.keeper import Caller, Family, KeptMachine, LinkedMachine, Refused, children_of, keepers_of
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process

OSLO = b'{"city": "Oslo"}'
GOT_OSLO = {"got": {"city": "Oslo"}}
NOBODY = 65_534
_WAITS = "open({gate!r}).read(); return {{'waited': True}}"
_BOMB = """\
import os, time
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)"""
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="elsewhere: only root can be somebody else, or make name spaces")


def wait_until_all_have_ended(files: dict[int, int]) -> None:
    """files: of processes, by their numbers."""
    poll = select.poll()
    for file in files.values():
        poll.register(file, select.POLLIN)
    left = {file: process for process, file in files.items()}
    while left:
        ended = poll.poll(PATIENCE_SECONDS * 1000)
        assert ended, f"still there: {list(left.values())}"
        for file, _ in ended:
            poll.unregister(file)
            del left[file]


# ---- its processes


@pytest.mark.parametrize(
    "is_repeatable", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["once", "repeatable"]
)
@pytest.mark.parametrize(
    "victim", ["keeper", "plugin", *(pytest.param(one, marks=pytest.mark.slow) for one in ("guard", "zygote", "copy"))]
)
def test_a_call_has_one_answer_whichever_process_is_killed_meanwhile(
    victim: str, is_repeatable: bool, linked: LinkedMachine
) -> None:
    gate = linked.kept.machine.gate()
    executable = linked.install("alpha", execute=_WAITS.format(gate=str(gate)), permissions={})
    if is_repeatable:
        (linked.kept.machine.site / "module_alpha.tool.json").write_text('{"permissions": {}, "idempotent": true}')
    healthy = linked.install("beta")
    keeper = linked.kept.start()
    process = linked.start(executable)
    with open(gate, "w"), ExitStack() as stack:  # which waits until the tool is there
        family = Family.of(keeper)
        copies = [copy for plugin in family.plugins for copy in children_of(plugin)]
        every = [*family.members(), *copies]
        files = {one: os.pidfd_open(one) for one in every}
        for file in files.values():
            stack.callback(os.close, file)
        whom = {"plugin": family.plugins, "copy": copies}.get(victim) or [getattr(family, victim)]
        for one in whom:
            os.kill(one, signal.SIGKILL)
        is_lost = victim in ("keeper", "guard", "zygote")
        wait_until_all_have_ended(files if is_lost else {one: files[one] for one in (*whom, *copies)})
    if is_lost and is_repeatable:
        with open(gate, "w"):
            pass  # the call that was made again is there, and may go on
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    document = json.loads(out)

    if is_lost:
        assert document == {"waited": True} if is_repeatable else document["error_code"] == "KEEPER_LOST"
    else:
        assert document["error_code"] == "INTERNAL_ERROR"
    assert process.returncode == (0 if is_lost and is_repeatable else 1)
    assert linked.run(healthy, OSLO).document == GOT_OSLO


@pytest.mark.slow
def test_a_caller_and_its_keeper_that_are_killed_leave_nothing(linked: LinkedMachine) -> None:
    gate = linked.kept.machine.gate()
    executable = linked.install("alpha", execute=_WAITS.format(gate=str(gate)))
    keeper = linked.kept.start()
    process = linked.start(executable)
    with open(gate, "w"), ExitStack() as stack:
        family = Family.of(keeper)
        every = [*family.members(), *(copy for plugin in family.plugins for copy in children_of(plugin))]
        files = {one: os.pidfd_open(one) for one in every}
        for file in files.values():
            stack.callback(os.close, file)
        process.kill()
        os.kill(keeper, signal.SIGKILL)
        wait_until_all_have_ended(files)
    assert process.communicate(timeout=PATIENCE_SECONDS) == (b"", b"")


@pytest.mark.slow
def test_a_tool_that_forks_without_end_is_ended_and_hurts_no_other_call(kept: KeptMachine) -> None:
    kept.machine.install("bomb", execute=_BOMB, permissions={"processes": 16})
    kept.machine.install("beta")
    keeper = kept.start()
    assert kept.call("bomb", {}, environ={"FERRULE_DEADLINE": "1"}).document["error_code"] == "TIMEOUT"
    assert kept.call("beta", OSLO).document == GOT_OSLO
    family = Family.of(keeper)
    wait_for(lambda: not any(children_of(one) for plugin in family.plugins for one in children_of(plugin)))


# ---- its socket and the folder of that


def replace_by_socket(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{path}.other")
    os.rename(f"{path}.other", path)


def replace_by_file(path: str) -> None:
    Path(f"{path}.other").write_text("")
    os.rename(f"{path}.other", path)


def replace_folder(path: str) -> None:
    folder = os.path.dirname(path)
    os.rename(folder, f"{folder}.other")
    os.mkdir(folder, 0o700)
    replace_by_file(path)


@pytest.mark.parametrize("replace", [replace_by_socket, replace_by_file, replace_folder])
def test_it_ends_where_its_socket_is_replaced_and_leaves_what_is_there_now(replace, kept: KeptMachine) -> None:
    file = os.pidfd_open(kept.start())
    replace(kept.path)
    wait_until_all_have_ended({0: file})
    os.close(file)
    assert os.path.lexists(kept.path)


def test_it_ends_with_the_folder_of_the_session(kept: KeptMachine) -> None:
    file = os.pidfd_open(kept.start())
    shutil.rmtree(kept.runtime, ignore_errors=True)  # its keeper may remove its own files first
    wait_until_all_have_ended({0: file})
    os.close(file)
    kept.runtime.mkdir(mode=0o700)


@ROOT
def test_another_user_gets_no_answer_wherever_the_socket_is_open(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    assert ask_as(NOBODY, kept.path) == b"PermissionError"
    for path, mode in ((kept.runtime.parent, 0o755), (kept.runtime, 0o755), (kept.runtime / "ferrule", 0o755)):
        path.chmod(mode)
    os.chmod(kept.path, 0o666)
    assert ask_as(NOBODY, kept.path) in (b"", b"ConnectionResetError", b"BrokenPipeError")
    (kept.runtime / "ferrule").chmod(0o700)
    assert kept.call("alpha", OSLO).document == GOT_OSLO


def ask_as(user: int, path: str) -> bytes:
    """What a process of a user hears when it asks for a keeper's facts, or the name of the error."""
    source, told = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
                line.sendall(frames.frame(frames.FACTS))
                os.write(told, line.recv(4096))
        except OSError as error:
            os.write(told, type(error).__name__.encode())
        finally:
            os._exit(0)
    os.close(told)
    with open(source, "rb") as file:
        heard = file.read()
    os.waitpid(child, 0)
    return heard


@ROOT
def test_nothing_is_made_in_the_runtime_folder_of_another_user(tmp_path: Path) -> None:
    """As `sudo -E` would have it."""
    foreign = tmp_path / "run"
    foreign.mkdir(mode=0o700)
    os.chown(foreign, NOBODY, NOBODY)
    assert not runtime_folder({"XDG_RUNTIME_DIR": str(foreign)}, is_made=True).startswith(str(tmp_path))
    assert list(foreign.iterdir()) == []


# ---- who asks from elsewhere


@pytest.mark.slow
@ROOT
def test_callers_in_other_name_spaces_make_their_calls_themselves(linked: LinkedMachine) -> None:
    executable = linked.install("alpha")
    linked.kept.start()
    assert linked.run(executable, OSLO).document == GOT_OSLO
    before = linked.calls()
    assert before == 1
    for space in ("--net", "--mount", "--ipc", "--uts", "--cgroup", "--pid", "--time"):
        further = ["--fork"] if space in ("--pid", "--time") else []
        done = linked.run(executable, OSLO, before=["unshare", space, *further])
        assert (done.document, done.exit_code, done.stderr) == (GOT_OSLO, 0, b""), space
        assert linked.calls() == before, space
    assert linked.run(executable, OSLO).document == GOT_OSLO
    assert linked.calls() == before + 1


@pytest.mark.slow
def test_two_environments_have_a_keeper_each(linked: LinkedMachine) -> None:
    executable = linked.install("alpha")
    linked.kept.start()
    other = {"LC_ALL": "C.UTF-8"}
    assert linked.run(executable, OSLO, **other).document == GOT_OSLO
    wait_for(lambda: len([one for one in keepers_of(linked.environment) if one.facts]) == 2)
    before = linked.calls()
    for environ in ({}, other, {}, other):
        assert linked.run(executable, OSLO, **environ).document == GOT_OSLO
    assert linked.calls() == before + 4


# ---- what changes between two calls


def test_a_tool_that_was_upgraded_is_called_as_it_is_now(linked: LinkedMachine) -> None:
    executable = linked.install("alpha", execute="return {'version': 1}")
    linked.kept.start()
    assert linked.run(executable).document == {"version": 1}
    linked.kept.machine.install("alpha", execute="return {'version': 2}")
    metadata = linked.kept.machine.site / "dist_alpha-1.0.dist-info"
    metadata.rename(metadata.with_name("dist_alpha-2.0.dist-info"))
    assert linked.run(executable).document == {"version": 2}
    shutil.rmtree(metadata.with_name("dist_alpha-2.0.dist-info"))
    assert "No installed distribution offers" in linked.run(executable).document["error"]
    assert linked.calls() == 3


def test_it_ends_when_another_ferrule_is_installed(kept: KeptMachine) -> None:
    package = kept.machine.site / "ferrule"
    shutil.copytree(Path(ferrule.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    kept.machine.install("alpha")
    file = os.pidfd_open(kept.start())
    assert kept.call("alpha", OSLO).document == GOT_OSLO
    os.utime(package / "_version.py", (1, 1))
    with pytest.raises(Refused, match="another ferrule is installed"):
        kept.call("alpha", OSLO)
    wait_until_all_have_ended({0: file})
    os.close(file)


def test_what_the_admin_changes_holds_for_the_next_call(linked: LinkedMachine) -> None:
    executable = linked.install("alpha")
    linked.kept.start()
    keep = '[keep]\ntools = ["*"]\n'
    assert linked.run(executable, OSLO).document == GOT_OSLO
    for table, phrase in (
        ("[tools.alpha]\nenabled = false\n", "disabled by [tools.alpha]"),
        ("[tools.alpha\n", "config.toml is not TOML"),
    ):
        linked.kept.configure(keep + table)
        assert phrase in linked.run(executable, OSLO).document["error"]
    linked.kept.configure("locked = true\n" + keep)
    assert linked.run(executable, OSLO).document["success"] is False
    linked.kept.configure(keep)
    assert linked.run(executable, OSLO).document == GOT_OSLO


def test_a_tool_cannot_ask_the_keeper_nor_end_it(kept: KeptMachine) -> None:
    """Whatever the admin lets it do: its process has fewer rights than a caller."""
    kept.machine.install("beta")
    kept.start()
    table = f"[tools.alpha.permissions]\nnetwork = ['loopback', 'public']\nread = ['/']\nwrite = ['{kept.runtime}']\n"
    kept.configure(f'[keep]\ntools = ["*"]\n{table}')
    sent = [frames.frame(frames.STOP), frames.frame(frames.FACTS), frames.hello_frame(kept.hello("beta"))]
    kept.machine.install("alpha", top="import socket", execute=_ASKS.format(path=kept.path, sent=sent), permissions={})
    heard = kept.call("alpha", {}).document["heard"]
    assert heard == ["PermissionError"] * 3 or all(one.startswith(("R", "Permission")) for one in heard), heard
    assert kept.call("beta", OSLO).document == GOT_OSLO


_ASKS = """\
heard = []
    for data in {sent!r}:
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.connect({path!r})
                line.sendall(data)
                heard.append(line.recv(4096).decode(errors='replace'))
        except OSError as error:
            heard.append(type(error).__name__)
    return {{'heard': heard}}"""


def test_a_caller_that_says_half_of_what_it_has_to_say_keeps_nobody(kept: KeptMachine) -> None:
    kept.machine.install("alpha")
    kept.start()
    hello = frames.hello_frame(kept.hello("alpha"))
    with ExitStack() as stack:
        for size in (0, 1, 5, len(hello) // 2, len(hello) - 1):
            Caller(stack.enter_context(kept.connect())).send(hello[:size])
        assert kept.call("alpha", OSLO).document == GOT_OSLO
