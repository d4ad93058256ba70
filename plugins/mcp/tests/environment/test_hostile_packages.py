"""Packages whose code wants to run while they are installed, which nothing confines."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from ferrule.errors import PackageRefused
from ferrule_mcp.environment import python_environment
from ferrule_mcp.environment.installation import install
from ferrule_mcp.launch.node_runners import is_repository
from ferrule_mcp.launch.plan import NPM, PYPI, SCRIPT, Launch

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule.text.json_types import JSONObject

pytestmark = pytest.mark.process


def write_wheel(folder: Path, files: dict[str, str]) -> None:
    """A wheel of `lurk-mcp` with these files at the top of site-packages."""
    metadata = "lurk_mcp-1.0.dist-info"
    listed = {
        **files,
        f"{metadata}/METADATA": "Metadata-Version: 2.1\nName: lurk-mcp\nVersion: 1.0\n",
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{metadata}/entry_points.txt": "[console_scripts]\nlurk-mcp = lurk_mcp:main\n",
    }
    record = "".join(f"{name},,\n" for name in [*listed, f"{metadata}/RECORD"])
    with zipfile.ZipFile(folder / "lurk_mcp-1.0-py3-none-any.whl", "w") as archive:
        for name, text in {**listed, f"{metadata}/RECORD": record}.items():
            archive.writestr(name, text)


@pytest.mark.parametrize("installer", ["uv", pytest.param("pip", marks=pytest.mark.slow)])
def test_what_an_interpreter_runs_at_its_start_does_not_run(installer, tmp_path, monkeypatch):
    if installer == "pip":
        monkeypatch.setattr(python_environment, "find_uv", lambda: None)
    elif python_environment.find_uv() is None:
        pytest.skip("uv is not installed")
    wheels, proof = tmp_path / "wheels", tmp_path / "proof"
    wheels.mkdir()
    proof.mkdir()
    leave = "import pathlib; pathlib.Path({!r}).touch()\n"
    hooks = ("lurk.pth", "sitecustomize.py", "usercustomize.py", "compileall.py", "concurrent.py")
    files = {name: leave.format(str(proof / name)) for name in hooks}
    write_wheel(wheels, {"lurk_mcp.py": "def main(): print('hello')\n", **files})
    options = ("--no-index", "--find-links", str(wheels))
    environment = install(Launch(PYPI, SCRIPT, "lurk-mcp", requirements=("lurk-mcp",), options=options), tmp_path / "e")
    assert list(proof.iterdir()) == []
    assert list((tmp_path / "e").glob("lib/python*/site-packages/__pycache__/lurk_mcp.*.pyc"))  # it was compiled
    started = subprocess.run(environment.command, capture_output=True, text=True, check=False)
    assert started.stdout == "hello\n"
    assert (proof / "lurk.pth").exists()  # so it would have run


@pytest.mark.parametrize("kind", ["repository", "folder", "part"])
def test_what_a_package_wants_run_by_npm_does_not_run(kind, tmp_path):
    if shutil.which("npm") is None or shutil.which("git") is None:
        pytest.skip("npm or git is not installed")
    project, part, above, proof = (tmp_path / name for name in ("lurk", "part", "above", "proof"))
    program = project / "git.sh"
    names = ("prepare", "preinstall", "install", "postinstall", "prepack")
    scripts = {name: f"echo {name} >> {proof}" for name in names}
    write_repository(part, {"name": "part", "version": "1.0.0", "scripts": scripts}, {})
    package = {"name": "lurk", "version": "1.0.0", "bin": {"lurk": "i.js"}, "scripts": scripts}
    own = {
        "i.js": "console.log('hello')\n",
        ".npmrc": f"git={program}\nignore-scripts=false\nallow-git=all\nscript-shell={program}\n",
        "git.sh": f'#!/bin/sh\necho git >> {proof}\nexec git "$@"\n',
    }
    write_repository(project, {**package, "devDependencies": {"part": f"git+file://{part}"}}, own)
    address = f"git+file://{project}"
    write_repository(above, {**package, "name": "above", "dependencies": {"lurk": address}}, {"i.js": ""})
    requirement = {"repository": address, "folder": str(project), "part": str(above)}[kind]
    launch = Launch(NPM, SCRIPT, "", requirements=(requirement,), options=("--offline",))
    with nullcontext() if kind == "folder" else pytest.raises(PackageRefused):
        install(launch, tmp_path / "environment")
    assert not proof.exists(), proof.read_text()


@pytest.mark.slow
def test_a_repository_that_is_trusted_is_installed(tmp_path):
    if shutil.which("npm") is None or shutil.which("git") is None:
        pytest.skip("npm or git is not installed")
    package = {"name": "plain-server", "version": "1.0.0", "bin": {"plain-server": "i.js"}}
    write_repository(tmp_path / "plain", package, {"i.js": "console.log('hello')\n"})
    address = f"git+file://{tmp_path}/plain"
    launch = Launch(NPM, SCRIPT, "", requirements=(address,), options=("--offline",))
    environment = install(launch, tmp_path / "environment", ["plain"])
    assert subprocess.run(environment.command, capture_output=True, text=True, check=False).stdout == "hello\n"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("owner/name", True), ("github:owner/name#v1", True), ("git+https://git.example.com/x.git", True),
        ("https://github.com/owner/name", True), ("https://git.example.com/x.git#main", True), ("x@github:o/n", True),
        ("git@git.example.com:o/n.git", True), ("x@owner/name", True),
        ("@scope/name@1.0", False), ("name@^1", False), ("https://example.com/x.tgz", False), ("/srv/x", False),
        ("https://github.com/owner/name/archive/v1.tar.gz", False), ("x@npm:@scope/y@1", False),
    ],
)  # fmt: skip
def test_a_repository_is_known_by_how_it_is_written(spec, expected):
    assert is_repository(spec) is expected


def write_repository(folder: Path, package: JSONObject, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in {**files, "package.json": json.dumps(package)}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    author = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    for words in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
