"""The store of one machine: private, whole or not at all, bounded; what is wrong with it is a miss or a sentence."""

import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ferrule.storage import StorageError
from ferrule.wrappers.cache import entries
from ferrule.wrappers.cache.entries import Entry
from ferrule.wrappers.cache.keys import key_of
from ferrule.wrappers.cache.store import FileStore

_BLOCK = 4096


def entry(name: str = "a", *, seconds: float = 100.0, size: int = 10) -> Entry:
    asked = {"tool": "web_fetch", "arguments": {"url": name}, "identity": {"settings": {"token": "open-sesame"}}}
    return Entry(key_of(asked), asked, {"result": {"content": "x" * size}}, entries.now(), seconds)


def files(store: FileStore) -> list[Path]:
    return [path for path in Path(store.place).rglob("*") if path.is_file() and len(path.name) == 64]


def path_of(store: FileStore, kept: Entry) -> Path:
    return Path(store.place) / kept.key[:2] / kept.key


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(str(tmp_path / "above" / "cache"))


def test_what_was_kept_is_found_under_its_key_alone(store: FileStore) -> None:
    kept = entry()
    assert store.get(kept.key) is None
    store.put(kept)
    found = store.get(kept.key)
    assert found is not None
    assert found.outcome == kept.outcome
    assert store.get(entry("b").key) is None


def test_files_and_folders_are_the_users_alone(store: FileStore, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store.put(entry())
        with_lock = store.flight("f" * 64)
        with_lock.join(0)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "above").rglob("*") if path.is_file()}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "above", *(tmp_path / "above").rglob("*")]}
    with_lock.end()
    assert modes == {0o600}
    assert folders == {0o600, 0o700}


def test_what_has_expired_is_not_given_and_goes_with_the_next_look(store: FileStore) -> None:
    old = entry("old", seconds=0.01)
    store.put(old)
    time.sleep(0.02)
    assert store.get(old.key) is None
    (Path(store.place) / "ledger").unlink()
    store.put(entry("new"))
    assert [path.name for path in files(store)] == [entry("new").key]


@pytest.mark.parametrize("damage", ["empty", "half", "longer", "other", "folder", "fifo", "link", "shared"])
def test_a_file_that_is_not_as_it_was_left_is_a_miss_and_is_replaced(
    damage: str, store: FileStore, tmp_path: Path
) -> None:
    kept, other = entry(), entry("other")
    store.put(kept)
    store.put(other)
    path = path_of(store, kept)
    data = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage == "fifo":
        os.mkfifo(path)
    elif damage == "link":
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_bytes(data)
        path.symlink_to(elsewhere)
    else:
        changed = {"empty": b"", "half": data[: len(data) // 2], "longer": data + b"x", "shared": data}
        path.write_bytes(changed.get(damage) or (b"" if damage == "empty" else path_of(store, other).read_bytes()))
        path.chmod(0o666 if damage == "shared" else 0o600)
    assert store.get(kept.key) is None
    if damage == "folder":
        path.rmdir()
    store.put(kept)
    assert store.get(kept.key) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_a_miss(store: FileStore) -> None:
    kept = entry()
    store.put(kept)
    os.chown(path_of(store, kept), 12345, 12345)
    assert store.get(kept.key) is None


def test_all_together_stay_within_the_limit_and_the_oldest_go_first(store: FileStore) -> None:
    store._files.total_bytes = 20 * _BLOCK
    for number in range(60):
        store.put(entry(str(number), size=3_000))
        taken = sum(-(-path.stat().st_size // _BLOCK) * _BLOCK for path in files(store))
        assert taken <= store._files.total_bytes
    left = {kept.question["arguments"]["url"] for kept, _ in store.all()}
    assert "59" in left
    assert left == {str(number) for number in range(60 - len(left), 60)}
    assert len(left) > 10


def test_what_is_too_large_for_the_store_is_not_kept(store: FileStore) -> None:
    store._files.total_bytes = 20 * _BLOCK
    store.put(entry("small"))
    store.put(entry("large", size=19 * _BLOCK))
    assert [kept.question["arguments"]["url"] for kept, _ in store.all()] == ["small"]


@pytest.mark.parametrize("ledger", [b"", b"nonsense", b"[]", b'{"bytes": -5, "swept": 1}', b'{"bytes": 1e99}'])
def test_a_ledger_that_says_nothing_is_written_anew(ledger: bytes, store: FileStore) -> None:
    store.put(entry("a"))
    (Path(store.place) / "ledger").write_bytes(ledger)
    store.put(entry("b"))
    assert len(list(store.all())) == 2
    assert (Path(store.place) / "ledger").read_bytes().startswith(b'{"bytes":8192,')


def test_what_a_process_writes_is_no_entry_yet_and_stays(store: FileStore) -> None:
    store.put(entry())
    young = Path(store.place) / "ab" / f".{'a' * 64}.1"
    young.parent.mkdir(exist_ok=True)
    young.write_bytes(b"half")
    assert len(list(store.all())) == 1
    assert young.exists()


def test_a_folder_that_cannot_be_used_is_told_without_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = FileStore(str(tmp_path / "file" / "cache"))
    assert store.get("a" * 64) is None
    for use in (lambda: store.put(entry()), lambda: store.flight("a" * 64).join(0)):
        with pytest.raises(StorageError) as raised:
            use()
        assert str(raised.value) == "the cache's folder cannot be used: Not a directory"


@pytest.mark.process
def test_a_full_disk_is_told_and_leaves_nothing_behind(store: FileStore) -> None:
    """A limit on the size of files stands for the disk: the write fails half-way in the same way."""
    script = (
        "import resource, signal, sys\n"
        "from test_store import FileStore, StorageError, entry\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try:\n    FileStore(sys.argv[1]).put(entry(size=10_000))\nexcept StorageError as failure:\n    print(failure)"
    )
    where = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    command = [sys.executable, "-c", script, store.place]
    done = subprocess.run(command, env=where, capture_output=True, text=True, check=True)
    assert done.stdout == "the cache's folder cannot be used: File too large\n"
    left = [path for path in Path(store.place).rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["ledger"]


def _put_many(folder: str, name: str) -> None:
    store = FileStore(folder, total_bytes=40 * _BLOCK)
    for number in range(30):
        store.put(entry(f"{name}-{number}", size=3_000))
        store.put(entry("shared", size=3_000))
        assert store.get(entry("shared").key) is not None or number


@pytest.mark.slow
@pytest.mark.process
def test_many_processes_at_once_leave_whole_entries_within_the_limit(store: FileStore) -> None:
    processes = [multiprocessing.Process(target=_put_many, args=(store.place, str(n))) for n in range(6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 6
    kept = list(store.all())
    assert len(kept) == len(files(store))
    assert sum(-(-path.stat().st_size // _BLOCK) * _BLOCK for path in files(store)) <= 40 * _BLOCK


@pytest.mark.slow
@pytest.mark.process
def test_a_reader_never_sees_half_an_entry(store: FileStore) -> None:
    kept = entry(size=500_000)
    store.put(kept)
    writer = multiprocessing.Process(target=_rewrite, args=(store.place,))
    writer.start()
    while writer.is_alive():
        assert store.get(kept.key) is not None
    writer.join()
    assert writer.exitcode == 0


def _rewrite(folder: str) -> None:
    store = FileStore(folder)
    for _ in range(50):
        store.put(entry(size=500_000))


def test_a_folder_that_is_gone_is_an_empty_store(store: FileStore) -> None:
    store.put(entry())
    shutil.rmtree(store.place)
    assert list(store.all()) == []
    assert store.get(entry().key) is None
    store.put(entry())
    assert store.get(entry().key) is not None


def test_an_admin_sees_the_arguments_and_not_the_settings(store: FileStore) -> None:
    seen = store.redacted_question(dict(entry().question))
    assert seen["arguments"] == {"url": "a"}
    assert "open-sesame" not in str(seen)
    assert str(seen["identity"]).count("sha256:") == 1
