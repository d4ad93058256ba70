"""Which program starts links: one that a distribution names, that runs here, and that fits into a first line."""

import sys
from pathlib import Path

import pytest

from ferrule.links import launchers

pytestmark = pytest.mark.process

GOOD = "#!/bin/sh\necho any-launcher 1\n"


def install(folder: Path, program: Path, text: str = GOOD, name: str = "any-launcher") -> None:
    """Install a distribution that names a program, which is a script here."""
    metadata = folder / "any_launcher-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text(f"[ferrule.launchers]\n{name} = any_launcher\n")
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(text)
    program.chmod(0o755)


def find(monkeypatch: pytest.MonkeyPatch, site: Path, scripts: Path) -> str:
    """What is found where the interpreter is among these scripts."""
    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.setattr(launchers, "interpreter", lambda: str(scripts / "python"))
    return launchers.find_launcher.__wrapped__()


def test_the_program_that_a_distribution_names_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin/any-launcher"
    install(tmp_path / "site", program)
    assert find(monkeypatch, tmp_path / "site", program.parent) == str(program)


@pytest.mark.parametrize(
    "text",
    ["#!/bin/sh\necho any-launcher 2\n", "#!/bin/sh\nexit 3\n", "#!/bin/sh\n", "#!/nowhere/at/all\n", "\x7fELF"],
    ids=["other-form", "fails", "silent", "no-interpreter", "other-machine"],
)
def test_a_program_that_does_not_do_it_here_is_left_out(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", tmp_path / "bin/any-launcher", text)
    assert find(monkeypatch, tmp_path / "site", tmp_path / "bin") == ""


@pytest.mark.parametrize("folder", ["a b", "a\nb", "x" * 120], ids=["blank", "line", "long"])
def test_a_path_that_no_first_line_can_name_is_left_out(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", tmp_path / folder / "any-launcher")
    assert find(monkeypatch, tmp_path / "site", tmp_path / folder) == ""


def test_a_name_that_is_a_path_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", tmp_path / "any-launcher", name="../any-launcher")
    assert find(monkeypatch, tmp_path / "site", tmp_path / "bin") == ""
