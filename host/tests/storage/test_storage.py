"""What `ferrule.storage` offers, and entries that expire in files as every store of them has it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ferrule import storage
from ferrule.storage import ExpiringFiles, StorageError, locked, read_file, replace_file
from ferrule.text.sha256 import sha256_hex

KEY = sha256_hex(b"key")
_BLOCK = 4096


def files(folder: Path, *, has_ledger: bool = True, total: int = 100 * _BLOCK) -> ExpiringFiles:
    return ExpiringFiles(
        str(folder), name="the folder of pages", total_bytes=total, max_bytes=50_000, has_ledger=has_ledger
    )


def test_every_public_name_is_documented_and_can_be_had() -> None:
    assert storage.__doc__
    for name in storage.__all__:
        assert f"`{name}" in storage.__doc__
        assert getattr(storage, name).__module__.startswith(("ferrule.storage.", "ferrule.config."))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = storage.nothing


@pytest.mark.process
def test_importing_it_imports_nothing_of_what_it_offers() -> None:
    script = "import sys, ferrule.storage; print(*(name for name in sys.modules if name.startswith('ferrule.storage')))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "ferrule.storage\n"


@pytest.mark.parametrize("has_ledger", [True, False])
def test_an_entry_is_kept_for_its_seconds_and_can_be_removed(has_ledger: bool, tmp_path: Path) -> None:
    entries = files(tmp_path / "pages", has_ledger=has_ledger)
    assert entries.is_ready()
    assert (entries.get(KEY), entries.read(KEY), entries.expires(KEY), entries.remove(KEY)) == (None, None, None, False)
    expires = entries.put(KEY, b"page", 60)
    assert expires is not None
    assert abs(expires - time.time() - 60) < 5
    assert abs((entries.expires(KEY) or 0) - expires) < 0.01
    assert (entries.get(KEY), list(entries.all())) == (b"page", [(KEY, 4)])
    assert entries.remove(KEY)
    assert list(entries.all()) == []


@pytest.mark.parametrize("has_ledger", [True, False])
def test_an_expired_entry_can_be_read_and_is_not_given(has_ledger: bool, tmp_path: Path) -> None:
    entries = files(tmp_path, has_ledger=has_ledger)
    entries.put(KEY, b"page", -1)
    assert (entries.read(KEY), entries.expires(KEY), entries.get(KEY)) == (b"page", None, None)
    assert entries.read(KEY) is None, "asking for it has removed what has expired"


def test_an_entry_lives_for_as_long_as_was_promised_where_that_is_asked_for(tmp_path: Path) -> None:
    entries = files(tmp_path)
    long = entries.put(KEY, b"page", 600)
    assert entries.put(KEY, b"page", 60, never_shortens=True) == pytest.approx(long, abs=0.01)
    assert entries.put(KEY, b"page", 60) == pytest.approx(time.time() + 60, abs=5)


@pytest.mark.parametrize(("has_ledger", "size"), [(True, 9 * _BLOCK), (False, 10 * _BLOCK + 1), (True, 50_001)])
def test_what_is_too_large_is_not_kept_and_drives_nothing_out(has_ledger: bool, size: int, tmp_path: Path) -> None:
    entries = files(tmp_path, has_ledger=has_ledger, total=10 * _BLOCK)
    entries.put(KEY, b"page", 60)
    assert entries.put(sha256_hex(b"other"), bytes(size), 60) is None
    assert entries.get(KEY) == b"page"


@pytest.mark.parametrize("has_ledger", [True, False])
def test_what_is_just_not_too_large_is_kept(has_ledger: bool, tmp_path: Path) -> None:
    entries = files(tmp_path, has_ledger=has_ledger, total=100 * _BLOCK)
    assert entries.put(KEY, bytes(50_000), 60) is not None
    assert entries.get(KEY) == bytes(50_000)


def test_an_entry_is_replaced_without_room_for_both(tmp_path: Path) -> None:
    entries = files(tmp_path, has_ledger=False, total=10_000)
    other = sha256_hex(b"other")
    entries.put(other, bytes(3_000), 60)
    for _ in range(3):
        entries.put(KEY, bytes(6_000), 60)
    assert (entries.expires(other), entries.expires(KEY)) != (None, None)
    assert len(list(entries.all())) == 2


def test_a_file_in_the_place_of_the_folder_is_not_ready(tmp_path: Path) -> None:
    (tmp_path / "pages").write_bytes(b"")
    assert not files(tmp_path / "pages").is_ready()
    assert not files(tmp_path / "pages" / "inner").is_ready()


@pytest.mark.parametrize("has_ledger", [True, False])
def test_what_is_not_its_own_is_left_alone_and_abandoned_drafts_go(has_ledger: bool, tmp_path: Path) -> None:
    entries = files(tmp_path, has_ledger=has_ledger)
    shard = tmp_path / KEY[:2]
    shard.mkdir()
    foreign = [tmp_path / "notes", shard / "notes", shard / f"{KEY}.txt", shard / ".notes"]
    abandoned, young = shard / f".{KEY}.1", shard / f".{KEY}.2"
    for path in (*foreign, abandoned, young):
        path.write_bytes(b"half")
        os.utime(path, (1, 1))
    os.utime(young)
    entries.put(sha256_hex(b"other"), b"page", 60)
    assert all(path.exists() for path in (*foreign, young))
    assert not abandoned.exists()


def test_a_draft_that_has_the_time_of_its_entry_already_is_abandoned_at_its_own_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = files(tmp_path, has_ledger=False)
    entries.put(KEY, b"page", 60)
    draft = tmp_path / KEY[:2] / f".{KEY}.1"
    draft.write_bytes(b"whole")
    os.utime(draft, (time.time() + 86_400, time.time() + 86_400))
    entries.put(KEY, b"page", 60)
    assert draft.exists()
    monkeypatch.setattr("ferrule.storage.expiring_files._ABANDONED_SECONDS", -1.0)
    entries.put(KEY, b"page", 60)
    assert not draft.exists()


@pytest.mark.slow
def test_a_lock_that_is_kept_is_told_for_a_ledger_and_gone_past_without_one(tmp_path: Path) -> None:
    with locked(str(tmp_path / "ledger"), 0), locked(str(tmp_path / ".lock"), 0):
        with pytest.raises(StorageError) as raised:
            files(tmp_path).put(KEY, b"page", 60)
        assert (str(raised.value), raised.value.reason) == ("the folder of pages is busy", "it is busy")
        assert files(tmp_path, has_ledger=False).put(KEY, b"page", 60) is not None


def test_an_error_names_the_store_and_no_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    entries = files(tmp_path / "file" / "pages")
    with pytest.raises(StorageError) as raised:
        entries.put(KEY, b"page", 60)
    assert str(raised.value) == "the folder of pages cannot be used: Not a directory"
    assert raised.value.reason == "Not a directory"
    assert not entries.is_ready()


def test_a_file_is_replaced_as_a_whole_with_the_mode_and_time_that_were_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o077)
    try:
        replace_file(str(path), b"one", mode=0o755, modified=1000.5)
        assert (path.stat().st_mode & 0o777, path.stat().st_mtime) == (0o755, 1000.5)
        replace_file(str(path), b"two", is_synced=True)
    finally:
        os.umask(before)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o600)
    assert os.listdir(tmp_path) == ["file"]


def test_a_replacement_that_fails_leaves_the_file_and_no_draft(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(str(folder), b"data")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("mode", [0o666, 0o622, 0o660])
def test_a_file_that_others_may_write_to_is_not_read(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"data")
    path.chmod(mode)
    assert read_file(str(path), 100) is None
    path.chmod(0o644)
    assert read_file(str(path), 100) == b"data"
    assert read_file(str(path), 3) is None


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs itself is asked")
def test_the_state_folder_is_where_platformdirs_has_it() -> None:
    program = (
        "import os, sys, platformdirs\n"
        "from ferrule.config.own_folders import state_folder\n"
        "for value in sys.argv[1:]:\n"
        "    os.environ['XDG_STATE_HOME'] = value\n"
        "    theirs = platformdirs.user_state_dir('ferrule', appauthor=False)\n"
        "    assert state_folder() == theirs, (value, state_folder(), theirs)\n"
    )
    values = ("/xdg", "/xdg/", "", "  ", " /xdg", "/xdg ", "relative", "~/xdg")
    for home in ("/home/ada", "/home/ada/", "/"):
        subprocess.run([sys.executable, "-c", program, *values], env={"HOME": home}, check=True)
