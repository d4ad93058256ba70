"""What the kit of the tests promises: tiers that hold, nothing left running, and programs in forks."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.processes import fork_server
from ferrule_testkit.runner import schedule
from ferrule_testkit.runs import run, run_forked, wait_for
from ferrule_testkit.scripts import shebang

pytestmark = pytest.mark.process

ONE_FILE = "tests/ask/test_sdk.py"

TIERS = """\
import subprocess, socket, sys, time
import pytest

def test_quick():
    pass

def test_starts():
    subprocess.run([sys.executable, "-c", ""])

def test_connects():
    with socket.socket() as one, pytest.raises(OSError):
        one.connect(("127.0.0.1", 1))

@pytest.mark.process
def test_may_start():
    subprocess.run([sys.executable, "-c", ""])
"""
SLOW = """\
import time
import pytest
from hypothesis import given, settings, strategies as st

def work(*_):
    until = time.process_time() + 0.6
    while time.process_time() < until:
        pass

done = []

def test_works():
    work()

def test_works_the_first_time_alone():
    if not done:
        work()
    done.append(1)

@settings(max_examples=2)
@given(st.integers().map(work))
def test_is_made_up_slowly(_):
    pass

@given(st.just(1))
def test_works_on_what_is_made_up(_):
    work()

@pytest.mark.process
def test_may_work():
    work()
"""
LEAVES = """\
import subprocess, sys

def test_leaves(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", str(tmp_path)])
    print("left:", process.pid)
    process.returncode = 0  # or Popen itself would warn of it
"""


def run_pytest(
    folder: Path, source: str, *plugins: str, arguments: tuple[str, ...] = (), ci: str = "", **options: object
) -> "subprocess.CompletedProcess[str]":
    """Run pytest on one file, with plugins of the kit. arguments: of pytest. ci: the variable CI."""
    (folder / "test_it.py").write_text(source)
    named = [word for plugin in plugins for word in ("-p", f"ferrule_testkit.runner.{plugin}")]
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", f"--basetemp={folder / 't'}", *named]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FERRULE_TEST_"))
    }
    return subprocess.run(
        [*command, *arguments, "test_it.py"],
        cwd=folder,
        env={**environment, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def outcomes_in(output: str) -> set[tuple[str, str]]:
    """The outcomes that pytest has told, with the names of their tests."""
    lines = [line for line in output.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR "))]
    return {(line.split()[0], line.split("::")[1].split()[0]) for line in lines}


@pytest.mark.slow
def test_a_unit_test_that_does_more_than_it_may_fails(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, TIERS, "tiers")
    told = outcomes_in(done.stdout)
    assert told >= {("PASSED", "test_quick"), ("PASSED", "test_may_start")}
    assert told >= {("ERROR", "test_starts"), ("ERROR", "test_connects")}
    assert not told & {("ERROR", "test_quick"), ("ERROR", "test_may_start")}
    assert "opens no connection: subprocess.Popen (" in done.stdout
    assert "Mark it `process`." in done.stdout


@pytest.mark.slow
def test_a_unit_test_that_takes_too_long_is_an_error_in_continuous_integration_alone(tmp_path: Path) -> None:
    here = run_pytest(tmp_path, SLOW, "tiers", arguments=("-Werror", "-n1"))
    assert here.returncode == 0, here.stdout
    named = here.stdout.partition("slow unit tests")[2].partition("====")[2]
    assert {line.partition("::")[2] for line in named.splitlines() if " s test_it.py" in line} == {
        "test_works", "test_works_on_what_is_made_up",
    }  # fmt: skip
    there = run_pytest(tmp_path, SLOW, "tiers", ci="true")
    errors = {name for outcome, name in outcomes_in(there.stdout) if outcome != "PASSED"}
    assert errors == {"test_works", "test_works_on_what_is_made_up"}
    assert there.returncode == pytest.ExitCode.TESTS_FAILED
    assert "of the processor's time" in there.stdout


def test_a_run_of_pytest_in_a_test_has_its_folders_apart_from_those_of_other_runs(tmp_path: Path) -> None:
    """It removes the folders of earlier runs, which takes minutes where these were whole runs of these tests."""
    (tmp_path / "test_it.py").write_text("def test_it(tmp_path): print(f'in {tmp_path}.')")
    command = [sys.executable, "-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=True).stdout
    assert f"in {os.environ['PYTEST_DEBUG_TEMPROOT']}/" in told
    assert not tmp_path.is_relative_to(os.environ["PYTEST_DEBUG_TEMPROOT"])


@pytest.mark.slow
def test_what_tests_leave_running_is_named_and_ended_and_fails_the_run(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, LEAVES, "leftovers")
    (process,) = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("left:")]
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"({process})" in done.stdout
    wait_for(lambda: not runs_on(process))


def runs_on(process: int) -> bool:
    """Whether a process is there, and more than an entry that waits for its parent."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_signals_that_the_caller_ignores_have_their_effect_in_tests(tmp_path: Path) -> None:
    source = (
        "import signal, subprocess\n\n"
        "def test_signals():\n"
        "    for number in (signal.SIGINT, signal.SIGHUP):\n"
        "        with subprocess.Popen(['sleep', '600']) as sleeps:\n"
        "            sleeps.send_signal(number)\n"
        "            assert sleeps.wait(20) == -number\n"
    )

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    done = run_pytest(tmp_path, source, "leftovers", preexec_fn=ignore)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("folder", ["plain", "with a blank and an é", "long" * 40])
def test_a_program_starts_wherever_its_interpreter_is(folder: str, tmp_path: Path) -> None:
    python = tmp_path / folder / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    program = tmp_path / "program"
    program.write_text(f"{shebang('-IS', python=str(python))}import sys\nprint(sys.flags.isolated, sys.argv[1:])\n")
    program.chmod(0o755)
    done = subprocess.run([program, "a b", "'"], capture_output=True, text=True, check=True)
    assert done.stdout == "1 ['a b', \"'\"]\n"


def test_a_program_in_a_fork_ends_as_one_that_is_started(healthy, here, tmp_path: Path) -> None:
    executable = healthy.scripts / "example-tool"
    for data in (b'{"city": "Oslo"}', b"{}", b"nonsense", b" " * 300_000):
        started = run([executable], data, environment=here, cwd=tmp_path)
        forked = run_forked(executable, data, environment=here, cwd=tmp_path)
        assert forked.document == started.document
        assert (forked.exit_code, forked.stderr, forked.left) == (started.exit_code, started.stderr, started.left)


ENDS = {
    "returns": "print('said', end='')",
    "returns a number": "print('said', end=''); return 3",
    "exits with a text": "print('said', end=''); sys.exit('a reason')",
    "exits with nothing": "sys.exit()",
    "exits beyond a byte": "sys.exit(258)",
    "has something to do at its end": "atexit.register(print, 'late'); print('early')",
    "has a thread": "threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()",
    "writes to another stream first": "sys.stdout.write('kept'); sys.stdout = sys.stderr; print('said')",
    "has closed its streams": "print('said'); sys.stdout.close()",
    "has none": "sys.stdout = None",
    "raises": "raise KeyError('x')",
    "is interrupted": "raise KeyboardInterrupt",
}


def test_a_program_in_a_fork_ends_as_the_interpreter_does(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    for number, (name, source) in enumerate(ENDS.items()):
        module = f"ends_{number}"
        (tmp_path / f"{module}.py").write_text(f"import atexit, sys, threading, time\n\ndef main():\n    {source}\n")
        command = [sys.executable, "-c", f"import sys, {module}; sys.exit({module}.main())"]
        started = run(command, environment=environment)
        forked = fork_server.run(f"{module}:main", ["x"], b"{}", environment=environment, cwd=tmp_path)
        assert (forked.exit_code, forked.stdout) == (started.exit_code, started.stdout), name
        assert forked.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:], name


def test_what_a_program_in_a_fork_leaves_running_is_told(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(
        "import os, subprocess\n\n"
        "def main():\n"
        "    print(os.getcwd(), os.environ['WORD'], input(), flush=True)\n"
        "    streams = dict.fromkeys(('stdin', 'stdout', 'stderr'), subprocess.DEVNULL)\n"
        "    subprocess.Popen(['sleep', '600'], **streams)\n"
        "    os._exit(7)\n"
    )
    environment = {"PATH": os.environ["PATH"], "WORD": "word", "PYTHONPATH": str(tmp_path)}
    ended = fork_server.run("leaves:main", ["leaves"], b"line\n", environment=environment, cwd=tmp_path)
    assert (ended.exit_code, ended.stdout) == (7, f"{tmp_path} word line\n".encode())
    assert ended.left == ["sleep 600 "]


@pytest.mark.parametrize("name", ["PYTHONUTF8", "LC_ALL", "LD_PRELOAD"])
def test_what_decides_how_an_interpreter_starts_is_for_one_that_starts(name: str) -> None:
    assert fork_server.is_possible({"HOME": "/", "LANG": "C.UTF-8", "PYTHONPATH": "/x"})
    assert not fork_server.is_possible({"HOME": "/", name: "1"})
    assert not fork_server.is_possible({"LANG": "de_DE.ISO-8859-1"})


HANGS = """\
import os, subprocess, sys, threading, time

def wait_for_the_other():
    threading.Event().wait()

def test_hangs(tmp_path):
    threading.Thread(target=wait_for_the_other, daemon=True).start()
    code = "def sit_and_wait():\\n    import sys\\n    sys.stdin.read()\\nsit_and_wait()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        process.wait()

def test_works_for_long():
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        pass
"""


@pytest.mark.slow
def test_a_test_that_hangs_says_where_it_is_and_what_it_started_and_one_that_works_goes_on(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, HANGS, "time_limit", arguments=("--timeout=1",))
    assert outcomes_in(done.stdout) == {("FAILED", "test_hangs"), ("PASSED", "test_works_for_long")}
    told = done.stdout.partition("Captured the time limit call")[2]
    for place in ("in wait_for_the_other", "in test_hangs", "sit_and_wait()", "system call"):
        assert place in told, told
    if os.geteuid() == 0:  # others may not look into a process
        assert "sit_and_wait (<string>:3)" in told, told


def test_a_worker_gets_few_tests_at_once_and_all_that_share_what_is_dear() -> None:
    alone = [f"tests/attacks/test_tools.py::test_way[{number}]" for number in range(3)]
    tests = [f"tests/a/test_b.py::test_{number}" for number in range(40)]
    dear = [f"{ONE_FILE}::test_{number}" for number in range(40)]
    units = schedule.share_out([*alone, *tests, *dear])
    assert len({units[one] for one in alone}) == 3
    assert sorted(Counter(units[one] for one in tests).values()) == [8, 16, 16]
    assert {units[one] for one in dear} == {ONE_FILE}


def test_files_that_are_shared_out_in_another_way_exist() -> None:
    named = {*schedule.IN_ONE_WORKER, *schedule.ONE_BY_ONE}
    assert {path for path in named if not (PROJECT / path).exists()} == set()


@pytest.mark.slow
def test_tests_that_are_shared_out_run_once_each(tmp_path: Path) -> None:
    source = "import pytest\n\n@pytest.mark.parametrize('number', range(50))\ndef test_counts(number):\n    pass\n"
    done = run_pytest(tmp_path, source, "schedule", arguments=("-n", "2", "--dist", "loadgroup"))
    assert "50 passed" in done.stdout, done.stdout + done.stderr


ORDER = """
import pytest

@pytest.mark.unit
@pytest.mark.parametrize("number", range(20))
def test_is_quick(number):
    pass

@pytest.mark.process
def test_starts_a_process():
    pass
"""


@pytest.mark.slow
def test_what_takes_longest_begins_and_unit_tests_come_last(tmp_path: Path) -> None:
    alone = tmp_path / "tests/attacks/test_tools.py"
    alone.parent.mkdir(parents=True)
    alone.write_text("import pytest\n\n@pytest.mark.slow\ndef test_takes_a_minute():\n    pass\n")
    done = run_pytest(tmp_path, ORDER, "schedule", "tiers", arguments=("-n", "1", "--verbose", str(alone)))
    ran = [line.rpartition("::")[2].strip() for line in done.stdout.splitlines() if line.startswith("[gw0]")]
    assert ran[:2] == ["test_takes_a_minute", "test_starts_a_process"], done.stdout + done.stderr
    assert len(ran) == 22


@pytest.mark.parametrize("passes", [True, False])
def test_the_folders_of_a_run_are_kept_where_a_test_has_failed(tmp_path: Path, passes: bool) -> None:
    (tmp_path / "test_it.py").write_text(
        f"def test_writes(tmp_path):\n    (tmp_path / 'kept').touch()\n    assert {passes}\n"
    )
    (root := tmp_path / "root").mkdir()
    named = ("-p", "no:cacheprovider", "-p", "ferrule_testkit.runner.leftovers")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *named, "test_it.py"],
        cwd=tmp_path,
        env={**environment, "PYTEST_DEBUG_TEMPROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is passes, done.stdout + done.stderr
    assert bool(list(root.glob("pytest-of-*/pytest-0/test_writes0/kept"))) is not passes


LARGE_PAGES = """
from pathlib import Path
from ferrule_testkit.runner.collection import use_large_pages

def count_kib():
    (line,) = [one for one in Path("/proc/self/smaps_rollup").read_text().splitlines() if "AnonHugePages" in one]
    return int(line.split()[1])

kept, before = [bytearray(b"k" * 4096) for _ in range(16_384)], count_kib()
use_large_pages()
assert all(one == b"k" * 4096 for one in kept)
print(count_kib() - before)
"""


def test_what_a_worker_has_collected_moves_to_large_pages() -> None:
    done = subprocess.run([sys.executable, "-c", LARGE_PAGES], capture_output=True, text=True, check=True)
    moved = int(done.stdout)
    if moved == 0:
        pytest.skip("elsewhere: this kernel cannot, or what it has left is in small pieces")
    assert 2048 <= moved <= 131_072  # of the 64 MiB that it holds, and what the interpreter has


AT_THE_START = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_xdist_setupnodes():
    from pathlib import Path

    print("compiled:", [path.name.partition(".")[0] for path in Path("__pycache__").glob("test_*")])
"""


@pytest.mark.slow
def test_workers_find_all_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "conftest.py").write_text(AT_THE_START)
    source = "def test_it():\n    assert True\n"
    done = run_pytest(tmp_path, source, "compilation", "schedule", arguments=("-n", "1", "--dist", "loadgroup"))
    assert "compiled: ['test_it']" in done.stdout, done.stdout + done.stderr
