"""The tutorials, typed as they stand: in an empty folder, a fresh virtual environment, with the wheel of the host."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.index, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?:([^\n]*)\n\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT_FOR_SERVICE = "until (echo > /dev/tcp/127.0.0.1/{port}) 2>&-; do sleep 0.05; done"
PORT = "8123"  # of the service on the page, which gets a free one here
REMOTE = "git@github.com:ann/ferrule-tides.git"
ANSWERS = {"ferrule credentials set tides": "key-of-ann-1234"}  # what the user types when asked
# What the pages say of these commands is that they fail.
REFUSED = {
    "ferrule run weather city=Olso",
    "ferrule run tides harbour=Bergen",
    "ferrule run tides harbour=Atlantis",
}


def steps(page: Path, blocks: Path) -> Iterator[str]:
    """The lines of a shell's script that does what a page says. Files are put into the folder `blocks` first."""
    for number, (before, language, text) in enumerate(BLOCK.findall(page.read_text())):
        if language in ("sh", "console"):
            yield from map(step, commands(language, text))
        elif language != "text":
            named = re.search(r"`([\w./-]+)`:$", before)
            assert named, f"{page.name} does not say which file this is:\n{text}"
            (blocks / str(number)).write_text(text)
            yield f"mkdir -p {Path(named[1]).parent} && cp {blocks / str(number)} {named[1]}"


def commands(language: str, text: str) -> list[str]:
    lines = text.replace("\\\n", " ").splitlines()
    return lines if language == "sh" else [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def step(command: str) -> str:
    if command.endswith("&"):
        return f"{command}\n{WAIT_FOR_SERVICE.format(port=PORT)}"
    if command in REFUSED:
        return f'if {command}; then echo "This should fail: {command}"; exit 9; fi'
    if command in ANSWERS:
        return f"{command} <<< {ANSWERS[command]}"
    return command


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of the host."""
    folder = tmp_path_factory.mktemp("links")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT / "host"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def environ(links: Path, tmp_path: Path) -> dict[str, str]:
    """The variables of a user who has Python and git, and an index that has ferrule."""
    unwanted = ("PYTHON", "FERRULE", "VIRTUAL", "CI", "MYPY", "RUFF", "PYTEST")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    (tmp_path / "home").mkdir()
    return {
        **kept,
        "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        "PIP_FIND_LINKS": f"{kept.get('PIP_FIND_LINKS', '')} {links}".strip(),
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        **{f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


@pytest.mark.parametrize("name", ["first-tool.md", "published-tool.md"])
def test_a_tutorial_leads_where_it_says(name: str, environ: dict[str, str], tmp_path: Path) -> None:
    page, port = ROOT / "docs" / "tutorial" / name, free_port()
    blocks, folder, remote = (tmp_path / one for one in ("blocks", "empty", "remote.git"))
    blocks.mkdir()
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True, env=environ)
    script = "\n".join(["set -e -o pipefail", "trap 'kill $(jobs -p) 2>&- || true' EXIT", *steps(page, blocks)])
    for file in blocks.iterdir():
        file.write_text(file.read_text().replace(PORT, port))
    script = script.replace(PORT, port).replace(shlex.quote(REMOTE), str(remote)).replace(REMOTE, str(remote))
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    for _, language, text in BLOCK.findall(page.read_text()):
        if language == "text" and text.startswith("{"):
            assert text in done.stdout, "the page shows another answer"
