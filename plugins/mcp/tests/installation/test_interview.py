"""What is taken from the home of a server, where the server can put anything."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule_mcp.installation.interview import take_answer

SAID = b'{"tools": []}'
NAME = ".ferrule-interview-1"
ANSWER = {"file": NAME, "sha256": hashlib.sha256(SAID).hexdigest()}


def test_the_answer_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(SAID)
    assert take_answer(str(tmp_path), ANSWER) == {"tools": []}
    assert list(tmp_path.iterdir()) == []
    assert take_answer(str(tmp_path), ANSWER) is None


@pytest.mark.parametrize(
    "put",
    [
        lambda path: path.write_text('{"tools": [{}]}'),
        lambda path: path.symlink_to(path.with_name("own")),
        os.mkfifo,
        os.mkdir,
    ],
    ids=["another", "link", "pipe", "folder"],
)
def test_something_in_its_place_is_not_taken(put: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(SAID)
    put(tmp_path / NAME)
    assert take_answer(str(tmp_path), ANSWER) is None
    assert (tmp_path / "own").exists()


@pytest.mark.parametrize("name", ["../own", "own", None, f"{NAME}/../own"])
def test_no_other_file_is_taken(name: object, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    for folder in (tmp_path, tmp_path / "home"):
        (folder / "own").write_bytes(SAID)
    assert take_answer(str(tmp_path / "home"), {**ANSWER, "file": name}) is None
    assert (tmp_path / "home/own").exists()
