"""A pool over one machine, whose calls a test makes."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from ferrule_serve.pool import Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import mark, wait_until_gone

NO_ARGUMENTS: dict[str, Any] = {}


class Served:
    """A pool over one machine. mark: in the environment of everything that is started under it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.mark, self.environment = mark(machine.environment)

    def run(self, work: Callable[[Pool], Awaitable[Any]], **options: Any) -> Any:
        """Do something with a pool, which is closed then, with nothing left of it."""

        async def worked() -> Any:
            async with Pool(**{"environment": self.environment, **options}) as pool:
                return await work(pool)

        done = asyncio.run(worked())
        wait_until_gone(self.mark)
        return done

    def calls(self, tool: str, times: int, **options: Any) -> list[dict[str, Any]]:
        """The documents of calls that were made one after the other."""

        async def work(pool: Pool) -> list[dict[str, Any]]:
            return [json.loads((await pool.call(tool, NO_ARGUMENTS)).document) for _ in range(times)]

        done: list[dict[str, Any]] = self.run(work, **options)
        return done


def install(
    served: Served,
    execute: str,
    *,
    top: str = "",
    name: str = "probe",
    declared: Mapping[str, Any] | None = None,
    **more: Any,
) -> Path:
    """Install a tool of any properties that takes no argument. declared: its `tool.json`.

    It may write to the working folder and start programs, unless it declares something else.
    """
    path = served.machine.install(name, properties={}, top=f"import os, time\n{top}", execute=execute, **more)
    permissions = {"network": [], "write": [str(served.machine.work)], "programs": ["sleep"], "processes": 64}
    path.with_suffix(".tool.json").write_text(json.dumps({"permissions": permissions, **(declared or {})}))
    return path


async def assert_used_again(pool: Pool, tool: str, *calls: Mapping[str, Any]) -> None:
    """Assert that one process takes the calls of a tool, once what it imports is known. calls: their arguments."""
    await pool.call(tool, calls[0])
    await pool.renew(tool)  # with what the host knows of it since that call, such as the credentials that it takes
    copies = []
    for arguments in calls[1:] or calls * 5:
        answer = await pool.call(tool, arguments)
        assert not answer.is_error, answer.document
        copies.append([facts["copies"] for facts in (await pool.facts())["plugins"] if facts["tool"] == tool])
    # On a busy machine a thread of a call may outlive it for a moment, and its process then takes no other call.
    assert any(one == other and one[0] for one, other in pairwise(copies)), copies
