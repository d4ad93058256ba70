"""A run of the CLI: what it is given, what it may write, and that it ends."""

import contextlib
import json
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context, ToolError
from ferrule_dev.testing import Run
from ferrule_opennotes.errors import ProgramTimeout
from ferrule_opennotes.program.process import Output, Program, run
from ferrule_testkit.programs.opennotes import Cli

MIB = 1 << 20
Runs = Callable[..., Output]
ALLOWED = {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TERM", "NO_COLOR"}
ALLOWED |= {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}


@pytest.fixture
def run_it(opennotes: Cli, program: Program, make_context: Callable[..., Context], tmp_path: Path) -> Runs:
    """Run the stand-in."""

    def run_it(*arguments: str, seconds: float = 60, **options: Any) -> Output:
        return run(program, arguments, make_context(seconds=seconds), **{"cwd": str(tmp_path), **options})

    return run_it


@pytest.fixture
def run_script(make_context: Callable[..., Context], tmp_path: Path) -> Callable[..., Output]:
    """Run a program of the test's own: text of a script, or bytes of any file."""

    def run_script(text: str | bytes, *, limit: float | None = None) -> Output:
        path = tmp_path / "script"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o755)
        return run(Program(str(path), "opennotes"), [], make_context(seconds=60), cwd=str(tmp_path), limit=limit)

    return run_script


@pytest.fixture
def recorded(opennotes: Cli, tmp_path: Path) -> Callable[[], dict[str, Any]]:
    """What the stand-in was started with, last."""
    file = tmp_path / "record"
    opennotes.behave(record=str(file))
    return lambda: dict(json.loads(file.read_text().splitlines()[-1]))


def refused(work: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolError) as raised:
        work()
    return raised.value


def is_running(pid: int) -> bool:
    """Whether a process still does anything; one that has ended may wait for a parent that adopted it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in ("Z", "X")


@pytest.mark.process
def test_the_cli_gets_nothing_to_read(run_it: Runs, recorded: Callable[[], dict[str, Any]]):
    run_it("version")
    assert recorded()["stdin_is_null"]


@pytest.mark.process
def test_the_cli_sees_only_the_variables_that_it_needs(
    run_it: Runs, recorded: Callable[[], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    secret = ("BRAVE_API_KEY", "OPENNOTES_NOTEBOOK", "OPENNOTES_X", "JOT_NOTEBOOK", "JOT_CONFIG", "HTTPS_PROXY")
    for name in (*secret, "PYTHONPATH", "LD_PRELOAD_X", "DEBUG", "LOG_LEVEL", "IKIGAI_AGENT_ID", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, "secret")
    for name in ("LC_ALL", "TZ", "USER", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, "C")
    run_it("version")
    seen = recorded()["environment"]
    assert {name for name in seen if not name.startswith("LC_")} <= ALLOWED
    assert "secret" not in seen.values()
    assert seen["TZ"] == seen["LC_ALL"] == seen["USER"] == seen["XDG_DATA_HOME"] == "C"
    assert (seen["TERM"], seen["NO_COLOR"]) == ("dumb", "1")


@pytest.mark.process
def test_the_cli_stays_in_the_group_of_the_call(run_it: Runs, recorded: Callable[[], dict[str, Any]]):
    run_it("version")
    assert recorded()["group"] == os.getpgrp()


@pytest.mark.process
def test_the_cli_runs_where_it_is_told_to(run_it: Runs, recorded: Callable[[], dict[str, Any]], tmp_path: Path):
    (tmp_path / "there").mkdir()
    run_it("version", cwd=str(tmp_path / "there"))
    assert recorded()["cwd"] == str(tmp_path / "there")


ARGUMENTS = ["", "-x", "--help", "--", "a\nb", "$(touch x)", "`x`", "a'b\"c", "*", "日本 🙂", "\x1b[31m", "a" * 100_000]


@pytest.mark.process
@pytest.mark.parametrize("argument", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_an_argument_arrives_as_it_is(argument: str, run_it: Runs, recorded: Callable[[], dict[str, Any]]):
    run_it("version", "--", argument)
    assert recorded()["arguments"] == ["version", "--", argument]


@pytest.mark.process
def test_the_notebook_is_a_flag_before_all_others(run_it: Runs, recorded: Callable[[], dict[str, Any]]):
    run_it("version", "--", "x", notebook="/a b/-c")
    assert recorded()["arguments"] == ["--notebook=/a b/-c", "version", "--", "x"]


@pytest.mark.process
def test_a_notebook_whose_path_is_not_text_arrives_as_it_is(run_it: Runs, recorded: Callable[[], dict[str, Any]]):
    path = os.fsdecode(b"/caf\xe9")
    run_it("version", notebook=path)
    assert recorded()["arguments"][0] == f"--notebook={path}"


@pytest.mark.process
def test_the_longest_argument_is_taken(run_it: Runs, recorded: Callable[[], dict[str, Any]]):
    run_it("version", "a" * 131_071)
    assert len(recorded()["arguments"][1]) == 131_071


@pytest.mark.process
def test_more_arguments_than_the_system_takes_are_an_error(run_it: Runs):
    error = refused(lambda: run_it(*["a" * 131_000] * 100))
    assert error.code == "CLI_FAILED"
    assert "too long" in error.message
    assert len(json.dumps(error.facts())) < 32_000


@pytest.mark.process
def test_what_the_cli_says_and_how_it_ends_is_returned(run_it: Runs):
    output = run_it("nonsense")
    assert output.exit_code == 1
    assert output.stdout == ""
    assert output.stderr.startswith("Error: unknown command")
    assert run_it("version") == Output("OpenNotes 0.0.2\n", "", 0)


@pytest.mark.process
def test_a_cli_that_a_signal_ends_has_a_negative_exit_code(run_script: Runs):
    assert run_script("#!/bin/sh\necho so far\nkill -9 $$\n") == Output("so far\n", "", -9)


@pytest.mark.process
def test_bytes_that_are_no_text_are_replaced(run_script: Runs):
    assert run_script("#!/bin/sh\nprintf 'a\\377b'\nprintf '\\200' >&2\n") == Output("a\ufffdb", "\ufffd", 0)


@pytest.mark.process
def test_a_flood_on_stdout_is_ended(run_it: Runs, opennotes: Cli, tmp_path: Path):
    opennotes.behave(flood={"stdout": 100 * MIB}, record=str(tmp_path / "record"))
    error = refused(lambda: run_it("version"))
    assert error.code == "CLI_FAILED"
    assert "8 MiB" in error.message
    assert not is_running(json.loads((tmp_path / "record").read_text())["pid"])


@pytest.mark.process
def test_a_flood_without_end_is_ended_before_the_time_is_over(run_script: Runs):
    error = refused(lambda: run_script("#!/bin/sh\nexec yes\n", limit=50))
    assert "8 MiB" in error.message


@pytest.mark.process
def test_a_flood_on_stderr_is_ended(run_script: Runs):
    error = refused(lambda: run_script("#!/bin/sh\nexec yes >&2\n", limit=50))
    assert "8 MiB" in error.message


@pytest.mark.process
def test_much_on_stderr_does_not_stop_what_comes_on_stdout(run_it: Runs, opennotes: Cli):
    opennotes.behave(flood={"stderr": 4 * MIB, "stdout": 4 * MIB})
    assert len(run_it("version").stdout) == 4 * MIB + len("OpenNotes 0.0.2\n")


@pytest.mark.process
def test_eight_mebibytes_are_taken_and_not_one_byte_more(run_script: Runs):
    exactly = f"#!/bin/sh\nhead -c {8 * MIB} /dev/zero\n"
    assert len(run_script(exactly).stdout) == 8 * MIB
    error = refused(lambda: run_script(f"{exactly}echo\n"))
    assert "8 MiB" in error.message


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("manner", ["", "trap '' TERM"], ids=["polite", "stubborn"])
def test_a_cli_that_is_late_is_ended_even_if_it_does_not_listen(manner: str, run_script: Runs, tmp_path: Path):
    pid = tmp_path / "pid"
    with pytest.raises(ProgramTimeout) as raised:
        run_script(f"#!/bin/sh\n{manner}\necho $$ >{pid}\nexec sleep 600\n", limit=3)
    assert raised.value.code == "QUERY_TIMEOUT"
    assert "after 3.0s" in raised.value.message
    assert not is_running(int(pid.read_text()))


@pytest.mark.slow
@pytest.mark.process
def test_the_deadline_of_the_call_is_a_limit_in_any_case(
    run_it: Runs, opennotes: Cli, make_context: Callable[..., Context]
):
    opennotes.behave(sleep=600, stubborn=True)
    context = make_context(seconds=2)
    with pytest.raises(ProgramTimeout):
        run(Program(str(opennotes.path), "opennotes"), ["version"], context, cwd="/", limit=500)
    assert context.remaining() > 0


@pytest.mark.process
def test_nothing_is_started_when_the_time_is_over(run_it: Runs, opennotes: Cli, tmp_path: Path):
    opennotes.behave(record=str(tmp_path / "record"))
    with pytest.raises(ProgramTimeout):
        run_it("version", seconds=0)
    assert not (tmp_path / "record").exists()


@pytest.mark.process
def test_what_the_cli_leaves_behind_is_not_waited_for(run_it: Runs, opennotes: Cli, tmp_path: Path):
    opennotes.behave(grandchild={"seconds": 600, "record": str(tmp_path / "pid")})
    try:
        assert run_it("version", limit=50) == Output("OpenNotes 0.0.2\n", "", 0)
        assert is_running(int((tmp_path / "pid").read_text()))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.process
def test_a_cli_that_closes_its_pipes_is_still_waited_for(run_script: Runs):
    assert run_script("#!/bin/sh\necho x\nexec >&- 2>&-\nsleep 0.2\nexit 3\n") == Output("x\n", "", 3)


@pytest.mark.process
def test_a_cli_that_closes_its_pipes_and_stays_is_ended(run_script: Runs):
    with pytest.raises(ProgramTimeout):
        run_script("#!/bin/sh\nexec >&- 2>&-\nexec sleep 600\n", limit=1)


@pytest.mark.process
@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"#!/nowhere/sh\n", "No such file"), (b"\x7fELF nonsense", "format error"), (b"", "format error")],
    ids=["interpreter", "binary", "empty"],
)
def test_a_file_that_is_no_program_is_an_error(content: bytes, reason: str, run_script: Runs):
    error = refused(lambda: run_script(content))
    assert error.code == "CLI_FAILED"
    assert reason in error.message


@pytest.mark.process
def test_a_program_that_is_being_written_is_an_error(make_context: Callable[..., Context], tmp_path: Path):
    path = shutil.copy("/bin/true", tmp_path / "opennotes")
    with open(path, "ab"):
        error = refused(lambda: run(Program(str(path), "opennotes"), [], make_context(), cwd="/"))
    assert "busy" in error.message


@pytest.mark.process
def test_a_folder_that_is_missing_is_an_error(run_it: Runs, tmp_path: Path):
    error = refused(lambda: run_it("version", cwd=str(tmp_path / "nowhere")))
    assert error.code == "CLI_FAILED"


@pytest.fixture
def _little_space() -> Iterator[None]:
    """The limit that the host sets for a call, as far as this process fits into it."""
    kept = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, kept[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, kept)


@pytest.mark.process
@pytest.mark.usefixtures("_little_space")
def test_the_cli_has_the_address_space_that_go_reserves_and_the_call_keeps_its_limit(run_script: Runs):
    assert run_script("#!/bin/sh\nulimit -S -v\n").stdout == f"{4 << 20}\n"
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == 3 << 30
    with pytest.raises(ToolError):
        run_script("#!/nowhere\n")
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == 3 << 30


@pytest.mark.slow
@pytest.mark.process
def test_a_call_ends_in_time_whatever_the_cli_does(
    opennotes: Cli, call: Callable[..., Run], notebook: Path, tmp_path: Path
):
    pid, temporary = tmp_path / "told" / "pid", tmp_path / "temporary"
    pid.parent.mkdir()
    temporary.mkdir()
    opennotes.path.write_text(f"#!/bin/sh\ntrap '' TERM\necho $$ >{pid}\nexec sleep 600\n")
    environ = {"FERRULE_DEADLINE": "8", "TMPDIR": str(temporary)}
    document = call("create", title="x", notebook=str(notebook), environ=environ).document
    assert document["code"] == "QUERY_TIMEOUT"
    assert "did not answer" in document["message"]
    assert not is_running(int(pid.read_text()))
    assert not list(temporary.iterdir())


@pytest.mark.process
def test_nothing_stays_open(run_it: Runs, opennotes: Cli):
    run_it("version")
    before = sorted(os.listdir("/proc/self/fd"))
    run_it("version")
    opennotes.behave(sleep=600)
    with pytest.raises(ProgramTimeout):
        run_it("version", limit=0.2)
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.fixture
def _stdin() -> Iterator[None]:
    """A pipe on stdin that nobody writes to."""
    reader, writer = os.pipe()
    kept = os.dup(0)
    os.dup2(reader, 0)
    yield
    os.dup2(kept, 0)
    for descriptor in (reader, writer, kept):
        os.close(descriptor)


@pytest.mark.process
@pytest.mark.usefixtures("_stdin")
def test_a_cli_that_reads_stdin_does_not_hang(run_script: Runs):
    assert run_script("#!/bin/sh\ncat\n", limit=20) == Output("", "", 0)
