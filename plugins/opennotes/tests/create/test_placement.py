"""A note in its place: whole or not at all, inside of the notebook, and never over another."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ferrule import ToolError
from ferrule_opennotes.create.placement import place

LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
PLACE = """
import sys
from ferrule import ToolError
from ferrule_opennotes.create.placement import place
root, path, length, letter = sys.argv[1:]
*folder, name = path.split("/")
sys.stdin.read()
try:
    print(place(root, folder, name, letter.encode() * int(length)))
except ToolError as error:
    print(error.code)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notebook"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def refused(root: Path, path: str, data: bytes = b"x") -> str:
    *folder, name = path.split("/")
    with pytest.raises(ToolError) as raised:
        place(str(root), folder, name, data)
    return raised.value.code


def together(root: Path, calls: Sequence[tuple[str, str, int, str]]) -> list[str]:
    """What calls say that run at the same time; each is a preparation, a path, a length, and the letter to write."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", before + PLACE, root, path, str(length), letter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for before, path, length, letter in calls
    ]
    for process in processes:
        assert process.stdin
        process.stdin.close()
        process.stdin = None
    answers = [process.communicate()[0].strip() for process in processes]
    assert all(process.returncode == 0 for process in processes)
    return answers


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_note_is_written_with_its_folders(root: Path) -> None:
    assert place(str(root), ["a", "b"], "c.md", b"text\n") == "a/b/c.md"
    assert (root / "a/b/c.md").read_bytes() == b"text\n"
    assert everything(root) == ["a", "a/b", "a/b/c.md"]


def test_modes_are_those_of_every_new_file(root: Path) -> None:
    place(str(root), ["a"], "b.md", b"")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((root / "a/b.md").stat().st_mode) == 0o644 & ~mask
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o755 & ~mask


def test_a_root_that_does_not_exist_is_made(root: Path) -> None:
    assert place(str(root / "notes"), [], "a.md", b"x") == "a.md"


def test_a_root_that_is_a_file_is_no_note_that_exists(root: Path) -> None:
    (root / "file").write_text("x")
    with pytest.raises(ToolError, match="the notebook's root is a file, not a folder") as raised:
        place(str(root / "file"), [], "a.md", b"x")
    assert raised.value.code == "WRITE_FAILED"


def test_an_existing_note_is_never_overwritten(root: Path) -> None:
    (root / "a.md").write_text("old")
    assert refused(root, "a.md") == "NOTE_EXISTS"
    assert (root / "a.md").read_text() == "old"


@pytest.mark.parametrize("target", ["missing", "../outside/new.md", "../outside"])
def test_a_link_in_the_notes_place_counts_as_a_note(root: Path, outside: Path, target: str) -> None:
    (root / "a.md").symlink_to(target)
    assert refused(root, "a.md") == "NOTE_EXISTS"
    assert everything(outside) == []
    assert everything(root) == ["a.md"]


def test_a_folder_in_the_notes_place_counts_as_a_note(root: Path) -> None:
    (root / "a.md").mkdir()
    assert refused(root, "a.md") == "NOTE_EXISTS"


def test_a_file_where_a_folder_should_be_is_named(root: Path) -> None:
    (root / "a").mkdir()
    (root / "a/b").write_text("file")
    with pytest.raises(ToolError, match=r"^The note was not written: a/b is a file, not a folder$") as raised:
        place(str(root), ["a", "b", "c"], "d.md", b"x")
    assert raised.value.code == "WRITE_FAILED"
    assert (root / "a/b").read_text() == "file"


@pytest.mark.process
def test_one_of_many_calls_at_once_wins(root: Path) -> None:
    letters = "abcdefgh"
    answers = together(root, [("", "new/note.md", 100_000, letter) for letter in letters])
    assert sorted(answers) == ["NOTE_EXISTS"] * 7 + ["new/note.md"]
    winner = letters[answers.index("new/note.md")]
    assert (root / "new/note.md").read_text() == winner * 100_000
    assert everything(root) == ["new", "new/note.md"]


@pytest.mark.process
def test_a_note_that_does_not_fit_on_the_disk_leaves_nothing_of_it_behind(root: Path) -> None:
    assert together(root, [(LIMITED, "new/sub/note.md", 50_000, "x")]) == ["WRITE_FAILED"]
    assert everything(root) == ["new", "new/sub"]


@pytest.mark.parametrize("target", ["../outside", "..", "/", "../outside/new", "/etc/passwd"])
def test_a_link_out_of_the_notebook_is_not_followed(root: Path, outside: Path, target: str) -> None:
    (root / "a").mkdir()
    (root / "a/link").symlink_to(target if target.startswith("/") else f"../{target}")
    assert refused(root, "a/link/note.md") == "PATH_TRAVERSAL"
    assert refused(root, "a/link/sub/note.md") == "PATH_TRAVERSAL"
    assert everything(outside) == []


def test_a_chain_of_links_that_ends_outside_is_not_followed(root: Path, outside: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("c/d")
    (root / "c").mkdir()
    (root / "c/d").symlink_to(outside)
    assert refused(root, "a/note.md") == "PATH_TRAVERSAL"
    assert everything(outside) == []


def test_a_link_to_a_folder_whose_name_begins_like_the_roots_leads_out(root: Path) -> None:
    sibling = root.with_name(root.name + "-other")
    sibling.mkdir()
    (root / "link").symlink_to(sibling)
    assert refused(root, "link/note.md") == "PATH_TRAVERSAL"
    assert everything(sibling) == []


def test_a_link_inside_of_the_notebook_is_followed(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "c").mkdir()
    (root / "c/link").symlink_to("../a/b")
    (root / "absolute").symlink_to(root / "c")
    assert place(str(root), ["absolute", "link", "new"], "note.md", b"x") == "a/b/new/note.md"
    (root / "home").symlink_to(".")
    assert place(str(root), ["home"], "top.md", b"x") == "top.md"


def test_links_in_a_circle_come_to_an_end(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert refused(root, "a/note.md") == "PATH_TRAVERSAL"
    assert everything(root) == ["a", "b"]


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    link = root.with_name("link")
    link.symlink_to(root)
    assert place(str(link), ["a"], "b.md", b"x") == "a/b.md"
    assert everything(root) == ["a", "a/b.md"]


@pytest.mark.slow
@pytest.mark.process
def test_a_folder_that_becomes_a_link_meanwhile_leads_nobody_out(root: Path, outside: Path) -> None:
    swap = """
import os, shutil, sys
folder, aside, outside = sys.argv[1:]
print(flush=True)
def insist(change, source, target):
    while True:
        try:
            return change(source, target)
        except OSError:  # a call has made the folder meanwhile
            shutil.rmtree(target, ignore_errors=True)
while os.path.exists(outside + "/../go-on"):
    insist(os.rename, folder, aside); insist(os.symlink, outside, folder)
    os.unlink(folder); insist(os.rename, aside, folder)
"""
    (root / "a").mkdir()
    (root.parent / "go-on").touch()
    swapping = [sys.executable, "-c", swap, root / "a", root / "aside", outside]
    with subprocess.Popen(swapping, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout
        swapper.stdout.readline()
        codes = set()
        for number in range(1500):
            try:
                place(str(root), ["a", "b"], f"{number}.md", b"x")
            except ToolError as error:
                codes.add(error.code)
            except OSError as error:
                codes.add(repr(error))
        (root.parent / "go-on").unlink()
    assert everything(outside) == []
    assert codes <= {"PATH_TRAVERSAL", "WRITE_FAILED"}


@pytest.mark.parametrize("name", [".git", ".GIT", ".jot", ".g\u200dit", ".opennotes.json", ".jot.json"])
def test_nothing_is_written_into_what_git_and_the_cli_keep_for_themselves(root: Path, name: str) -> None:
    assert refused(root, f"{name}/note.md") == "PATH_TRAVERSAL"
    assert refused(root, f"a/{name}/hooks/note.md") == "PATH_TRAVERSAL"
    assert everything(root) == []


def test_a_link_is_no_way_into_them(root: Path) -> None:
    (root / ".git/hooks").mkdir(parents=True)
    (root / "docs").symlink_to(".git/hooks")
    assert refused(root, "docs/note.md") == "PATH_TRAVERSAL"
    assert everything(root / ".git") == ["hooks"]


def test_another_hidden_folder_is_a_folder(root: Path) -> None:
    assert place(str(root), [".archive"], "a.md", b"x") == ".archive/a.md"


def test_a_path_that_is_too_long_to_be_opened_is_refused(root: Path) -> None:
    assert refused(root, "/".join(["x" * 250] * 20) + "/a.md") == "WRITE_FAILED"
    assert everything(root) == []


@pytest.mark.parametrize("path", ["x" * 300, "x" * 300 + "/a.md"])
def test_a_name_that_is_too_long_for_the_file_system_is_refused(root: Path, path: str) -> None:
    assert refused(root, path) == "WRITE_FAILED"
    assert everything(root) == []


def test_no_descriptor_stays_open(root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside)
    before = len(os.listdir("/dev/fd"))
    place(str(root), ["a", "b"], "c.md", b"x")
    refused(root, "a/b/c.md")
    refused(root, "link/c.md")
    refused(root, "a/b/c.md/d.md")
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.process
def test_a_call_that_dies_while_it_writes_leaves_no_half_note(root: Path) -> None:
    dying = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n" + LIMITED
    command = [sys.executable, "-c", dying + PLACE, root, "note.md", "50000", "x"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == -signal.SIGXFSZ
    assert list(root.glob("**/*.md")) == []


LINKLESS = """
import errno, os
def refuse(*_, **__):
    raise OSError(errno.EPERM, "Operation not permitted")
os.link = refuse
"""


@pytest.mark.process
def test_a_file_system_without_second_names_takes_notes_too(root: Path) -> None:
    calls = [(LINKLESS, "new/note.md", 1000, letter) for letter in "ab"]
    assert sorted(together(root, calls)) == ["NOTE_EXISTS", "new/note.md"]
    assert everything(root) == ["new", "new/note.md"]
