"""The control group of a call that may start programs: where it lies, what it holds, and that nothing of it is left.

The kernel's part is played by a folder, so that this runs where no group can be made.
"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.supervision.channel.channel import Channel
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.memory import group
from ferrule.supervision.memory.group import MemoryGroup, find_parent, make_group, prepare_groups
from ferrule.supervision.memory.watch import MemoryWatch
from ferrule.supervision.supervisor import supervise
from ferrule_testkit.processes.memory_groups import Hierarchy, install


@pytest.fixture
def hierarchy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hierarchy:
    for name in ("_ROOT", "_group_of", "_is_removed"):
        monkeypatch.setattr(group, name, getattr(group, name))
    monkeypatch.setattr(os, "mkdir", os.mkdir)
    made = Hierarchy(tmp_path / "cgroup")
    install(str(made.root))
    return made


def be_in(hierarchy: Hierarchy, own: str) -> None:
    group._group_of = lambda process: own if process == "self" else None


def test_a_group_lies_beside_that_of_the_host_and_has_the_limit(hierarchy: Hierarchy) -> None:
    made = make_group(300)
    assert made is not None
    assert Path(made.path).parent == hierarchy.box
    said = {name: Path(made.path, f"memory.{name}").read_text() for name in ("max", "swap.max", "oom.group")}
    assert said == {"max": str(300 << 20), "swap.max": "0", "oom.group": "1"}
    made.limit(400)
    assert Path(made.path, "memory.max").read_text() == str(400 << 20)
    made.remove()
    assert not hierarchy.calls()


def test_no_group_lies_beside_one_with_a_limit_that_it_would_escape(hierarchy: Hierarchy) -> None:
    (hierarchy.root / "box/host/memory.max").write_text("max\n")
    assert find_parent() == str(hierarchy.box)
    (hierarchy.root / "box/host/memory.max").write_text("1073741824\n")
    assert find_parent() is None


def test_the_root_of_the_machine_may_give_its_own_processes_groups(hierarchy: Hierarchy) -> None:
    hierarchy.add("/", controllers="memory")
    be_in(hierarchy, "/")
    assert find_parent() == str(hierarchy.root)


@pytest.mark.parametrize(
    ("own", "controllers"),
    [
        ("/box/host", "cpu"),
        ("/user.slice/session.scope", "memory"),
        ("/a.service/host", "memory"),
        ("/managed/session.scope", "memory"),
        ("/box/ferrule-call-7-1", "memory"),
    ],
    ids=["no memory", "a slice", "not delegated", "a manager's own", "within a call"],
)
def test_no_group_is_made_where_another_one_rules(hierarchy: Hierarchy, own: str, controllers: str) -> None:
    hierarchy.add(os.path.dirname(own), controllers)
    hierarchy.add("/managed/init.scope")
    hierarchy.add(own)
    be_in(hierarchy, own)
    assert find_parent() is None
    assert make_group(300) is None


def test_the_group_of_a_unit_gives_some_where_systemd_has_delegated_it(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = hierarchy.add("/system.slice/a.service", "memory")
    be_in(hierarchy, "/system.slice/a.service/host")
    monkeypatch.setattr(
        os, "getxattr", lambda path, name: b"1" if (path, name) == (str(folder), "user.delegate") else b""
    )
    assert find_parent() == str(folder)


def test_a_server_that_is_alone_in_its_group_goes_into_a_leaf(hierarchy: Hierarchy) -> None:
    hierarchy.add("/", controllers="memory")
    folder = hierarchy.add("/container", members=f"{os.getpid()}\n")
    be_in(hierarchy, "/container")
    assert prepare_groups()
    assert (folder / "ferrule-host" / "cgroup.procs").read_text() == "0"
    assert (folder / "cgroup.subtree_control").read_text() == "+memory"


@pytest.mark.parametrize("members", ["{own}\n1\n", "0\n{own}\n"], ids=["another process", "one of another name space"])
def test_a_server_that_is_not_alone_changes_nothing(hierarchy: Hierarchy, members: str) -> None:
    folder = hierarchy.add("/container", members=members.format(own=os.getpid()))
    be_in(hierarchy, "/container")
    assert not prepare_groups()
    assert folder.exists()
    assert not (folder / "ferrule-host").exists()


def test_the_machines_own_root_is_never_changed(hierarchy: Hierarchy) -> None:
    hierarchy.add("/", members=f"{os.getpid()}\n")
    (hierarchy.root / "cgroup.type").unlink()
    be_in(hierarchy, "/")
    assert not prepare_groups()


def test_groups_of_hosts_that_were_killed_are_removed_and_those_of_others_are_kept(hierarchy: Hierarchy) -> None:
    ended = hierarchy.add(f"/box/ferrule-call-{_ended_process()}-1")
    busy = hierarchy.add(f"/box/ferrule-call-{_ended_process()}-2", members="busy")
    other = hierarchy.add(f"/box/ferrule-call-{os.getppid()}-1")
    made = make_group(300)
    assert made is not None
    assert not ended.exists()
    assert hierarchy.calls() == sorted([busy, other, Path(made.path)])
    made.remove()


def test_a_group_that_still_has_a_process_is_removed_by_the_next_call(hierarchy: Hierarchy) -> None:
    made = make_group(300)
    assert made is not None
    procs = Path(made.path, "cgroup.procs")
    procs.write_text("busy")
    made.remove()
    assert procs.exists()
    procs.write_text("")
    second = make_group(300)
    assert second is not None
    assert not procs.exists()
    second.remove()


def _ended_process() -> int:
    """The number of a process that there is none of."""
    return int(Path("/proc/sys/kernel/pid_max").read_text()) + 1


def work(do: Callable[[Channel], None]) -> Outcome:
    """Do something in the way of a tool that may start programs."""
    return supervise(do, deadline=time.monotonic() + 30, memory=300, size_limit=1 << 20, watched="alpha")


@pytest.mark.process
def test_the_process_of_a_call_is_in_its_group_before_the_work_begins(hierarchy: Hierarchy) -> None:
    def tell(channel: Channel) -> None:
        (folder,) = hierarchy.calls()
        channel.result({"entered": (folder / "cgroup.procs").read_text(), "max": (folder / "memory.max").read_text()})

    outcome = work(tell)
    assert outcome.result == b'{"entered":"0","max":"314572800"}'
    assert not hierarchy.calls()


@pytest.mark.process
def test_a_call_that_the_kernel_has_ended_ran_out_of_memory(hierarchy: Hierarchy) -> None:
    def end(count: int) -> Outcome:
        def be_ended(_: Channel) -> None:
            (folder,) = hierarchy.calls()
            (folder / "memory.events").write_text(f"low 0\nmax 7\noom {count}\noom_kill {count}\noom_group_kill 1\n")
            os.kill(os.getpid(), signal.SIGKILL)

        return work(be_ended)

    ended, killed = end(2), end(0)
    assert ended.failure is not None
    assert ended.failure["code"] == "OUT_OF_MEMORY"
    assert "more than 300 MiB" in ended.failure["message"]
    assert killed.failure is not None
    assert killed.failure["code"] == "INTERNAL_ERROR"
    assert not hierarchy.calls()


@pytest.mark.parametrize("is_held", [True, False])
def test_the_watch_goes_on_until_the_process_is_found_in_its_group(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch, is_held: bool
) -> None:
    monkeypatch.setattr(MemoryGroup, "holds", lambda *_: is_held)
    monkeypatch.setattr(MemoryWatch, "_is_too_much", lambda _: True)
    watch = MemoryWatch(os.getpid(), 300, "alpha", group=make_group(300))
    watch.due = 0.0
    failure = watch.check()
    assert (failure is None, watch.due is None) == (is_held, is_held)


@pytest.mark.process
def test_a_call_goes_on_after_it_was_found_in_its_group(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def find(*_: object) -> bool:
        try:
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # the work does not wait there yet
            return False
        return True

    def wait(channel: Channel) -> None:
        gate.read_bytes()
        channel.result({})

    monkeypatch.setattr(MemoryGroup, "holds", find)
    assert work(wait).result == b"{}"


@pytest.mark.process
def test_work_that_starts_no_programs_has_no_group(hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "make_group", lambda _: pytest.fail("a group is made"))
    outcome = supervise(
        lambda channel: channel.result({}), deadline=time.monotonic() + 30, memory=300, size_limit=1 << 20
    )
    assert outcome.result == b"{}"
