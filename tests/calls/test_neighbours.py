"""Broken tools, and broken metadata, beside healthy ones: nobody notices."""

import json
import os
import sys

import pytest

from ferrule.links.launchers import find_launcher
from ferrule_testkit.corpus import Site
from ferrule_testkit.keeper import WITHOUT_LAUNCHER, KeptHome
from ferrule_testkit.runs import run

pytestmark = pytest.mark.process


FERRULE = [sys.executable, "-m", "ferrule"]
ARGUMENTS = [b'{"city": "Oslo"}', b'{"city": "4711"}', b'{"city": 4711}', b"no JSON"]
BOTH = pytest.mark.parametrize("kind", ["scripts", "links"])


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ARGUMENTS)
@BOTH
def test_broken_neighbours_change_not_one_byte_of_a_healthy_tool(
    kind: str, arguments: bytes, corpus: Site, healthy: Site, environment: dict[str, str]
) -> None:
    among, alone = (
        run([getattr(where, kind) / "example-tool"], arguments, environment=_in(where, environment))
        for where in (corpus, healthy)
    )
    assert (among.stdout, among.stderr, among.exit_code) == (alone.stdout, alone.stderr, alone.exit_code)
    assert among.document


@pytest.mark.slow
def test_broken_neighbours_change_not_one_byte_of_a_healthy_tool_that_is_kept(
    corpus: Site, healthy: Site, environment: dict[str, str]
) -> None:
    if not find_launcher():
        pytest.skip(WITHOUT_LAUNCHER)
    home = KeptHome(corpus.links / "example-tool", ARGUMENTS[0], {"PYTHONPATH": str(corpus.path)})
    try:
        home.renew()
        for number, arguments in enumerate(ARGUMENTS, 1):
            among = run([corpus.links / "example-tool"], arguments, environment=home.environment)
            alone = run([healthy.links / "example-tool"], arguments, environment=_in(healthy, environment))
            assert (among.stdout, among.stderr, among.exit_code) == (alone.stdout, alone.stderr, alone.exit_code)
            assert home.calls() == number
    finally:
        home.close()


@BOTH
def test_broken_neighbours_change_not_one_byte_of_a_healthy_schema(
    kind: str, corpus: Site, healthy: Site, environment: dict[str, str]
) -> None:
    among, alone = (
        run([getattr(where, kind) / "example-tool", "--schema"], environment=_in(where, environment))
        for where in (corpus, healthy)
    )
    assert among.stdout == alone.stdout
    assert among.document["name"] == "example"


@pytest.mark.slow
@BOTH
def test_metadata_of_any_kind_hides_no_tool(kind: str, site: Site, environment: dict[str, str]) -> None:
    site.link(["probe"], environment)
    for number, points in enumerate(
        [b"", b"\xff\xfe[ferrule.tools]\0", b"[ferrule.tools\nx=y\n", b"[ferrule.tools]\n=\n= x"]
    ):
        folder = site.path / f"odd_{number}-1.0.dist-info"
        folder.mkdir()
        (folder / "entry_points.txt").write_bytes(points)
    for name in ("folder", "nothing-1.0", "circle-1.0", "fifo-1.0", ""):
        (site.path / f"{name}.dist-info").mkdir()
    (site.path / "folder.dist-info/entry_points.txt").mkdir()
    (site.path / "circle-1.0.dist-info/entry_points.txt").symlink_to("entry_points.txt")
    os.mkfifo(site.path / "fifo-1.0.dist-info/entry_points.txt")
    (site.path / "file-1.0.dist-info").write_text("not a folder")
    (site.path / "gone-1.0.dist-info").symlink_to("nowhere")

    for words in ([], ["--schema"]):
        done = run([getattr(site, kind) / "probe-tool", *words], environment=_in(site, environment))
        assert done.exit_code == 0
        assert done.document
    listed = run([*FERRULE, "list", "--json"], environment=_in(site, environment))
    assert {"probe", "example"} <= {tool["name"] for tool in json.loads(listed.stdout)["tools"]}


def test_list_shows_all_tools_and_imports_none(corpus: Site, environment: dict[str, str]) -> None:
    done = run([*FERRULE, "list", "--json"], environment=_in(corpus, environment))

    states = {tool["name"]: tool["state"] for tool in json.loads(done.stdout)["tools"]}
    assert set(corpus.tools()) <= set(states)
    assert states["raises_on_import"] == states["example"] == "unchecked"
    assert states["schema_breaks_a_rule"] == "invalid"
    assert states["same_name"] == "clash"
    assert done.exit_code == 0


def _in(site: Site, environment: dict[str, str]) -> dict[str, str]:
    return {**environment, "PYTHONPATH": str(site.path)}
