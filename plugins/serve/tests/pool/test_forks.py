"""Copies of a process that has loaded a plugin: what they share, and what is imported ahead of them."""

import json
import sys
from typing import Any

import pytest

from ferrule_serve import wire
from ferrule_serve.pool import Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="processes that wait for a call are forked elsewhere"),
]


@pytest.fixture
def served(machine: Machine) -> Served:
    return Served(machine)


def test_calls_share_one_loaded_plugin_and_no_process(served: Served) -> None:
    install(served, "return {'loaded': LOADED, 'process': os.getpid()}", top="LOADED = os.getpid()")

    done = served.calls("probe", 3, workers=1)

    assert len({one["loaded"] for one in done}) == 1
    assert len({one["process"] for one in done} | {done[0]["loaded"]}) == 4


def test_what_a_call_changes_is_gone_with_it(served: Served) -> None:
    install(
        served,
        "SEEN.append(1); os.environ['SEEN'] = 'yes'; os.chdir('/')\n    return {'seen': len(SEEN), 'before': BEFORE}",
        top="SEEN = []\nBEFORE = [os.getcwd(), os.environ.get('SEEN')]",
    )

    assert [one["seen"] for one in served.calls("probe", 3, workers=1)] == [1, 1, 1]


@pytest.mark.parametrize(
    "top",
    [
        "import threading\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        "import subprocess\nCHILD = subprocess.Popen(['sleep', '1000'])",
        "FILE = open('/dev/null')",
        "import mmap\nSHARED = mmap.mmap(-1, 16)",
        "if os.fork() == 0:\n    os.setsid()\n    os.fork() and os._exit(0)\n    time.sleep(1000)\nos.wait()",
    ],
    ids=["threads", "children", "files", "memory", "daemons"],
)
def test_a_plugin_that_holds_what_a_copy_would_lack_is_loaded_for_each_call(top: str, served: Served) -> None:
    install(served, "return {'loaded': LOADED, 'process': os.getpid()}", top=f"{top}\nLOADED = os.getpid()")

    done = served.calls("probe", 2, workers=1)

    assert all(one["loaded"] == one["process"] for one in done)
    assert done[0] != done[1]


_ENDS_ITS_THREAD = """\
import threading
END = threading.Event()
THREAD = threading.Thread(target=END.wait, daemon=True)
THREAD.start()
os.register_at_fork(before=lambda: (END.set(), THREAD.join()))
"""
_FORKS_BESIDE = """\
import ctypes
FORK = ctypes.CDLL(None).fork
def fork_beside():
    if FORK() == 0:
        time.sleep(1000)
        os._exit(0)
os.register_at_fork(before=fork_beside)
"""


def test_a_library_that_ends_its_threads_before_a_fork_is_copied(served: Served) -> None:
    install(served, "return {'loaded': LOADED, 'process': os.getpid()}", top=f"{_ENDS_ITS_THREAD}LOADED = os.getpid()")

    done = served.calls("probe", 2, workers=1)

    assert len({one["loaded"] for one in done}) == 1
    assert len({one["process"] for one in done} | {done[0]["loaded"]}) == 3


def test_a_plugin_gets_no_process_by_the_fork_that_is_tried(served: Served) -> None:
    top = f"{_ENDS_ITS_THREAD}{_FORKS_BESIDE}LOADED = os.getpid()"
    install(served, "return {'loaded': LOADED}", top=top, declared={"permissions": {"network": []}})

    done = served.calls("probe", 2, workers=1)

    assert [one["error_code"] for one in done] == ["PERMISSION_DENIED"] * 2
    assert "start a process" in done[0]["error"]


def test_what_calls_import_is_imported_ahead_of_later_ones(served: Served) -> None:
    (served.machine.site / "heavy.py").write_text("import os\nIMPORTED_BY = os.getpid()\n")
    install(served, "import heavy\n    return {'by': heavy.IMPORTED_BY, 'loaded': LOADED}", top="LOADED = os.getpid()")

    first, second, third = served.calls("probe", 3, workers=1)

    assert first["by"] != first["loaded"]
    assert second["by"] == second["loaded"] == third["by"] == third["loaded"]


def test_a_tool_can_opt_out_of_imports_ahead(served: Served) -> None:
    (served.machine.site / "heavy.py").write_text("import os\nIMPORTED_BY = os.getpid()\n")
    install(served, "import heavy\n    return {'by': heavy.IMPORTED_BY}")
    served.environment["FERRULE_CONFIG"] = str(served.machine.home / "config.toml")
    (served.machine.home / "config.toml").write_text("[tools.probe]\nimport_ahead = false\n")

    assert len({one["by"] for one in served.calls("probe", 3, workers=1)}) == 3


@pytest.mark.parametrize(
    "body",
    [
        "import threading\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        "os._exit(7)" + " if os.environ.get('CALLED') is None else None",
    ],
    ids=["threads", "exits"],
)
def test_what_does_no_good_ahead_is_left_to_the_calls(body: str, served: Served) -> None:
    (served.machine.site / "heavy.py").write_text(f"import os, time\n{body}\nIMPORTED_BY = os.getpid()\n")
    execute = "os.environ['CALLED'] = 'yes'\n    import heavy\n    return {'by': heavy.IMPORTED_BY, 'loaded': LOADED}"
    install(served, execute, top="LOADED = os.getpid()")

    done = served.calls("probe", 4, workers=1)

    assert done[1]["by"] != done[1]["loaded"]
    assert done[1]["loaded"] == done[2]["loaded"] == done[3]["loaded"]


def test_a_plugin_that_keeps_its_orphans_is_copied_all_the_same(served: Served) -> None:
    adopt = "import ctypes\nctypes.CDLL(None).prctl(36, 1, 0, 0, 0)"
    install(served, "return {'loaded': LOADED, 'process': os.getpid()}", top=f"{adopt}\nLOADED = os.getpid()")

    assert all(one["loaded"] != one["process"] for one in served.calls("probe", 2))


def test_a_call_inside_of_wrappers_is_answered_as_on_the_command_line(served: Served) -> None:
    served.machine.uncover_the_host()
    cacheable = (
        "from ferrule import ResultPolicy, hookimpl\nresult_policy = hookimpl(lambda: ResultPolicy(cache_seconds=60))"
    )
    install(served, "return {'process': os.getpid()}", top=cacheable)
    served.environment.update(FERRULE_WRAPPERS="cache", FERRULE_STATE=str(served.machine.home / "state"))

    first, second = served.calls("probe", 2, workers=1)

    assert first["process"] == second["process"]


def test_a_plugin_that_ignores_its_children_is_copied_all_the_same(served: Served) -> None:
    ignoring = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    install(served, "return {'loaded': LOADED}", top=f"{ignoring}\nLOADED = os.getpid()")

    assert len({one["loaded"] for one in served.calls("probe", 3, workers=1)}) == 1


def test_what_a_call_finds_in_a_place_of_its_own_is_not_looked_for_elsewhere(served: Served) -> None:
    own = served.machine.work / "own"
    own.mkdir()
    for folder, name in ((own, "own"), (served.machine.site, "site")):
        (folder / "twice.py").write_text(f"PLACE = {name!r}\n")
    install(served, f"import sys; sys.path.insert(0, {str(own)!r}); import twice\n    return {{'place': twice.PLACE}}")

    assert [one["place"] for one in served.calls("probe", 3, workers=1)] == ["own"] * 3


def test_a_cancellation_that_comes_too_late_unlearns_nothing(served: Served) -> None:
    (served.machine.site / "heavy.py").write_text("import os\nIMPORTED_BY = os.getpid()\n")
    top = "time.sleep(0.3)\nLOADED = os.getpid()"
    install(served, "import heavy\n    return {'by': heavy.IMPORTED_BY, 'loaded': LOADED}", top=top)

    async def work(pool: Pool) -> list[dict[str, Any]]:
        first = json.loads((await pool.call("probe", NO_ARGUMENTS)).document)
        assert pool._link is not None
        pool._link._send(wire.frame(wire.CANCEL, 1))  # while the plugin is loaded anew
        return [first, json.loads((await pool.call("probe", NO_ARGUMENTS)).document)]

    first, second = served.run(work, workers=1)
    assert first["by"] != first["loaded"]
    assert second["by"] == second["loaded"]
