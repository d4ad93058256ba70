"""Every tool that the project ships, as the agent meets it: linked, discovered and called by the client."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule import discovery
from ferrule.plugin.declaration import read_declaration
from ferrule.plugin.loader import load
from ferrule_dev.testing import Server, refused_port
from ferrule_testkit import ikigai

pytestmark = pytest.mark.process


ROOT = Path(__file__).resolve().parents[2]
FERRULE = [sys.executable, "-m", "ferrule"]
SHIPPED = {
    name: project
    for project in sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
    for name in (
        tomllib.loads((project / "pyproject.toml").read_text())["project"]
        .get("entry-points", {})
        .get("ferrule.tools", ())
    )
}


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of its own, no keys, and leave to fetch from the servers of the tests."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("FERRULE_STATE", str(home / "state"))
        patch.setenv("FERRULE_FETCH_ALLOW", "loopback")
        for name in ("XDG_CONFIG_HOME", "IKIGAI_CONFIG_DIR", "BRAVE_API_KEY", "GOOGLE_SEARCH_API_KEY"):
            patch.delenv(name, raising=False)
        yield home


@pytest.fixture(scope="module")
def tools(home: Path) -> dict[str, ikigai.Tool]:
    """What the client finds after `ferrule link`, which no test changes."""
    subprocess.run([*FERRULE, "link", *SHIPPED], check=True, capture_output=True)
    return ikigai.discover([str(home / ".ikigai" / "tools")])


def test_the_client_discovers_every_shipped_tool(tools: dict[str, ikigai.Tool]) -> None:
    assert sorted(tools) == sorted(SHIPPED)
    for name, tool in tools.items():
        assert tool.schema["name"] == name
        assert set(tool.schema) == {"name", "description", "parameters"}


@pytest.mark.slow
def test_the_client_gets_an_explained_failure_from_every_tool_for_arguments_that_do_not_fit(
    tools: dict[str, ikigai.Tool],
) -> None:
    for name, tool in tools.items():
        answer = ikigai.call(tool, {"no_such_argument": 1})
        assert answer["tool_success"] is True, name
        failure = answer["result"]
        family = ("error", "code", "message") if name.startswith("opennotes_") else ("success", "error_code", "error")
        failed, code, text = (failure[field] for field in family)
        assert failed is (family[0] == "error")
        assert code == "INVALID_INPUT"
        assert "no_such_argument: there is no such argument" in text


def test_a_page_reaches_the_client_as_markdown(tools: dict[str, ikigai.Tool]) -> None:
    with Server() as server:
        there = server.page("/there", "<title>Tea</title><h1>Tea</h1><p>A <b>strong</b> brew.</p>")
        here = server.redirect("/here", "/there")
        answer = ikigai.call(tools["web_fetch"], {"url": here, "offset": 0, "limit": None})
    assert answer == {
        "tool_success": True,
        "result": {"success": True, "url": there, "title": "Tea", "content": "# Tea\n\nA **strong** brew."},
    }


@pytest.mark.slow
def test_a_page_longer_than_the_client_reads_comes_whole_in_several_calls(tools: dict[str, ikigai.Tool]) -> None:
    written = [f"Line {number} über alles." for number in range(6000)]
    read: list[str] = []
    offset = 1
    with Server() as server:
        url = server.page("/long", "".join(f"<p>{line}</p>" for line in written))
        while offset:
            result = ikigai.call(tools["web_fetch"], {"url": url, "offset": offset})["result"]
            read += result["content"].split("\n")
            offset = result.get("next_offset", 0)
    assert [line for line in read if line] == written


FAILURES = {
    "{server}/missing": ("HTTP_ERROR", "HTTP 404: Not Found"),
    "{server}/picture": ("PARSE_ERROR", "Failed to parse HTML: "),
    "ftp://127.0.0.1/": ("INVALID_URL", "Invalid URL: "),
    "http://127.0.0.1:{refused}/": ("NETWORK_ERROR", "Failed to fetch URL: Connection refused"),
}


@pytest.mark.parametrize("path", FAILURES)
def test_each_failure_of_a_fetch_reaches_the_client(tools: dict[str, ikigai.Tool], path: str) -> None:
    code, text = FAILURES[path]
    with Server() as server:
        server.page("/missing", "gone", status=404)
        server.page("/picture", b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png")
        url = path.format(server=server.url, refused=refused_port())
        answer = ikigai.call(tools["web_fetch"], {"url": url})
    assert answer["tool_success"] is True
    assert answer["result"]["error_code"] == code
    assert answer["result"]["error"].startswith(text)


@pytest.mark.slow
def test_the_demonstration_shows_the_main_job() -> None:
    shown = subprocess.run([sys.executable, ROOT / "demo" / "demo.py"], capture_output=True, text=True, check=True)
    assert "│ # What a ferrule is" in shown.stdout
    assert "never seen" not in shown.stdout
    assert "INVALID_INPUT" in shown.stdout


def test_the_list_says_of_a_tool_what_its_first_paragraph_begins_with() -> None:
    program = Path(sys.executable).parent / "ferrule"
    done = subprocess.run([program, "list"], capture_output=True, text=True, check=True)
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert rows["opennotes_search"].endswith("Search notes in an OpenNotes notebook using multiple methods:")


def test_credentials_in_tool_json_are_those_of_the_hook() -> None:
    for name, (tool,) in discovery.scan().items():
        declared = read_declaration(tool.value).credentials
        if declared is not None or name.startswith("web_search_"):
            assert [one.as_dict() for one in declared or ()] == [one.as_dict() for one in load(tool).credentials()], (
                name
            )
