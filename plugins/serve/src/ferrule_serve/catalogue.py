"""Which tools are served, kept up to date while distributions come and go."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ferrule import provider_formats
from ferrule.admin import inventory
from ferrule.admin.fingerprint import Fingerprint, fingerprint
from ferrule.admin.snapshot import UNKNOWN, InventorySnapshot
from ferrule.discovery import InstalledTool
from ferrule.errors import FerruleError, ToolUnknown
from ferrule_serve.start_snapshot import READER, begin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OK = inventory.OK
_SECONDS = 600.0  # that a survey may take: each of its tools gets five
_LOOK = 1.0  # seconds between two looks at what is installed
_SETTLE = 0.25  # seconds without a change after which an installation counts as finished
_LONGEST_SETTLE = 10.0
_LATER = (10.0, 60.0)  # seconds until tools that were too slow are looked at again; the machine may have been busy


class ServedTool:
    """One tool as a survey found it.

    name: as clients know it. state: of `inventory`. error: facts as of `FerruleError.facts()`, None where it is well.
    schema: None where none is known. form: the schema as MCP has it, `{"name", "description", "inputSchema"}`; empty
    unless the tool is well. results: as `ResultPolicy.as_dict()`; empty where it was not loaded. installed: its source.
    """

    __slots__ = ("error", "findings", "form", "installed", "name", "results", "schema", "state")

    def __init__(self, facts: dict[str, Any]) -> None:
        self.name: str = facts["name"]
        self.state: str = facts["state"]
        self.error: dict[str, Any] | None = facts["error"]
        self.findings: list[dict[str, Any]] = facts["findings"]
        self.schema: dict[str, Any] | None = facts["schema"]
        self.results: dict[str, Any] = facts["results"]
        self.form: dict[str, Any] = provider_formats.mcp(self.schema) if self.state == OK else {}
        self.installed = InstalledTool(**facts["tool"])

    @property
    def description(self) -> str:
        """What the schema says of the tool."""
        return str((self.schema or {}).get("description", ""))

    @property
    def was_slow(self) -> bool:
        """Whether it was only too slow in saying what it is."""
        return "seconds" in ((self.error or {}).get("details") or {})

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of the arguments as clients get it, or where the tool is not served, as the tool has it."""
        schema: dict[str, Any] = self.form["inputSchema"] if self.form else (self.schema or {})["parameters"]
        return schema

    @property
    def why(self) -> str:
        """Why the tool is not served; empty where it is."""
        return "" if self.error is None else str(self.error["message"])


class Catalogue:
    """The tools that are served: those named, or all that are well.

    names: of the tools, none of them meaning all. with_artifacts: `artifact_read` is served too, where a tool that is
    named may answer with a link. on_change: called after the tools, or the code behind them, may have changed, with
    whether the list has become another one; not called for the first survey. first: that survey, where it has begun
    already.

    Enter it to have it watched; everything else of it waits for the first survey.
    """

    def __init__(
        self,
        names: Sequence[str] = (),
        *,
        with_artifacts: bool = False,
        on_change: Callable[[bool], None] | None = None,
        first: InventorySnapshot | None = None,
    ) -> None:
        self._names = list(names)
        self._with_artifacts = with_artifacts
        self._on_change = on_change
        self._first = first
        self._tools: dict[str, ServedTool] = {}
        self._watched: dict[str, Any] = {"folders": [], "files": []}
        self._seen: Fingerprint = frozenset()
        self._is_known = asyncio.Event()
        self._asked = asyncio.Event()
        self._later = list(_LATER)
        self._task: asyncio.Task[None] | None = None
        self.failure: FerruleError | None = None

    async def __aenter__(self) -> Catalogue:
        self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def served(self) -> list[ServedTool]:
        """The tools that are well, in the order of their names. Raises the error of a survey that has failed."""
        await self._is_known.wait()
        if self.failure is not None and not self._tools:
            raise self.failure
        return [tool for tool in self._tools.values() if tool.state == OK]

    async def others(self) -> list[ServedTool]:
        """The tools that are not served, with the reasons."""
        await self._is_known.wait()
        return [tool for tool in self._tools.values() if tool.state != OK]

    async def find(self, name: str) -> ServedTool:
        """The tool of that name. Raises ToolUnknown where it is not served; the message says why."""
        found = {tool.name: tool for tool in await self.served()}
        if name in found:
            return found[name]
        if name in self._tools:
            raise ToolUnknown(f"The tool {name!r} is not served: {self._tools[name].why}")
        raise ToolUnknown(f"Unknown tool: {name!r}.")

    def schema_of(self, name: str) -> dict[str, Any] | None:
        """The schema of a served tool's arguments as far as it is known now, None where there is none."""
        tool = self._tools.get(name)
        return tool.input_schema if tool is not None and tool.state == OK else None

    def refresh(self) -> None:
        """Look at everything again now, whether or not a file has changed."""
        self._asked.set()

    async def _keep(self) -> None:
        await self._survey()
        while True:
            if await self._has_changed():
                await self._settle()
                is_new = await self._survey()
                if self._on_change is not None:
                    self._on_change(is_new)

    async def _has_changed(self) -> bool:
        """Wait a little; whether a file has changed then, or somebody has asked for a new survey."""
        try:
            await asyncio.wait_for(self._asked.wait(), _LOOK)
        except TimeoutError:
            return await self._look() != self._seen
        self._asked.clear()
        return True

    async def _look(self) -> Fingerprint:
        # In a thread: a folder on a network may take its time, and the calls that are running must not wait for it.
        return await asyncio.to_thread(fingerprint, self._watched["folders"], self._watched["files"])

    async def _settle(self) -> None:
        """Wait until whoever installs something has finished, as far as the files tell."""
        limit = asyncio.get_running_loop().time() + _LONGEST_SETTLE
        before = await self._look()
        while asyncio.get_running_loop().time() < limit:
            await asyncio.sleep(_SETTLE)
            now = await self._look()
            if now == before:
                return
            before = now

    async def _survey(self) -> bool:
        """Serve what a survey finds, or keep what is served where it fails; whether clients see another list."""
        before = self._listed()
        try:
            self._take(await self._surveyed())
            self.failure = None
        except FerruleError as error:
            self.failure = error
        self._is_known.set()
        self._look_again_at_slow_ones()
        return before != self._listed()

    def _look_again_at_slow_ones(self) -> None:
        if self._later and any(tool.was_slow for tool in self._tools.values()):
            asyncio.get_running_loop().call_later(self._later.pop(0), self.refresh)

    async def _surveyed(self) -> dict[str, Any]:
        # It is begun here, and not in the thread that waits for it: it ends with the thread that began it.
        survey = self._first or begin(self._names, with_artifacts=self._with_artifacts)
        self._first = None
        try:
            return await asyncio.to_thread(survey.document, _SECONDS)
        except asyncio.CancelledError:
            survey.cancel()
            raise

    def _take(self, survey: dict[str, Any]) -> None:
        tools = {facts["name"]: ServedTool(facts) for facts in survey["tools"] if facts["state"] != UNKNOWN}
        if self._is_superfluous(tools):
            tools.pop(READER, None)
        self._tools = dict(sorted(tools.items()))
        self._watched = survey["watched"]
        self._seen = frozenset((path, time, size, inode) for path, time, size, inode in self._watched["seen"])

    def _listed(self) -> list[tuple[object, object]]:
        """What clients are told of the tools."""
        return [(tool.schema, tool.results) for tool in self._tools.values() if tool.state == OK]

    def _is_superfluous(self, tools: dict[str, ServedTool]) -> bool:
        """Whether the reader of links was not asked for, and no tool that was can answer with one."""
        if not self._names or READER in self._names:
            return False
        return not any(tool.results.get("linkable") for tool in tools.values())
