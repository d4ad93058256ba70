"""The credentials file: read with suspicion, written for its owner alone, and nothing in it is lost or shown."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import CredentialsMalformed, FerruleError
from ferrule.trust.credentials.credentials_writer import remove, store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ikigai" / "credentials.json"


@pytest.fixture
def unprivileged(path: Path) -> Iterator[None]:
    """A file that nobody may read, and no privileges to read it nonetheless."""
    write(path, b"{}", 0o000)
    user = os.geteuid()
    os.seteuid(user or 65534)
    yield
    os.seteuid(user)


def write(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def problem(path: Path) -> str:
    file = CredentialsFile(str(path))
    assert file.content == {}
    assert file.value("a") == ""
    assert file.problem is not None
    return file.problem


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b'{\n  "a": "k3y"\n  "b": "k3y"}', "expecting ',' delimiter at line 3 column 3", id="comma"),
        pytest.param(b'{"a": "k3y', "unterminated string starting at line 1 column 7", id="open-string"),
        pytest.param(b"k3y", "a value was expected at line 1 column 1", id="key-alone"),
        pytest.param(b'{"k3y": "k3y", "k3y": ""}', "a key stands twice in one object", id="key-twice"),
        pytest.param(b'{"a": "\\ud800", "k3y": 1}', "a lone surrogate stands in it", id="surrogate"),
        pytest.param(b'{"a": 1e999}', "a number is out of range", id="number"),
        pytest.param(b'{"a": "k3y\xff"}', "byte 11 is not UTF-8", id="not-utf-8"),
        pytest.param(b"", "it is empty", id="empty"),
    ],
)
def test_a_malformed_file_is_told_with_its_place_and_without_its_content(
    path: Path, content: bytes, reason: str
) -> None:
    told = problem(write(path, content))
    assert told == f"{path} is not JSON: {reason}."
    assert "k3y" not in told


def test_a_file_that_is_no_object_is_told_without_its_content(path: Path) -> None:
    assert problem(write(path, b'["k3y"]')) == f"{path} does not hold a JSON object."


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(os.mkfifo, "is not a regular file", id="fifo"),
        pytest.param(os.mkdir, "is not a regular file", id="folder"),
        pytest.param(lambda path: os.symlink("/dev/zero", path), "is not a regular file", id="device"),
        pytest.param(lambda path: os.symlink(path, path), "cannot be read: Too many levels of symbolic", id="circle"),
        pytest.param(lambda path: Path(path).write_bytes(b" " * (2 << 20)), "is larger than 1 MiB", id="2-MiB"),
    ],
)
def test_what_is_no_file_of_credentials_is_refused_at_once(path: Path, make: Any, reason: str) -> None:
    path.parent.mkdir()
    make(str(path))
    assert problem(path).startswith(f"{path} {reason}")


@pytest.mark.usefixtures("unprivileged")
def test_a_file_that_cannot_be_read_is_told_so(path: Path) -> None:
    assert problem(path) == f"{path} cannot be read: Permission denied."


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(path: Path) -> None:
    os.chown(write(path, b'{"a": "b"}'), 12345, -1)
    assert problem(path) == f"{path} belongs to another user (uid 12345)."


@pytest.mark.parametrize("others", [0o666, 0o660, 0o602, 0o620], ids=oct)
def test_a_file_that_others_can_write_is_refused(path: Path, others: int) -> None:
    told = problem(write(path, b'{"a": "b"}', others))
    assert told == f"{path} can be written by other users. Run: chmod 600 {path}"


@pytest.mark.parametrize("others", [0o644, 0o640, 0o604], ids=oct)
def test_a_file_that_others_can_read_is_used_and_warned_about(path: Path, others: int) -> None:
    file = CredentialsFile(str(write(path, b'{"a": "b"}', others)))
    assert (file.value("a"), file.problem) == ("b", None)
    assert file.warning == f"{path} can be read by other users. Run: chmod 600 {path}"


def test_a_folder_in_which_others_can_replace_the_file_is_warned_about(path: Path) -> None:
    write(path, b'{"a": "k3y"}', 0o644)
    path.parent.chmod(0o777)
    file = CredentialsFile(str(path))
    assert file.value("a") == "k3y"
    assert f"{path.parent} can be written by other users, who can replace the file." in str(file.warning)
    assert file.fix == f"chmod 600 {path} && chmod 700 {path.parent}"
    path.parent.chmod(0o1777)
    path.chmod(0o600)
    assert CredentialsFile(str(path)).warning is None


def test_a_byte_order_mark_is_passed_over_and_not_written_again(path: Path) -> None:
    write(path, b'\xef\xbb\xbf{"a": "b"}')
    assert CredentialsFile(str(path)).value("a") == "b"
    store(str(path), "c", "d")
    assert json.loads(path.read_bytes().decode("utf-8")) == {"a": "b", "c": "d"}


@pytest.mark.parametrize("place", ["nowhere", "nowhere/inside", "file/inside"])
def test_a_file_that_is_not_there_is_no_problem(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    file = CredentialsFile(str(tmp_path / place))
    assert (file.content, file.problem, file.warning) == ({}, None, None)


def test_a_byte_order_mark_is_no_part_of_the_file(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'\xef\xbb\xbf{"dice": {"key": "one"}}')
    path.chmod(0o600)
    assert (CredentialsFile(str(path)).value("dice.key"), CredentialsFile(str(path)).problem) == ("one", None)
    store(str(path), "dice.engine", "two")
    assert json.loads(path.read_text()) == {"dice": {"key": "one", "engine": "two"}}


def test_a_link_to_the_file_is_followed_for_reading_and_writing(path: Path, tmp_path: Path) -> None:
    write(path, b'{"a": "b"}')
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert CredentialsFile(str(link)).value("a") == "b"
    store(str(link), "a", "c")
    assert link.is_symlink()
    assert json.loads(path.read_text()) == {"a": "c"}


def test_storing_makes_the_folder_and_the_file_for_their_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        store(str(path), "dice.online.api_key", "k3y-1")
    finally:
        os.umask(before)
    assert json.loads(path.read_text()) == {"dice": {"online": {"api_key": "k3y-1"}}}
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert os.listdir(path.parent) == ["credentials.json"]


def test_storing_keeps_what_else_is_there_in_its_order(path: Path) -> None:
    content = {"z": "ü😀", "dice": {"y": [1, 2.5, None, True], "api_key": "old", "a": {}}, "a": {"é": "\n"}}
    write(path, json.dumps(content, ensure_ascii=True).encode(), 0o644)
    store(str(path), "dice.api_key", "new")
    store(str(path), "dice.engine", "x")
    content["dice"] |= {"api_key": "new", "engine": "x"}  # type: ignore[operator] # its kind is known here
    assert list(json.loads(path.read_text()).items()) == list(content.items())
    assert json.dumps(json.loads(path.read_text())) == json.dumps(content)
    assert "ü😀" in path.read_text()
    assert mode(path) == 0o600


def test_storing_leaves_a_malformed_file_untouched(path: Path) -> None:
    write(path, b'{"a": "k3y",}', 0o644)
    for change in (lambda: store(str(path), "a", "b"), lambda: remove(str(path), "a")):
        with pytest.raises(CredentialsMalformed, match="is not JSON") as caught:
            change()
        assert caught.value.hint == "Fix or move the file first; it was left as it is."
    assert (path.read_bytes(), mode(path)) == (b'{"a": "k3y",}', 0o644)
    assert os.listdir(path.parent) == ["credentials.json"]


def test_storing_replaces_no_text_by_an_object(path: Path) -> None:
    write(path, b'{"dice": "k3y"}')
    with pytest.raises(CredentialsMalformed, match=r"'dice' is not an object, so 'dice\.api_key' cannot be set"):
        store(str(path), "dice.api_key", "x")
    assert path.read_bytes() == b'{"dice": "k3y"}'


def test_a_store_that_fails_leaves_the_file_and_no_draft(path: Path) -> None:
    write(path, b'{"a": "b"}')
    with pytest.raises(UnicodeEncodeError):
        store(str(path), "a", "\ud800")
    assert path.read_bytes() == b'{"a": "b"}'
    assert os.listdir(path.parent) == ["credentials.json"]


def test_removing_takes_out_the_key_and_what_it_leaves_empty(path: Path) -> None:
    write(path, b'{"a": 1, "dice": {"online": {"api_key": "x"}}}')
    assert not remove(str(path), "dice.online.other")
    assert not remove(str(path), "a.b")
    assert remove(str(path), "dice.online.api_key")
    assert json.loads(path.read_text()) == {"a": 1}


def test_removing_from_a_file_that_is_not_there_makes_nothing(path: Path) -> None:
    assert not remove(str(path), "a")
    assert not path.parent.exists()


@pytest.mark.slow
@pytest.mark.process
def test_a_lock_that_another_process_keeps_is_told_within_seconds_and_nothing_is_changed(path: Path) -> None:
    write(path, b'{"a": "b"}')
    program = (
        "import fcntl, os, sys\n"
        "fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n"
        "print(flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(path.parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        holder.stdout.readline()
        for change in (lambda: store(str(path), "a", "c"), lambda: remove(str(path), "a")):
            before = time.monotonic()
            with pytest.raises(FerruleError) as caught:
                change()
            assert 1.5 < time.monotonic() - before < 20
            assert caught.value.message == f"Another process has locked {path.parent}, so nothing was changed."
            assert caught.value.hint is not None
            assert f"`fuser {path.parent}`" in caught.value.hint
        holder.kill()
    assert path.read_bytes() == b'{"a": "b"}'
    store(str(path), "a", "c")
    assert json.loads(path.read_bytes()) == {"a": "c"}


def test_where_a_file_system_has_no_locks_the_file_is_still_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    store(str(path), "a", "b")
    assert json.loads(path.read_bytes()) == {"a": "b"}


@pytest.mark.process
def test_what_two_processes_store_at_once_is_all_there(path: Path) -> None:
    program = (
        "import sys\n"
        "from ferrule.trust.credentials.credentials_writer import store\n"
        "sys.stdin.read(1)\n"
        "for number in range(40):\n"
        "    store(sys.argv[1], f'{sys.argv[2]}.n{number}', 'x')\n"
    )
    ours, theirs = os.pipe()
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), name], stdin=ours) for name in ("one", "two")
    ]
    os.close(ours)
    os.close(theirs)  # both begin when the pipe ends
    while any(writer.poll() is None for writer in writers):
        assert CredentialsFile(str(path)).problem is None
    assert [writer.returncode for writer in writers] == [0, 0]
    content = json.loads(path.read_text())
    assert {name: len(keys) for name, keys in content.items()} == {"one": 40, "two": 40}
    assert os.listdir(path.parent) == ["credentials.json"]
