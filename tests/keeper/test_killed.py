"""A keeper that is killed at a message of the protocol, and what lies below it: disks, folders, clocks."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ferrule.calls.fork_server.lookups import Lookups
from ferrule.config.keep import keep_seconds
from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_address import environment_number
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.keeper import LinkedMachine

OSLO = b'{"city": "Oslo"}'
GOT_OSLO = {"got": {"city": "Oslo"}}
_CHUNK_BYTES = 1 << 16
_IDEMPOTENT = '{"permissions": {}, "idempotent": true}'


class Relay:
    """Listens where the launcher looks for a keeper, hands all on to a real one, and kills that at a message.

    letter: of the frame that is the last one to come through. share: of its bytes that do, before the keeper is dead.
    """

    def __init__(self, linked: LinkedMachine, runtime: Path, letter: bytes, share: float) -> None:
        self._variables = {"XDG_RUNTIME_DIR": str(linked.kept.runtime)}
        self._keeper, self._real = linked.kept.start(), linked.kept.path
        self._letter, self._share = letter, share
        self.environment = {**linked.environment, "XDG_RUNTIME_DIR": str(runtime)}
        folder = runtime / "ferrule"
        folder.mkdir(parents=True, mode=0o700)
        installation = Path(self._real).name.split("-")[1]
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(folder / f"keep-{installation}-{environment_number(self.environment)}.sock"))
        self._listening.listen()
        self.has_killed = False
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        try:
            line, _ = self._listening.accept()
        except OSError:
            return
        with line, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as real:
            real.connect(self._real)
            answers = threading.Thread(target=self._hand_on, args=(real, line))
            answers.start()
            self._hand_on(line, real)
            answers.join()

    def _hand_on(self, source: socket.socket, sink: socket.socket) -> None:
        reader = frames.FrameReader()
        try:
            while data := source.recv(_CHUNK_BYTES):
                for letter, payload in reader.feed(data):
                    self._send(sink, letter, self._rename(letter, payload))
        except OSError:
            pass  # one of the two has ended
        for one in (source, sink):
            _shut_down(one)

    def _send(self, sink: socket.socket, letter: bytes, payload: bytes) -> None:
        data = frames.frame(letter, payload)
        if letter != self._letter or self.has_killed:
            if not self.has_killed:
                sink.sendall(data)
            return
        sink.sendall(data[: int(len(data) * self._share)])
        self.has_killed = True
        with open(os.pidfd_open(self._keeper)) as file:
            os.kill(self._keeper, signal.SIGKILL)
            _wait_for_end(file.fileno())
        _shut_down(sink)

    def _rename(self, letter: bytes, payload: bytes) -> bytes:
        """The same for the real keeper, which has another folder."""
        if letter != frames.HELLO:
            return payload
        hello = frames.parse_hello(payload)
        return frames.hello_frame(hello._replace(environ={**hello.environ, **self._variables}))[5:]


def _shut_down(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _wait_for_end(file: int) -> None:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    assert poll.poll(PATIENCE_SECONDS * 1000)


KILLED_AT = [
    (frames.HELLO, 0.5),
    (frames.HELLO, 1),
    (frames.ACCEPTED, 1),
    (frames.INPUT, 0.5),
    (frames.INPUT, 1),
    (frames.INPUT_END, 1),
    (frames.BEGUN, 1),
    (frames.ANSWER, 0.5),
    (frames.ANSWER, 1),
]
"""A message, and the share of it that comes through."""
DECIDED_BY_THE_TOOL = [(frames.BEGUN, 1), (frames.ANSWER, 0.5)]
"""Where it depends on the tool whether it may be called again; elsewhere one that may is in the tier `full`."""


@pytest.mark.process
@pytest.mark.parametrize(
    ("is_repeatable", "letter", "share"),
    [
        *(pytest.param(False, *at, id=f"once-{at[0].decode()}-{at[1]}") for at in KILLED_AT),
        *(
            pytest.param(
                *(True, *at),
                id=f"repeatable-{at[0].decode()}-{at[1]}",
                marks=[] if at in DECIDED_BY_THE_TOOL else [pytest.mark.full],
            )
            for at in KILLED_AT
        ),
    ],
)
def test_a_keeper_that_is_killed_at_a_message_costs_a_call_nothing_but_its_cold_start(
    is_repeatable: bool, letter: bytes, share: float, linked: LinkedMachine
) -> None:
    """Unless the launcher has heard that the tool has begun, which may not be called again."""
    executable = linked.install("alpha", permissions={})
    if is_repeatable:
        (linked.kept.machine.site / "module_alpha.tool.json").write_text(_IDEMPOTENT)
    runtime = linked.kept.runtime.parent / "other"
    with Relay(linked, runtime, letter, share) as relay:
        done = subprocess.run([executable], input=OSLO, env=relay.environment, capture_output=True)
    assert relay.has_killed  # its thread has ended, which may be later than the launcher
    document = json.loads(done.stdout)
    has_begun = letter == frames.BEGUN or (letter, share) == (frames.ANSWER, 0.5)
    if has_begun and not is_repeatable:
        assert (document["error_code"], done.returncode) == ("KEEPER_LOST", 1)
    else:
        assert (document, done.stderr, done.returncode) == (GOT_OSLO, b"", 0)


# ---- the disk and the folders below it


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """A small file system there."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("elsewhere: a file system can be mounted by root alone, and not in each container")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def fill(folder: Path) -> None:
    """Leave no byte free there."""
    with (folder / "filler").open("wb", buffering=0) as file:
        for size in (1 << 12, 1):
            while _write_some(file.fileno(), size):
                pass


def _write_some(file: int, size: int) -> bool:
    try:
        return os.write(file, bytes(size)) > 0
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("place", ["state", "runtime", "temporary"])
def test_a_disk_that_is_full_below_a_running_keeper_changes_no_answer(
    place: str, linked: LinkedMachine, tmp_path: Path
) -> None:
    kept = linked.kept
    folders = {"state": kept.machine.home / ".local/state", "runtime": kept.runtime, "temporary": tmp_path / "small"}
    with mounted(folders[place], "256k"):
        if place == "temporary":
            kept.machine.environment["TMPDIR"] = str(folders[place])
        kept.configure('[keep]\ntools = ["*"]\n[journal]\nenabled = true\n')
        executable = linked.install("alpha")
        process = kept.start()
        assert linked.run(executable, OSLO).document == GOT_OSLO
        fill(folders[place])
        for environ in ({}, {}, {"IKIGAI_AGENT_ID": "a"}, {"LC_ALL": "C.UTF-8"}):  # the last one has no keeper
            done = linked.run(executable, OSLO, **environ)
            assert (done.document, done.exit_code) == (GOT_OSLO, 0), environ
        assert linked.calls() >= 1 or place == "runtime"
        os.kill(process, signal.SIGKILL)
        kept.stop()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("is_emptied", [False, True], ids=["unmounted", "emptied"])
def test_a_runtime_folder_that_goes_costs_a_call_its_cold_start(is_emptied: bool, linked: LinkedMachine) -> None:
    runtime = linked.kept.runtime
    executable = linked.install("alpha")
    with mounted(runtime, "256k"):
        process = linked.kept.start()
        assert linked.run(executable, OSLO).document == GOT_OSLO
        file = os.pidfd_open(process)
        try:
            if is_emptied:  # as at the end of a login session
                shutil.rmtree(runtime / "ferrule", ignore_errors=True)  # its keeper may remove its own files first
                _wait_for_end(file)
            subprocess.run(["umount", "-l", str(runtime)], check=True)
            _wait_for_end(file)
            linked.kept.configure("[keep]\nseconds = 0\n")  # and no other keeper
            for _ in range(2):
                done = linked.run(executable, OSLO)
                assert (done.document, done.stderr, done.exit_code) == (GOT_OSLO, b"", 0)
        finally:
            os.close(file)


# ---- the clock


@pytest.mark.parametrize("seconds", [-10_000_000, 10_000_000])
def test_a_clock_that_is_set_makes_nothing_that_is_read_old(
    seconds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a keeper remembers of files goes by what they are, and not by when."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("FERRULE_CONFIG", str(path))
    lookups = Lookups()
    now = time.time_ns
    for number in range(4):
        path.write_text(f"[keep]\nseconds = {number + 1}\n")
        os.utime(path, ns=(number, number))
        assert keep_seconds(lookups.configuration()) == number + 1
        jump = seconds * 10**9 * (number % 2)
        monkeypatch.setattr(time, "time_ns", lambda jump=jump: now() + jump)


def test_no_keeper_and_no_launcher_goes_by_the_time_of_day() -> None:
    """A limit that did would be over, or never, once the clock is set."""
    from ferrule.calls import fork_server, keeper

    allowed = {"lookups.py": "time_ns"}  # which compares it with the times of files
    for package in (fork_server, keeper):
        for path in Path(package.__path__[0]).rglob("*.py"):
            text = path.read_text().replace(f"time.{allowed.get(path.name, '-')}", "")
            assert "time.time" not in text, path
            assert "datetime" not in text, path
