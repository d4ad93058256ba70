"""Which tools are served, kept up to date while distributions come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ferrule import config
from ferrule.errors import FerruleError, ToolUnknown
from ferrule.installed import OK, UNKNOWN, InstalledTool, InventorySnapshot, take_fingerprint
from ferrule.schema.providers import PlainSchema, mcp
from ferrule_serve import schema_forms
from ferrule_serve.output_schema import OutputSchema
from ferrule_serve.protocol.header_parameters import HeaderParameter, header_parameters
from ferrule_serve.snapshots import start_snapshot

if TYPE_CHECKING:
    from ferrule.installed import Fingerprint, Snapshot, ToolFacts, Watched
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.pool import ArgumentReader

_SNAPSHOT_SECONDS = 600.0  # that a snapshot may take: each of its tools gets five
_LOOK_SECONDS = 1.0  # between two looks at what is installed
_SETTLE_SECONDS = 0.25  # without a change after which an installation counts as finished
_MAX_SETTLE_SECONDS = 10.0
_RETRY_SECONDS = (10.0, 60.0)  # until tools that were too slow are looked at again; the machine may have been busy


class ServedTool:
    """One tool as a snapshot has it. in_form: the form in which clients get its schema, one of `schema_forms.FORMS`.

    name: as clients know it. state: of `inventory`. error: facts see `FerruleError.facts()`, None where it is well.
    schema: None where none is known. form: the schema as MCP has it, `{"name", "description", "inputSchema"}`; empty
    unless the tool is well. results: as `ResultPolicy.as_dict()`; empty where it was not loaded. declaration: what its
    `tool.json` says. installed: its source.
    """

    def __init__(self, facts: ToolFacts, in_form: str = schema_forms.MCP) -> None:
        self.name = facts["name"]
        self.state = facts["state"]
        self.error = facts["error"]
        self.findings = facts["findings"]
        self.schema = facts["schema"]
        self.results = facts["results"]
        self.declaration = facts["declaration"]
        is_plain = self.state == OK and in_form == schema_forms.PLAIN
        self._plain = PlainSchema(self.schema) if is_plain else None
        self.form: JSONObject = {}
        if self.state == OK:
            self.form = mcp(self.schema) if self._plain is None else _as_mcp(self._plain.form)
        self.installed = InstalledTool(**facts["tool"])

    @cached_property
    def output(self) -> OutputSchema:
        """What its results look like, as far as it declares that."""
        return OutputSchema(self.declaration.get("result_schema"))

    @property
    def read_arguments(self) -> ArgumentReader | None:
        """What makes the tool's own arguments of those that fit the form; None where they are the same."""
        return None if self._plain is None else self._plain.read

    @cached_property
    def header_parameters(self) -> tuple[HeaderParameter, ...]:
        """The arguments that clients repeat in headers."""
        return header_parameters(self.input_schema)

    @property
    def is_served(self) -> bool:
        """Whether it is well, and so served."""
        return self.state == OK

    @property
    def description(self) -> str:
        """What the schema says of the tool; empty where it says nothing."""
        return str((self.form or self.schema or {}).get("description") or "")

    @property
    def was_slow(self) -> bool:
        """Whether it was only too slow in saying what it is."""
        return self.error is not None and "seconds" in self.error.get("details", {})

    @property
    def input_schema(self) -> JSONObject:
        """The schema of the arguments as clients get it, or where the tool is not served, as the tool has it."""
        schema: JSONObject = self.form["inputSchema"] if self.form else (self.schema or {})["parameters"]
        return schema

    @property
    def why(self) -> str:
        """Why the tool is not served; empty where it is."""
        return "" if self.error is None else str(self.error["message"])


def _as_mcp(form: JSONObject) -> JSONObject:
    return {"name": form["name"], "description": form["description"], "inputSchema": form["parameters"]}


class Catalogue:
    """The tools that are served: those named, or all that are well.

    Enter it to have it watched; everything else of it waits for the first snapshot.

    Args:
        names: of the tools, none of them meaning all.
        with_artifacts: `artifact_read` is served with them, since the result of any tool may be too large.
        on_change: called after the tools, or the code behind them, may have changed, with whether the list has become
            another one; not called for the first snapshot.
        first: that snapshot, which has been started already.
        in_form: the form of schemas, None for the one that the configuration sets.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        with_artifacts: bool,
        on_change: Callable[[bool], None],
        first: InventorySnapshot,
        in_form: str | None = None,
    ) -> None:
        self._names = list(names)
        self._in_form = in_form
        self._with_artifacts = with_artifacts
        self._on_change = on_change
        self._first: InventorySnapshot | None = first
        self._tools: dict[str, ServedTool] = {}
        self._watched: Watched = {"folders": [], "files": [], "seen": []}
        self._seen: Fingerprint = frozenset()
        self._is_known = asyncio.Event()
        self._is_refresh_due = asyncio.Event()
        self._retries = list(_RETRY_SECONDS)
        self._task: asyncio.Task[None] | None = None
        self.failure: FerruleError | None = None

    async def __aenter__(self) -> Catalogue:
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def served_tools(self) -> list[ServedTool]:
        """The tools that are well, in the order of their names. Raises the error of a snapshot that has failed."""
        await self._is_known.wait()
        if self.failure is not None and not self._tools:
            raise self.failure
        return [tool for tool in self._tools.values() if tool.is_served]

    async def unserved_tools(self) -> list[ServedTool]:
        """The tools that are not served, with the reasons."""
        await self._is_known.wait()
        return [tool for tool in self._tools.values() if not tool.is_served]

    async def find(self, name: str) -> ServedTool:
        """The tool of that name. Raises ToolUnknown where it is not served; the message says why."""
        await self._is_known.wait()
        if self.failure is not None and not self._tools:
            raise self.failure
        tool = self._tools.get(name)
        if tool is None:
            raise ToolUnknown(f"Unknown tool: {name!r}.")
        if not tool.is_served:
            raise ToolUnknown(f"The tool {name!r} is not served: {tool.why}")
        return tool

    def known(self, name: str) -> ServedTool | None:
        """A served tool as far as it is known now, None if there is none."""
        tool = self._tools.get(name)
        return tool if tool is not None and tool.is_served else None

    def refresh(self) -> None:
        """Look at everything again now, whether or not a file has changed."""
        self._is_refresh_due.set()

    async def _watch(self) -> None:
        await self._update()
        while True:
            if await self._has_changed():
                await self._settle()
                is_new = await self._update()
                self._on_change(is_new)

    async def _has_changed(self) -> bool:
        """Wait a little; whether a file has changed then, or a new snapshot was asked for."""
        try:
            await asyncio.wait_for(self._is_refresh_due.wait(), _LOOK_SECONDS)
        except TimeoutError:
            return await self._look() != self._seen
        self._is_refresh_due.clear()
        return True

    async def _look(self) -> Fingerprint:
        # In a thread: a folder on a network may take its time, and the calls that are running must not wait for it.
        return await asyncio.to_thread(take_fingerprint, self._watched["folders"], self._watched["files"])

    async def _settle(self) -> None:
        """Wait until an installation has finished, as far as the files tell."""
        limit = asyncio.get_running_loop().time() + _MAX_SETTLE_SECONDS
        before = await self._look()
        while asyncio.get_running_loop().time() < limit:
            await asyncio.sleep(_SETTLE_SECONDS)
            now = await self._look()
            if now == before:
                return
            before = now

    async def _update(self) -> bool:
        """Serve what a snapshot finds, or keep what is served where it fails; whether clients see another list."""
        before = self._listing()
        try:
            self._take(await self._take_snapshot())
            self.failure = None
        except FerruleError as error:
            self.failure = error
        self._is_known.set()
        if self._retries and any(tool.was_slow for tool in self._tools.values()):
            asyncio.get_running_loop().call_later(self._retries.pop(0), self.refresh)
        return before != self._listing()

    async def _take_snapshot(self) -> Snapshot:
        # It is started here, and not in the thread that waits for it: it ends with the thread that started it.
        snapshot = self._first or start_snapshot(self._names, with_artifacts=self._with_artifacts)
        self._first = None
        try:
            return await asyncio.to_thread(snapshot.document, _SNAPSHOT_SECONDS)
        except asyncio.CancelledError:
            snapshot.cancel()
            raise

    def _take(self, snapshot: Snapshot) -> None:
        form = self._in_form or schema_forms.schema_form(config.read())
        tools = {facts["name"]: ServedTool(facts, form) for facts in snapshot["tools"] if facts["state"] != UNKNOWN}
        self._tools = dict(sorted(tools.items()))
        self._watched = snapshot["watched"]
        self._seen = frozenset((path, time, size, inode) for path, time, size, inode in self._watched["seen"])

    def _listing(self) -> list[tuple[object, object, object]]:
        """What clients are told of the tools."""
        return [(tool.form, tool.results, tool.declaration) for tool in self._tools.values() if tool.is_served]
