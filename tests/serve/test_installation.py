"""pip, on the environment of a running `ferrule serve`: clients of both eras are told, and served what is there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferrule_testkit.corpus import PROBE
from ferrule_testkit.serve.service import ERAS, LEGACY, SECONDS, Heard, connected, wait_until

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment of its own, which borrows from that of the tests what it does not have."""
    folder = tmp_path_factory.mktemp("served") / "environment"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    (own,) = folder.glob("lib/python*/site-packages")
    borrowed = own.relative_to(folder)
    (own / "borrowed.pth").write_text(f"import site; site.addsitedir({str(Path(sys.prefix) / borrowed)!r})\n")
    return python


@pytest.mark.parametrize("era", ERAS)
def test_what_pip_installs_and_removes_is_served_and_told_of(era: str, python: Path, tmp_path: Path) -> None:
    from mcp.client.stdio import StdioServerParameters

    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    server = StdioServerParameters(command=str(python), args=["-P", "-m", "ferrule", "serve"], env=environment)

    def pip(*words: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done.stderr

    async def talk() -> None:
        heard = Heard()
        async with connected(server, era, heard) as client:
            assert "probe" not in await names(client)
            if era == LEGACY:
                await change("install", None, heard, client)
                await change("uninstall", None, heard, client)
                return
            async with client.listen(tools_list_changed=True) as listening:
                events = aiter(listening)
                await change("install", events, heard, client)
                await change("uninstall", events, heard, client)

    async def change(what: str, events: Any, heard: Heard, client: Client) -> None:
        how = (
            ["--no-index", "--no-deps", "--no-build-isolation", str(PROBE)] if what == "install" else ["--yes", "probe"]
        )
        await asyncio.to_thread(pip, what, *how)
        if events is None:
            told = lambda: "ToolListChangedNotification" in heard.messages  # noqa: E731 - one line for one use
            await asyncio.to_thread(wait_until, told, "the notification")
            heard.messages.clear()
        else:
            await asyncio.wait_for(anext(events), SECONDS)
        assert ("probe" in await names(client)) == (what == "install")
        if what == "install":
            assert not (await client.call_tool("probe", {})).is_error

    asyncio.run(talk())


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}
