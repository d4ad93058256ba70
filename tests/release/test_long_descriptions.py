"""The metadata of each distribution: what a package index shows of it stands alone, and its links lead somewhere."""

import re
import tomllib
from contextlib import chdir
from email import message_from_string
from email.message import Message
from functools import cache
from pathlib import Path

import pytest
from build.util import project_wheel_metadata
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ferrule_testkit import PROJECT

pytestmark = pytest.mark.process

FOLDERS = [PROJECT / "host", *sorted(path.parent for path in PROJECT.glob("plugins/*/pyproject.toml"))]
ADDRESSES = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["ferrule"]["release"]


@cache
def metadata(folder: Path) -> Message:
    """What a build of the distribution says of it, by the build backend in this process."""
    from hatchling.builders.wheel import WheelBuilder

    with chdir(folder):  # as the programs that build do; the README's hook looks for the file there
        builder = WheelBuilder(str(folder))
        return message_from_string(builder.config.core_metadata_constructor(builder.metadata))


def targets(markdown: str) -> list[str]:
    """Where the links and pictures of a page lead."""

    def walk(tokens: list[Token]) -> list[str]:
        own = [str(one.attrs[key]) for one in tokens for key in ("href", "src") if key in one.attrs]
        return own + [target for one in tokens if one.children for target in walk(one.children)]

    return walk(MarkdownIt("gfm-like", {"linkify": False}).parse(markdown))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_program_that_builds_gets_this_metadata() -> None:
    """One for all: each has the same backend and the same hook for its README."""
    built, known = project_wheel_metadata(PROJECT / "host", isolated=False), metadata(PROJECT / "host")
    del built["Description"]  # which the reader of the built file adds: it is the payload
    assert sorted(built.items()) == sorted(known.items())
    assert str(built.get_payload()).strip() == str(known.get_payload()).strip()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_link_of_a_long_description_is_absolute_and_leads_to_a_file_of_its_version(folder: Path) -> None:
    page = metadata(folder)
    files = f"{ADDRESSES['repository']}/blob/v{page['Version']}/"
    found = targets(str(page.get_payload()))
    assert [target for target in found if not target.startswith(("https://", "http://"))] == []
    for target in found:
        if target.startswith(ADDRESSES["repository"]):
            path, _, anchor = target.removeprefix(files).partition("#")
            assert (PROJECT / path).is_file(), target
            assert not anchor or anchor in anchors(PROJECT / path), target


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_link_is_lost_on_the_way(folder: Path) -> None:
    written, shown = targets((folder / "README.md").read_text()), targets(str(metadata(folder).get_payload()))
    assert [target.rpartition("/")[2] for target in written if "/" in target] == [
        target.rpartition("/")[2]
        for target, before in zip(shown, written, strict=True)
        if "/" in before
    ]  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_distribution_names_where_the_project_is_at_home(folder: Path) -> None:
    links = dict(one.split(", ", 1) for one in metadata(folder).get_all("Project-URL") or ())
    assert links == {
        "Repository": ADDRESSES["repository"],
        "Documentation": ADDRESSES["documentation"],
        "Changelog": f"{ADDRESSES['repository']}/blob/main/CHANGELOG.md",
        "Issues": f"{ADDRESSES['repository']}/issues",
    }
    assert metadata(folder)["Description-Content-Type"] == "text/markdown"
