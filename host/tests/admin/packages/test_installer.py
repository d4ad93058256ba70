"""The commands by which packages come into the environment of ferrule, one for each program that may have made it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule.admin.packages.installer import PIP, PIPX, UV, UV_TOOL, Changes, Installer, find_installer
from ferrule.errors import FerruleError

RECEIPT = """
[tool]
requirements = [
    { name = "Ferrule", extras = ["http", "redis"], specifier = ">=0.1" },
    { name = "ferrule-fetch" },
    { name = "ferrule-weather", editable = "/projects/weather" },
    { name = "ferrule-own", directory = "/projects/own" },
    { name = "ferrule-git", git = "https://example.org/git?rev=1" },
    { name = "old", specifier = "<3", marker = "python_version < '3.12'" },
]
python = "3.12"

[tool.options]
find-links = ["file:///wheels"]
prerelease = "allow"
no-index = true
index = [{ url = "https://example.org/simple", default = true }]
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A folder in which pipx and uv can be found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("uv", "pipx"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


def uv_tool(tmp_path: Path, receipt: str = RECEIPT) -> Installer:
    prefix = tmp_path / "tools" / "ferrule"
    prefix.mkdir(parents=True)
    (prefix / "uv-receipt.toml").write_text(receipt)
    return Installer(UV_TOOL, ("uv",), str(prefix))


def test_an_environment_is_changed_by_the_program_that_made_it(tmp_path: Path, path: str) -> None:
    (tmp_path / "pipx_metadata.json").write_text("{}")
    assert find_installer(str(tmp_path), {"PATH": path}).kind == PIPX
    (tmp_path / "pipx_metadata.json").rename(tmp_path / "uv-receipt.toml")
    found = find_installer(str(tmp_path), {"PATH": path})
    assert (found.kind, found.program) == (UV_TOOL, (f"{path}/uv",))
    (tmp_path / "uv-receipt.toml").unlink()
    assert find_installer(str(tmp_path), {"PATH": path}).kind in (PIP, UV)


def test_a_program_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "pipx_metadata.json").write_text("{}")
    with pytest.raises(FerruleError, match="pipx is not on PATH"):
        find_installer(str(tmp_path), {"PATH": "/nonexistent"})


def test_pip_and_uv_take_names_folders_and_options() -> None:
    changes = Changes(("ferrule-a>1",), ("./b",), is_upgrade=True, options=("--pre",))
    pip = Installer(PIP, ("python", "-m", "pip"), "/env")
    uv = Installer(UV, ("uv", "pip"), "/env")
    said = ["--upgrade", "--pre", "--editable", "./b", "ferrule-a>1"]
    assert pip.install(changes) == ["python", "-m", "pip", "install", *said]
    assert uv.install(changes) == ["uv", "pip", "install", "--python", sys.executable, *said]
    assert pip.uninstall(["a"]) == ["python", "-m", "pip", "uninstall", "--yes", "a"]
    assert uv.uninstall(["a"], ["-q"]) == ["uv", "pip", "uninstall", "--python", sys.executable, "-q", "a"]


def test_pipx_is_told_the_environment_by_its_name() -> None:
    pipx = Installer(PIPX, ("pipx",), "/data/pipx/venvs/ferrule")
    assert pipx.environ()["PIPX_HOME"] == "/data/pipx"
    assert pipx.install(Changes(("a",))) == ["pipx", "inject", "ferrule", "a"]
    assert pipx.install(Changes(("a",), is_upgrade=True, options=("--find-links", "w x"))) == [
        "pipx", "inject", "--force", "--pip-args=--upgrade --find-links 'w x'", "ferrule", "a",
    ]  # fmt: skip
    assert pipx.install(Changes((), ("./b",))) == ["pipx", "inject", "--editable", "ferrule", "./b"]
    assert pipx.uninstall(["a"]) == ["pipx", "uninject", "ferrule", "a"]


def test_pipx_does_not_mix_what_is_editable_and_what_is_not() -> None:
    with pytest.raises(FerruleError, match="one after the other"):
        Installer(PIPX, ("pipx",), "/data/pipx/venvs/ferrule").install(Changes(("a",), ("./b",)))


def test_uv_tool_keeps_all_that_its_receipt_names(tmp_path: Path) -> None:
    found = uv_tool(tmp_path)
    assert found.environ()["UV_TOOL_DIR"] == str(tmp_path / "tools")
    kept = [
        "uv", "tool", "install", "--force", "--python", "3.12",
        "--find-links", "file:///wheels", "--prerelease", "allow", "--no-index",
        "--default-index", "https://example.org/simple", "Ferrule[http,redis]>=0.1",
        "--with", "ferrule-fetch", "--with-editable", "/projects/weather", "--with", "ferrule-own @ file:///projects/own",
        "--with", "ferrule-git @ git+https://example.org/git?rev=1",
        "--with", "old<3 ; python_version < '3.12'",
    ]  # fmt: skip
    assert found.install(Changes(("new",), ("./edited",))) == [*kept, "--with", "new", "--with-editable", "./edited"]
    assert found.uninstall(["ferrule_fetch"]) == [part for at, part in enumerate(kept) if at not in (14, 15)]


@pytest.mark.parametrize(
    "receipt", ["no toml [", "[other]", '[tool]\nrequirements = [{ name = "ferrule", novelty = "x" }]']
)
def test_a_receipt_of_another_form_is_left_to_the_user(tmp_path: Path, receipt: str) -> None:
    with pytest.raises(FerruleError) as caught:
        uv_tool(tmp_path, receipt).install(Changes(("new",)))
    assert caught.value.hint == "Use `uv tool install --with` yourself."


@pytest.mark.slow
@pytest.mark.process
def test_where_stderr_is_closed_the_document_is_alone_on_stdout() -> None:
    ferrule = str(Path(sys.executable).parent / "ferrule")
    command = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", ferrule, "uninstall", "--json", "ferrule-absent"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit_code"], document["removed"]) == (0, 0, [])
