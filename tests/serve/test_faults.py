"""Every broken tool of the corpus in processes that are used again: its failure, and clean calls after it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ferrule_serve.pool import Pool
from ferrule_testkit.corpus import EXAMPLE, Site, broken_distributions
from ferrule_testkit.runs import mark, wait_until_gone

pytestmark = pytest.mark.slow
CITY, GREETING = b'{"city": "Oslo"}', b'{"success":true,"greeting":"Hello, Oslo!"}'
SECONDS = 3.0  # that a call may take
AT_ONCE = 6


def site_of(root: Path) -> Site:
    """All broken distributions, each of which declares that its processes may be used again, and one that is well."""
    site = Site(root).install(*broken_distributions(), EXAMPLE)
    for tool in site.tools():
        for module in (tool, tool.replace("_tool", "")):
            if (site.path / f"{module}.py").exists():
                declared = site.path / f"{module}.tool.json"
                facts = json.loads(declared.read_text()) if declared.exists() else {}
                declared.write_text(json.dumps({**facts, "reusable": True}))
    return site


async def answers(pool: Pool, tools: list[str], times: int) -> dict[str, list[bytes]]:
    """The documents of the calls of each tool, one after the other; after each, the tool that is well is called."""
    found: dict[str, list[bytes]] = {}
    room = asyncio.Semaphore(AT_ONCE)

    async def call(tool: str) -> None:
        async with room:
            for _ in range(times):
                found.setdefault(tool, []).append((await pool.call(tool, CITY, seconds=SECONDS)).document)
                assert (await pool.call("example", CITY)).document == GREETING

    await asyncio.gather(*map(call, tools))
    return found


def test_a_call_after_a_fault_is_answered_as_by_a_process_of_its_own(tmp_path: Path) -> None:
    site = site_of(tmp_path)
    tools = [tool for tool in site.tools() if tool != "example"]
    left, environment = mark({"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(site.path)})

    def served(settings: str, times: int) -> Mapping[str, list[bytes]]:
        (tmp_path / "config.toml").write_text(settings)

        async def work() -> dict[str, list[bytes]]:
            async with Pool(environment={**environment, "FERRULE_CONFIG": str(tmp_path / "config.toml")}) as pool:
                return await answers(pool, tools, times)

        return asyncio.run(work())

    once = served("".join(f"[tools.{tool}]\nreusable = false\n" for tool in tools), 1)
    again = served("", 3)
    wait_until_gone(left)
    assert len(tools) > 60
    assert {tool: documents for tool, documents in again.items() if documents != once[tool] * 3} == {}
