"""A call of each tool where a user is: by a linked executable, by `ferrule run`, and by `ferrule serve` over both ways.

Providers of search and the page that is read are a server on loopback; the notebooks are those of a real CLI.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit import PROJECT
from ferrule_testkit.installation import web
from ferrule_testkit.installation.environment import PIPX, SECONDS, Installation
from ferrule_testkit.programs.opennotes import require_built
from ferrule_testkit.serve.service import LEGACY, connected

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

pytestmark = [pytest.mark.installed, pytest.mark.index, pytest.mark.timeout(900)]

CLI = "jot"
RESOURCE = "artifact:absent"  # which artifact_read does not have
SEARCHES = ("web_search", "search_and_scrape", "news_search", "image_search", "patent_search")
# Notes are made before they are read.
FIRST = ("opennotes_create",)


class Scene:
    """A user with all keys, a web, and a notebook. tools: those that are installed, in an order that they work in."""

    def __init__(self, user: Installation, server: Server) -> None:
        self.user, self.server = user, server
        self._titles = (f"Tea {number}" if number else "Tea" for number in itertools.count())
        user.environ.update(web.put_up(server))
        self.tools = sorted(user.tools(), key=lambda name: (name not in FIRST, name))
        if any(name.startswith("opennotes") for name in self.tools):
            self._take_notes()

    def _take_notes(self) -> None:
        require_built(CLI)
        programs = self.user.home / "programs"
        programs.mkdir()
        (programs / CLI).symlink_to(PROJECT / ".tools" / "bin" / CLI)
        self.user.environ["PATH"] = f"{programs}:{self.user.environ['PATH']}"
        notebook = self.user.home / "notes"
        notebook.mkdir()
        made = self.user.run(CLI, "notebook", "create", notebook, "--name", "notes")
        assert made.code == 0, made.err
        self.user.environ["JOT_NOTEBOOK"] = str(notebook)

    def fails(self, tool: str) -> bool:
        """Whether the tool has to fail: there is no artifact and no session, and a search wants a provider, too."""
        is_search = tool in SEARCHES
        named = ("artifact_read", "get_research_session", "research_export")
        return tool in named or (is_search and "web_search_brave" not in self.tools)

    def arguments(self, tool: str) -> dict[str, Any]:
        """Arguments with which the tool answers."""
        if tool == "artifact_read":
            return {"resource": RESOURCE}
        if tool == "opennotes_create":
            return {"title": next(self._titles), "content": "Hot."}
        return web.arguments(tool, self.server)


@pytest.fixture
def server() -> Iterator[Server]:
    """The web."""
    with Server() as one:
        yield one


def right(scene: Scene, tool: str, result: Mapping[str, Any], shown: str) -> None:
    """The answer that the tool gives to the arguments of the scene."""
    assert "Traceback" not in shown, shown
    if scene.fails(tool):
        assert (result["success"], result["error_code"] == "INTERNAL_ERROR") == (False, False), shown
        return
    assert result.get("success", True) is True, shown
    assert not result.get("error"), shown
    assert web.expected(tool) in json.dumps(result), shown


def call_by_link_and_run(scene: Scene, by_run: Sequence[str]) -> None:
    """Link all tools and call each; ask those of `by_run` for their schema, and call them by `ferrule run`, too.

    Each prints the same kind of answer. Both programs import the same of a tool, so a second call by another one finds
    nothing that is missing: what it shows is that the other program is whole.
    """
    linked = scene.user.ferrule("link", *scene.tools)
    assert linked.code == 0, linked.out + linked.err
    for tool in scene.tools:
        program = scene.user.home / ".ikigai" / "tools" / f"{tool.replace('_', '-')}-tool"
        answers = [scene.user.run(program, stdin=json.dumps(scene.arguments(tool)))]
        if tool in by_run:
            schema = scene.user.run(program, "--schema")
            assert (schema.code, schema.document["name"]) == (0, tool), schema.err
            answers.append(scene.user.ferrule("run", tool, json.dumps(scene.arguments(tool))))
        for done in answers:
            right(scene, tool, done.document, f"{tool}: {done}")
            assert done.code == scene.fails(tool), done


def test_each_tool_of_a_plugin_alone_answers_by_link_and_the_first_by_run(alone: Installation, server: Server) -> None:
    scene = Scene(alone, server)
    call_by_link_and_run(scene, scene.tools[:1])


def test_each_tool_answers_by_link_and_in_one_installation_by_run(together: Installation, server: Server) -> None:
    scene = Scene(together, server)
    call_by_link_and_run(scene, scene.tools if together.recipe.installer == PIPX else scene.tools[:1])


def test_each_tool_answers_by_serve_over_stdio(over_stdio: Installation, server: Server) -> None:
    from mcp.client.stdio import StdioServerParameters

    scene = Scene(over_stdio, server)
    program = str(scene.user.resolve(["ferrule"])[0])
    served = StdioServerParameters(
        command=program, args=["serve", "--artifacts"], env=scene.user.environ, cwd=str(scene.user.work)
    )
    asyncio.run(call_by_serve(scene, served))


def test_each_tool_answers_by_serve_over_http(over_http: Installation, server: Server) -> None:
    scene = Scene(over_http, server)
    with served_over_http(scene.user) as url:
        asyncio.run(call_by_serve(scene, url))


async def call_by_serve(scene: Scene, served: str | StdioServerParameters) -> None:
    """Call each tool that is served as a client does."""
    async with connected(served, LEGACY) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed == set(scene.tools)
        for tool in scene.tools:
            await call(client, scene, tool)


async def call(client: Client, scene: Scene, tool: str) -> None:
    answer = await asyncio.wait_for(client.call_tool(tool, scene.arguments(tool)), SECONDS)
    text = "".join(getattr(item, "text", "") for item in answer.content)
    assert answer.is_error == scene.fails(tool), text
    if not answer.is_error:
        right(scene, tool, answer.structured_content or json.loads(text), text)
    assert "Traceback" not in text, text


@contextmanager
def served_over_http(user: Installation) -> Iterator[str]:
    """`ferrule serve` on a free port: its URL. It is ended in order."""
    program = user.resolve(["ferrule", "serve", "--artifacts", "--http", "127.0.0.1:0"])
    errors = user.home / "serve.err"
    with errors.open("wb") as told:
        process = subprocess.Popen(
            [str(one) for one in program],
            env=user.environ,
            cwd=user.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
        )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url, errors.read_text()
        yield url
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0, errors.read_text()
        assert "Traceback" not in errors.read_text(), errors.read_text()
    finally:
        process.kill()
        process.communicate()
