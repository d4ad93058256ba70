"""How the wheel is made: with the program in it, for its platform, and by a machine that has a compiler."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from ferrule_testkit.launcher import LAUNCHER, load_hook


def make_hook(folder: Path) -> object:
    return load_hook().LauncherHook(str(LAUNCHER), {}, None, None, str(folder), "wheel")


@pytest.fixture
def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CC", raising=False)


@pytest.mark.usefixtures("without_compiler")
def test_a_build_without_a_compiler_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"no C compiler here \(cc, gcc or clang.*Install one, or a wheel"):
        make_hook(tmp_path).initialize("standard", {})


@pytest.mark.usefixtures("without_compiler")
def test_an_editable_installation_without_a_compiler_has_no_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data: dict[str, object] = {}
    make_hook(tmp_path).initialize("editable", data)
    assert data == {}
    assert "links are shell files" in "".join(capsys.readouterr())


def test_a_release_has_a_wheel_for_each_target() -> None:
    hook = load_hook()
    release = tomllib.loads((LAUNCHER / "pyproject.toml").read_text())["tool"]["ferrule"]["release"]
    assert [f"py3-none-{tag}" for tag in hook.TARGETS.values()] == release["wheels"]
    makefile = (LAUNCHER.parents[1] / "Makefile").read_text()
    assert f"LAUNCHER_TARGETS := {' '.join(hook.TARGETS)}\n" in makefile


@pytest.mark.slow
def test_the_wheel_has_the_program_among_its_scripts(tmp_path: Path) -> None:
    if not load_hook().find_compiler():
        pytest.skip("there is no C compiler; scripts/install-system-packages installs one")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(LAUNCHER)]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = tmp_path.iterdir()
    with zipfile.ZipFile(path) as wheel:
        (script,) = [one for one in wheel.infolist() if one.filename.endswith(".data/scripts/ferrule-launcher")]
        program = wheel.read(script)
        assert not [name for name in wheel.namelist() if name.endswith((".c", ".h"))]
    assert script.external_attr >> 16 & 0o111
    assert "-py3-none-any" not in path.name
    unpacked = tmp_path / "program"
    unpacked.write_bytes(program)
    unpacked.chmod(0o755)
    assert subprocess.check_output([unpacked, "--form"]) == b"ferrule-launcher 1\n"
