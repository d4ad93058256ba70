"""`ferrule install` and `ferrule uninstall` in environments that pip, uv, pipx and `uv tool` have made."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent

pytestmark = [pytest.mark.slow, pytest.mark.index, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT / "host", ROOT / "plugins/example", ROOT / "plugins/launcher"):
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, project]
        subprocess.run(build, check=True, capture_output=True)
    return folder


class Home:
    """A home folder of its own, in which programs find nothing that anybody has installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folders = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin"}
        own = {name: str(folder / place) for name, place in folders.items()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
        self.environ = {**kept, **own, "HOME": str(folder), "PATH": f"{BIN}:{os.environ['PATH']}"}

    def run(self, *command: str | Path) -> str:
        done = subprocess.run(list(map(str, command)), env=self.environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def with_pip(home: Home, wheels: Path) -> Path:
    home.run(sys.executable, "-m", "venv", home.folder / "env")
    home.run(home.folder / "env/bin/python", "-m", "pip", "install", "--find-links", wheels, "ferrule")
    return home.folder / "env/bin/ferrule"


def with_uv(home: Home, wheels: Path) -> Path:
    home.run("uv", "venv", "--python", sys.executable, home.folder / "env")
    python = home.folder / "env/bin/python"
    home.run("uv", "pip", "install", "--python", python, "--find-links", wheels, "ferrule")
    return home.folder / "env/bin/ferrule"


def with_pipx(home: Home, wheels: Path) -> Path:
    home.run("pipx", "install", f"--pip-args=--find-links {wheels}", "ferrule")
    return home.folder / "bin/ferrule"


def with_uv_tool(home: Home, wheels: Path) -> Path:
    home.run("uv", "tool", "install", "--python", sys.executable, "--find-links", wheels, "ferrule")
    return home.folder / "bin/ferrule"


@pytest.mark.parametrize(
    ("make", "kind"), [(with_pip, "pip"), (with_uv, "uv"), (with_pipx, "pipx"), (with_uv_tool, "uv tool")]
)
def test_a_package_comes_and_goes_in_the_environment_of_ferrule(tmp_path: Path, wheels: Path, make, kind: str) -> None:
    home = Home(tmp_path)
    ferrule = make(home, wheels)
    options = [] if kind == "uv tool" else ["--", "--find-links", str(wheels)]  # its receipt has them
    installed = json.loads(home.run(ferrule, "install", "--json", "ferrule-example", *options))
    assert installed["installer"] == kind
    assert (installed["exit_code"], installed["tools"], installed["removed"]) == (0, ["example"], [])
    assert json.loads(home.run(ferrule, "run", "example", "city=Oslo", "--json"))["success"] is True
    said = home.run(ferrule, "uninstall", "example")
    assert "1 tool gone: example" in said
    assert "ferrule unlink example" in said
    assert "example" not in home.run(ferrule, "list")


@pytest.mark.parametrize(("make", "name"), [(with_pip, "env/bin"), (with_pipx, "pipx/venvs/ferrule/bin")])
def test_a_launcher_has_to_be_trusted_and_leaves_links_that_work(tmp_path: Path, wheels: Path, make, name: str) -> None:
    home = Home(tmp_path)
    ferrule, link = make(home, wheels), tmp_path / ".ikigai/tools/example-tool"
    options = ["--", "--find-links", str(wheels)]
    home.run(ferrule, "install", "ferrule-example", *options)
    command = [ferrule, "install", "ferrule-launcher", *options]
    refused = subprocess.run(command, env=home.environ, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "starts each tool that is linked from now on, with all rights of the user" in refused.stderr
    said = home.run(ferrule, "install", "--trust", "ferrule-launcher", "ferrule-launcher", *options)
    assert "Next: ferrule link" in said
    home.run(ferrule, "link", "example")
    assert link.read_text().startswith(f"#!{tmp_path}/{name}/ferrule-launcher\n")
    schema = home.run(link, "--schema")
    assert "1 link without the launcher that is gone" in home.run(ferrule, "uninstall", "ferrule-launcher")
    assert link.read_text().startswith("#!/bin/sh\n")
    assert home.run(link, "--schema") == schema
    assert home.run(ferrule, "doctor") is not None


def test_what_cannot_be_installed_or_uninstalled_is_told(tmp_path: Path, wheels: Path) -> None:
    home = Home(tmp_path)
    ferrule = with_uv(home, wheels)
    command = [ferrule, "install", "./nothing-here"]
    done = subprocess.run(command, env=home.environ, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: There is no ./nothing-here.")
    done = subprocess.run([*command[:2], "ferrule-example", "--", "--nonsense"], env=home.environ, capture_output=True)
    assert done.returncode == 1
    assert b"--nonsense" in done.stderr
    refusals = {
        "Ferrule": "That is ferrule itself.",
        "Pluggy": "ferrule itself needs pluggy.",
        "pip": "ferrule itself needs pip.",
    }
    for name, refusal in refusals.items():
        refused = subprocess.run([ferrule, "uninstall", name], env=home.environ, capture_output=True, text=True)
        assert (refused.returncode, refused.stderr.splitlines()[0]) == (1, f"Error: {refusal}")
