"""README, the first tutorial and the how-to guides, typed as they stand by a user of an installation.

The other two tutorials write packages; tests/test_tutorials.py types them. What is asked of the internet goes to a
server on loopback, and what is asked of a model to one that stands for it.
"""

from __future__ import annotations

import re
import shlex
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ferrule.testing import Server
from ferrule_testkit import PROJECT
from ferrule_testkit.installation import web
from ferrule_testkit.installation.environment import PIPX, VENV, Installation, Recipe, bare
from ferrule_testkit.installation.offer import NEW_TOOL, Offer, projects
from ferrule_testkit.model.server import MODEL_KEY, ModelServer
from ferrule_testkit.model.token_bucket import echo

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.installed, pytest.mark.index, pytest.mark.timeout(900)]

DOCS = PROJECT / "docs"
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BEGINNERS = [PROJECT / "README.md", DOCS / "tutorial" / "first-call.md"]  # who install ferrule themselves
GUIDES = [page for page in sorted(DOCS.glob("how-to/*.md")) if BLOCK.search(page.read_text())]
ELSEWHERE = "https://example.com/"
PORT = "8700"  # of the service on the pages, which gets a free one here
PLUGINS = (*(name for name in projects() if name != "ferrule"), f"ferrule-{NEW_TOOL}")
KEY = "key-of-the-user-0123456789"

# Lines that are not typed, each with the reason: by what they begin with.
NOT_TYPED = {
    "make ": "needs a clone, in which this is the run",
    "claude ": "a client's program; tests/test_pages.py knows the commands",
    "codex ": "a client's program; tests/test_pages.py knows the commands",
    "npx ": "a client's program; tests/test_serve_inspector.py runs it",
    "docker ": "needs an engine for containers; tests/test_deploy.py reads the files",
    "openssl rand -hex 32 > deploy/": "writes into a clone",
    "python3 -m venv /opt/": "changes the machine",
    "install -m 600": "changes the machine",
    "cp deploy/": "changes the machine",
    "ferrule serve --http 10.0.0.1:": "another machine; tests/test_serve_replicas.py has replicas",
    "kill -HUP": "finds servers of other users; tests/test_served_again.py sends the signal",
    "ferrule install 'ferrule-serve[traces]'": "brings an extra, and an installation of users has none",
    "ferrule install ./dist/": "in the package of the page; tests/test_install_reads.py installs such wheels",
    "ferrule install --editable": "as the line before",
    "ferrule install ferrule-tides": "nobody has published it; tests/test_install_reads.py has it refused",
    "ferrule install --trust": "as the line before; it is trusted there, too",
    "ferrule check line_count": "the page has the tool installed; host/tests/test_programs_of_tools.py has one like it",
    "ferrule log --follow": "runs until Ctrl-C; the tests of the journal run it",
    "ferrule validate web_search_lighthouse": "the page has the package installed; tests/test_contributing.py does",
    "ferrule run web_search query=light provider=lighthouse": "as the line before",
    "ferrule schema --write": "in the package of the page, which tests/test_tutorials.py has",
    "pytest": "needs the tests of a package; tests/test_documentation.py runs those of the page",
}
# Lines that fail, as the page says, or as they do for the tool of this user: with their exit code.
FAILS = {"ferrule run web_fetch url=example.com": 1, "ferrule cache why web_fetch": 1}
ANSWERED = re.compile(r"ferrule credentials set ")  # asks for a value at the terminal
SERVES = re.compile(r"ferrule serve\b.*--http (\S+)")


class Line(NamedTuple):
    """A line of a page that a user types. code: with which it ends."""

    text: str
    code: int


def lines(page: Path) -> list[Line]:
    """What a user types of a page, in its order."""
    typed = []
    for language, block in BLOCK.findall(page.read_text()):
        for text in block.replace("\\\n", " ").splitlines():
            command = text.removeprefix("$ ") if language == "console" else text
            if (language == "sh" or text.startswith("$ ")) and command.strip() and not _reason(command):
                code = next((code for start, code in FAILS.items() if command.startswith(start)), 0)
                typed.append(Line(command, code))
    return typed


def _reason(command: str) -> str:
    return next((why for start, why in NOT_TYPED.items() if command.startswith(start)), "")


def script(typed: list[Line], page: str, port: str) -> str:
    """The lines as a script that ends with 9 at the first that ends with another code than it should."""
    parts = ["declare -i code"]
    for text, code in typed:
        line = text.replace(ELSEWHERE, page).replace(f":{PORT}", f":{port}")
        parts.append(f"echo @@ {shlex.quote(line)} | tee /dev/stderr")
        parts.append(_step(line))
        parts.append(f"code=$?; if [ $code != {code} ]; then echo @@ ended with $code; exit 9; fi")
    return "\n".join(parts)


def _step(line: str) -> str:
    if (served := SERVES.search(line)) is not None:
        port = served[1].rpartition(":")[2]
        until = f"until (echo > /dev/tcp/127.0.0.1/{port}) 2>&-; do kill -0 $! || break; sleep 0.05; done"
        return f"{line} & {until}; kill $!; wait $!"
    return f"{line} <<< {KEY}" if ANSWERED.match(line) else f"{line} < /dev/null" if "|" not in line else line


@pytest.fixture
def surroundings() -> Iterator[tuple[dict[str, str], str]]:
    """The variables of a user whose web and model are on loopback, and the address of a page."""
    with Server() as server, ModelServer(echo) as model:
        variables = web.put_up(server)
        variables |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": MODEL_KEY}
        yield variables, f"{server.url}/tea"


def type_all(page: Path, user: Installation, surroundings: tuple[dict[str, str], str]) -> None:
    variables, address = surroundings
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    done = user.run("bash", "-c", script(lines(page), address, port), environ=variables)
    shown = f"{done.out[-4000:]}\n{done.err[-4000:]}"
    assert done.code == 0, shown
    assert "Traceback" not in done.out + done.err, shown


@pytest.mark.parametrize("page", BEGINNERS, ids=lambda page: page.stem)
def test_a_beginner_comes_to_the_end_of_the_page(
    page: Path, offer: Offer, tmp_path: Path, own_python: str, surroundings: tuple[dict[str, str], str]
) -> None:
    type_all(page, bare(Recipe(PIPX, own_python, ()), tmp_path / "user", offer), surroundings)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_does_what_it_says(
    page: Path,
    own_python: str,
    make_user: Callable[[Recipe], Installation],
    surroundings: tuple[dict[str, str], str],
) -> None:
    installs = "pip install" in page.read_text()
    user = make_user(Recipe(VENV, own_python, PLUGINS, page.stem if installs else "pages"))
    prepare(user)
    type_all(page, user, surroundings)


def prepare(user: Installation) -> None:
    """The files that guides speak of: the executable of a tool, and what is asked about."""
    (user.work / "notes.txt").write_text("Tea is hot.\n")
    (user.work / "cities.csv").write_text("city\nOslo\n")
    (user.work / "examples.json").write_text('[{"city": "Oslo"}]\n')
    (user.work / "tests" / "home").mkdir(parents=True)
    linked = user.ferrule("link", NEW_TOOL, "--to", user.work)
    assert linked.code == 0, linked.out + linked.err


def test_every_reason_is_that_of_a_line() -> None:
    """A line that a page has no more is taken out of the tables."""
    typed = [
        text.removeprefix("$ ")
        for page in (*BEGINNERS, *GUIDES)
        for _, block in BLOCK.findall(page.read_text())
        for text in block.splitlines()
    ]
    for start in (*NOT_TYPED, *FAILS):
        assert any(text.startswith(start) for text in typed), start
