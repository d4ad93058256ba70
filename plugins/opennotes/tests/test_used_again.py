"""The tools in a server: their processes take one call after the other, since a call leaves nothing changed in them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ferrule_serve.pool import Pool
from ferrule_testkit.serve.pool import assert_used_again

pytestmark = pytest.mark.process
NOTES: list[dict[str, Any]] = [
    {"title": f"Oslo {number}", "content": "Rain. [[Bergen]] #weather"} for number in range(5)
]
CALLS: dict[str, dict[str, Any]] = {
    "list": {},
    "notebooks": {},
    "search": {"query": "rain"},
    "views": {"view": "recent"},
}


@pytest.mark.parametrize("tool", CALLS)
def test_a_process_takes_one_call_after_the_other(tool: str, notebook: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("ferrule_serve")

    async def call() -> None:
        async with Pool(environment={**environment, "OPENNOTES_NOTEBOOK": str(notebook)}) as pool:
            await assert_used_again(pool, f"opennotes_{tool}", CALLS[tool])

    asyncio.run(call())


def test_processes_that_write_and_read_notes_do(notebook: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("ferrule_serve")

    async def call() -> None:
        async with Pool(environment={**environment, "OPENNOTES_NOTEBOOK": str(notebook)}) as pool:
            await assert_used_again(pool, "opennotes_create", *NOTES)
            listed = json.loads((await pool.call("opennotes_list", {})).document)
            await assert_used_again(pool, "opennotes_get", {"path": listed["notes"][0]["path"]})

    asyncio.run(call())
