"""README, the tutorials and the how-to guides, done as they stand by a user of an installation.

Lines are typed, files written, Python is run by the interpreter of the installation, and what is configuration is read
by what it is for. The table in ferrule_testkit/pages/table.py has what each page needs. What is asked of the internet
goes to a server on loopback, and what is asked of a model to one that stands for it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.installation import web
from ferrule_testkit.installation.environment import PIPX, VENV, Installation, Recipe, bare
from ferrule_testkit.installation.offer import NEW_TOOL, Offer, find_python, projects
from ferrule_testkit.model.server import MODEL_KEY, ModelServer
from ferrule_testkit.model.token_bucket import echo
from ferrule_testkit.pages.blocks import find_pages, read_blocks
from ferrule_testkit.pages.census import find_faults
from ferrule_testkit.pages.script import Script
from ferrule_testkit.pages.table import ALL, NOTHING, PAGES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.installed, pytest.mark.index, pytest.mark.timeout(900)]

AUTHORS = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
SECONDS = 1_800.0  # for a whole page on a busy machine; the test has a limit of its own
PLUGINS = (*(name for name in projects() if name != "ferrule"), f"ferrule-{NEW_TOOL}")


@pytest.fixture
def surroundings() -> Iterator[tuple[dict[str, str], str]]:
    """The variables of a user whose web and model are on loopback, and the address of that web."""
    with Server() as server, ModelServer(echo) as model:
        variables = web.put_up(server)
        variables |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": MODEL_KEY}
        variables |= {f"GIT_{who}": "ann@example.org" for who in AUTHORS}
        server.page("http://weather.example/oslo", "<p>Rain.</p>")
        server.document("/lighthouse", {"hits": [{"name": "Light", "link": "https://a.example/", "text": "It turns."}]})
        yield variables, server.url


@pytest.fixture
def find_reader(
    make_user: Callable[[Recipe], Installation], offer: Offer, own_python: str, tmp_path: Path
) -> Callable[[str], Installation]:
    """Find a reader of a page, who has installed what the table says."""

    def find(name: str) -> Installation:
        has = PAGES[name].has
        if has == NOTHING:
            reader = bare(Recipe(PIPX, own_python, ()), tmp_path / "user", offer)
            (tmp_path / "user" / "installers" / "python3").symlink_to(str(find_python(own_python)))
            return reader
        purpose = "" if has == ALL else name.rpartition("/")[2].removesuffix(".md")
        return make_user(Recipe(VENV, own_python, PLUGINS, purpose))

    return find


@pytest.mark.parametrize("name", find_pages())
def test_a_reader_comes_to_the_end_of_the_page(
    name: str,
    find_reader: Callable[[str], Installation],
    surroundings: tuple[dict[str, str], str],
    tmp_path: Path,
) -> None:
    assert not find_faults(name)
    reader, (variables, address) = find_reader(name), surroundings
    (folder := tmp_path / "blocks").mkdir()
    blocks = read_blocks(find_pages()[name])
    script = Script(PAGES[name], folder, {"site": address, "page": f"{address}/tea", "port": free_port()}).write(blocks)
    done = reader.run("bash", "-c", script, environ=variables, seconds=SECONDS)
    told = f"{done.out[-6000:]}\n{done.err[-6000:]}"
    assert done.code == 0, told
    assert "Traceback" not in done.out + done.err, told
    for use, block in zip(PAGES[name].uses, (one for one in blocks if not one.is_typed), strict=True):
        assert not use.is_shown or block.text in done.out, f"The page shows another answer:\n{block.text}\n{told}"


def free_port() -> str:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])
