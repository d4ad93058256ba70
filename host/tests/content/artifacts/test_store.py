"""Artifacts are kept whole, for a while, for one user, in bounded room; or the store says that it cannot."""

import contextlib
import errno
import fcntl
import os
import resource
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule.content.artifacts.handles import digest
from ferrule.content.artifacts.settings import DEFAULT_TOTAL_BYTES, MAX_SECONDS, Settings
from ferrule.content.artifacts.store import MAX_BYTES, ArtifactStore, Label
from ferrule.storage import RedisConnection, StorageError
from ferrule_testkit.programs.redis_server import RedisServer

pytestmark = pytest.mark.process


BODY = '{"text":"Ünïcode 😀 and \\"quotes\\""}'.encode()
NAME = digest(BODY)

# Stores two bodies, of which the second is its own, and reads both back.
_STORING = """
import sys
from ferrule.content.artifacts.handles import digest
from ferrule.content.artifacts.settings import Settings
from ferrule.content.artifacts.store import ArtifactStore
store = ArtifactStore(Settings(lambda key, _: {"total": 1 << 24}.get(key)), sys.argv[1])
for body in (b"x" * 2_000_000, sys.argv[2].encode() * 100_000):
    store.put(digest(body), body, 60)
    assert store.get(digest(body)) == body
"""


def in_files(folder: Path, total: int = DEFAULT_TOTAL_BYTES) -> ArtifactStore:
    return ArtifactStore(Settings(lambda key, _: {"total": total}.get(key)), str(folder))


def in_redis(url: str) -> ArtifactStore:
    return ArtifactStore(Settings(lambda key, _: {"redis": url}.get(key)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "artifacts"


@pytest.fixture
def files(folder: Path) -> ArtifactStore:
    return in_files(folder)


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture(params=["files", "redis"])
def store(request: pytest.FixtureRequest, folder: Path) -> ArtifactStore:
    if request.param == "redis":
        return in_redis(request.getfixturevalue("redis_url"))
    return in_files(folder)


def stored(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def put(store: ArtifactStore, body: bytes, seconds: int = 60) -> str:
    store.put(digest(body), body, seconds)
    return digest(body)


def age(path: Path, seconds: int) -> None:
    """Make an artifact as old as if it had been stored so many seconds earlier."""
    expires = path.stat().st_mtime - seconds
    os.utime(path, (expires, expires))


# ---- both stores


def test_what_was_stored_comes_back_byte_for_byte(store: ArtifactStore) -> None:
    large = b'{"text":"' + b"x" * 20_000_000 + b'"}'
    for body in (BODY, b"{}", large):
        assert store.get(put(store, body)) == body


def test_what_was_never_stored_is_not_there(store: ArtifactStore) -> None:
    assert store.get("0" * 64) is None


def test_the_instant_of_expiry_is_told(store: ArtifactStore) -> None:
    before = int(time.time())
    expires = store.put(NAME, BODY, 1800)
    assert before + 1800 <= expires <= time.time() + 1800


def test_until_when_a_body_is_kept_can_be_asked(store: ArtifactStore) -> None:
    expires = store.put(NAME, BODY, 60)
    assert abs((store.expires(NAME) or 0) - expires) <= 1
    assert store.expires(digest(b"never stored")) is None


def test_what_an_artifact_is_can_be_asked_where_that_was_said(store: ArtifactStore, folder: Path) -> None:
    label = Label("image/png", "größe.png")
    kept = store.keep(b"\x89PNG", label, 60)
    assert (kept.name, kept.label, kept.size) == (digest(b"\x89PNG"), label, 4)
    assert abs((store.expires(kept.name) or 0) - kept.expires) <= 1
    assert (store.get(kept.name), store.label(kept.name)) == (b"\x89PNG", label)
    assert kept.path in ("", str(folder / kept.name[:2] / kept.name))
    assert not kept.path or Path(kept.path).read_bytes() == b"\x89PNG"
    assert store.label(put(store, BODY)) is None
    assert store.label("0" * 64) is None


def test_a_body_that_leaves_no_room_for_its_label_is_kept_without(folder: Path) -> None:
    store = in_files(folder, total=1000)
    kept = store.keep(b"x" * 990, Label("image/png"), 60)
    assert (store.get(kept.name), store.label(kept.name)) == (b"x" * 990, None)


def test_storing_a_body_again_never_shortens_its_life(store: ArtifactStore) -> None:
    first = store.put(NAME, BODY, 1800)
    assert store.put(NAME, BODY, 60) >= first - 1
    assert store.put(NAME, BODY, 3600) > first


@pytest.mark.slow
def test_an_artifact_is_gone_once_its_seconds_have_passed(store: ArtifactStore) -> None:
    body = b'{"short":"life"}'
    name = put(store, body, 1)
    limit = time.monotonic() + 30
    while store.get(name) is not None:
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_body_that_is_too_large_to_be_read_again_is_refused(store: ArtifactStore) -> None:
    body = bytes(MAX_BYTES + 1)
    with pytest.raises(StorageError, match="larger than an artifact may be"):
        store.put("0" * 64, body, 60)


# ---- files


def test_files_are_for_their_owner_alone_whatever_the_umask_is(folder: Path, files: ArtifactStore) -> None:
    before = os.umask(0)
    try:
        put(files, BODY)
    finally:
        os.umask(before)
    for path in folder.parent.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


def test_a_file_is_named_by_its_content(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    assert [path.relative_to(folder) for path in stored(folder)] == [Path(NAME[:2], NAME)]
    assert stored(folder)[0].read_bytes() == BODY


def test_equal_bodies_are_one_file(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    put(files, BODY)
    assert len(stored(folder)) == 1


@pytest.mark.parametrize("content", [b"", BODY[:-1], BODY + b" ", BODY.replace(b"and", b"AND")])
def test_a_changed_file_is_not_found_and_is_fixed_by_storing_again(
    content: bytes, folder: Path, files: ArtifactStore
) -> None:
    put(files, BODY)
    path = stored(folder)[0]
    expires = path.stat().st_mtime
    path.write_bytes(content)
    os.utime(path, (expires, expires))
    assert files.get(NAME) is None
    put(files, BODY)
    assert files.get(NAME) == BODY


def test_an_expired_file_is_not_found_and_goes_with_the_next_that_is_stored(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    age(stored(folder)[0], 61)
    assert files.get(NAME) is None
    other = put(files, b"{}")
    assert [path.name for path in stored(folder)] == [other]


def test_asking_for_an_expired_file_removes_all_that_have_expired(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    put(files, b"[]")
    kept = put(files, b"{}", 1000)
    for path in stored(folder):
        age(path, 61)
    assert files.get(NAME) is None
    assert [path.name for path in stored(folder)] == [kept]


def test_an_expired_body_that_is_stored_again_lives_anew(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    age(stored(folder)[0], 1000)
    put(files, BODY)
    assert files.get(NAME) == BODY


def test_a_life_longer_than_any_is_that_of_a_wrong_clock(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    age(stored(folder)[0], -MAX_SECONDS)
    assert files.get(NAME) is None


def test_all_files_together_stay_within_the_total_and_the_oldest_go_first(folder: Path) -> None:
    files = in_files(folder, 2500)
    names = []
    for number in range(5):
        body = str(number).encode() * 1000
        names.append(digest(body))
        files.put(names[-1], body, 60 + number)
        assert sum(path.stat().st_size for path in stored(folder)) <= 2500
    assert [files.get(name) is not None for name in names] == [False, False, False, True, True]


def test_a_body_larger_than_the_total_is_refused_and_drives_nothing_out(folder: Path) -> None:
    files = in_files(folder, 1000)
    name = put(files, BODY)
    with pytest.raises(StorageError):
        put(files, bytes(1001))
    assert files.get(name) == BODY


def test_what_a_dead_process_began_is_removed_and_what_a_living_one_writes_is_not(
    folder: Path, files: ArtifactStore
) -> None:
    put(files, BODY)
    dead, living = (folder / NAME[:2] / f".{NAME}.{writer}" for writer in "12")
    for path, seconds in ((dead, 1000), (living, 1)):
        path.write_bytes(b"half a bo")
        os.utime(path, (time.time() - seconds, time.time() - seconds))
    put(files, b"{}")
    assert not dead.exists()
    assert living.exists()


def test_what_is_not_the_stores_own_is_left_alone(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    foreign = [folder / "notes.txt", folder / NAME[:2] / "notes.txt", folder / "abc" / ("0" * 64)]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        os.utime(path, (1, 1))
    put(in_files(folder, 10), b"{}")
    assert all(path.exists() for path in foreign)


@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder", "socket"])
def test_what_is_no_plain_file_is_not_found(kind: str, folder: Path, files: ArtifactStore, tmp_path: Path) -> None:
    put(files, BODY)
    path = stored(folder)[0]
    path.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(BODY)
    os.utime(elsewhere, (time.time() + 60, time.time() + 60))
    if kind == "symlink":
        path.symlink_to(elsewhere)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        # A socket's path has a hundred characters at the most.
        with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(path.parent):
            listening.bind(path.name)
    if kind == "fifo":
        os.utime(path, (time.time() + 60, time.time() + 60))
    assert files.get(NAME) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_found(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    os.chown(stored(folder)[0], 12345, 12345)
    assert files.get(NAME) is None


def test_two_processes_store_the_same_body_and_their_own_at_once(folder: Path) -> None:
    command = [sys.executable, "-c", _STORING, str(folder)]
    running = [subprocess.Popen([*command, letter]) for letter in "abcd"]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    assert len(stored(folder)) == 5
    assert all(digest(path.read_bytes()) == path.name for path in stored(folder))


def test_processes_that_store_at_once_stay_within_the_total_together(folder: Path) -> None:
    script = (
        "import sys\nfrom ferrule.content.artifacts.store import ArtifactStore\n"
        "from ferrule.content.artifacts.settings import Settings\n"
        "from ferrule.content.artifacts.handles import digest\n"
        "settings = Settings(lambda key, _: {'total': 10_000}.get(key))\n"
        "for number in range(20):\n"
        "    body = f'{sys.argv[2]}{number}'.encode() * 1000\n"
        "    ArtifactStore(settings, sys.argv[1]).put(digest(body), body, 60)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(folder), letter]) for letter in "abcd"]
    for process in running:
        process.wait(60)
    assert 0 < sum(path.stat().st_size for path in stored(folder)) <= 10_000


def test_nothing_is_written_while_another_process_writes(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen([sys.executable, "-c", _STORING, str(folder), "a"])
        time.sleep(0.5)
        assert [path.name for path in stored(folder)] == [NAME]
    assert process.wait(60) == 0
    assert len(stored(folder)) == 3


@pytest.mark.slow
def test_a_lock_that_somebody_keeps_delays_a_store_and_does_not_stop_it(folder: Path, files: ArtifactStore) -> None:
    put(files, BODY)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert files.get(put(files, b"{}")) == b"{}"


@pytest.mark.parametrize("place", ["file/artifacts", "file", "/proc/artifacts", "/dev/null/artifacts"])
def test_a_folder_that_cannot_be_written_is_said_and_its_place_is_not(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    files = in_files(tmp_path / place)
    with pytest.raises(StorageError) as raised:
        put(files, BODY)
    assert "artifacts" not in str(raised.value)
    assert "/" not in str(raised.value)
    assert files.get(NAME) is None


def test_a_write_that_stops_in_the_middle_leaves_nothing(folder: Path, files: ArtifactStore) -> None:
    """As on a full disk, but for everybody who runs the tests: the size of a file is limited, not that of the disk."""
    body = bytes(50_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(StorageError, match=os.strerror(errno.EFBIG)):
            put(files, body)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert stored(folder) == []
    assert files.get(put(files, body)) == body


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_a_full_disk_is_said_and_what_was_there_stays(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root outside of a container can make a small disk")
    try:
        files = in_files(disk / "artifacts")
        name = put(files, BODY)
        with pytest.raises(StorageError, match=os.strerror(errno.ENOSPC)):
            put(files, bytes(500_000))
        assert files.get(name) == BODY
        assert [path.name for path in stored(disk)] == [name]
    finally:
        subprocess.run(["umount", disk], check=True)


# ---- Redis


def test_a_body_that_was_changed_in_redis_is_not_found(redis_url: str) -> None:
    store = in_redis(redis_url)
    name = put(store, b'{"in":"redis"}')
    redis = RedisConnection(redis_url, 5)
    key = f"ferrule:artifact:v1:{name}"
    assert 0 < redis.ask(("TTL", key))[0] <= 60
    redis.ask(("SET", key, b"forged"))
    redis.close()
    assert store.get(name) is None


@pytest.mark.parametrize("url", ["redis://user:hunter2@127.0.0.1:1/0", "unix:///nowhere?password=hunter2", "hunter2"])
def test_where_a_redis_does_not_answer_files_are_used_and_that_is_said_once_without_its_url(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path))
    monkeypatch.setattr("ferrule.storage.redis_outage._looks", {})
    first, second = in_redis(url), in_redis(url)
    with pytest.raises(StorageError) as raised:  # it may be there, on the server
        first.get(NAME)
    assert raised.value.__cause__ is None
    assert put(second, BODY) == NAME
    assert second.get(NAME) == BODY
    assert second.path(NAME)
    assert first.new_outage
    assert second.new_outage == ""
    assert "hunter2" not in f"{raised.value} {first.new_outage}"


def test_redis_is_imported_where_one_is_configured_and_nowhere_else(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom ferrule.config import configuration\n"
        "from ferrule.content.artifacts.settings import Settings\n"
        "from ferrule.content.artifacts.store import ArtifactStore\n"
        "ArtifactStore(Settings.of(configuration.read())).get('0' * 64)\nprint('hiredis' in sys.modules)"
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_files_lie_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "here"))
    put(ArtifactStore(Settings(lambda key, variable: None)), BODY)
    assert (tmp_path / "here" / "artifacts" / NAME[:2] / NAME).read_bytes() == BODY
