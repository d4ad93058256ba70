"""One tool as its author tests it: as an executable, and as a function of this process."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ferrule import Context
from ferrule_dev.testing.executables import Run, executable, run_tool, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrule import Credential
    from ferrule.admin.author_interface import LoadedTool
    from ferrule.text.json_types import JSONMapping, JSONObject


def context(
    tool: str,
    *,
    seconds: float = 20.0,
    credentials: Sequence[Credential] | None = None,
    settings: JSONMapping | None = None,
    events: list[JSONObject] | None = None,
) -> Context:
    """A real Context, for calling `execute` without an executable.

    Args:
        seconds: until its deadline.
        credentials: instead of those that the installed tool declares; their values are looked up as always, in the
            environment first.
        settings: the tool's table of config.toml.
        events: a list to which the events are added that the tool sends.

    Raises:
        ToolBroken where the tool is installed and cannot be loaded.
    """

    def collect(event: Mapping[str, object]) -> None:
        if events is not None:
            events.append(dict(event))

    if credentials is None:
        credentials = declared_credentials(tool)
    return Context(tool, time.monotonic() + seconds, credentials=credentials, settings=settings, send_event=collect)


def declared_credentials(tool: str) -> list[Credential]:
    """What the `credentials` hook of an installed tool lists; `[]` where it is not installed. Raises ToolBroken."""
    from ferrule.admin.author_interface import load
    from ferrule.discovery import scan

    claims = scan().get(tool, [])
    return load(claims[0]).credentials() if len(claims) == 1 else []


class Tool:
    """A tool by its name, or by the path of an executable that behaves as one.

    before_run: is given the variables with which an executable is about to be started, beside those of this process.
    """

    def __init__(self, name: str, *, before_run: Callable[[Mapping[str, str]], None] | None = None) -> None:
        self.name = name
        self._before_run = before_run

    @property
    def executable(self) -> str:
        """The path of its executable. Raises AssertionError where it is not installed."""
        return executable(self.name)

    @property
    def credentials(self) -> list[Credential]:
        """What it declares; `[]` for an executable that is no plugin."""
        return [] if os.sep in self.name else declared_credentials(self.name)

    @property
    def examples(self) -> tuple[JSONObject, ...]:
        """The arguments that its `tool.json` gives as examples; `()` for an executable that is no plugin.

        Raises ToolUnknown where the tool is not installed, and ValueError where the file cannot be read.
        """
        from ferrule.admin.author_interface import read_declaration
        from ferrule.config import read
        from ferrule.discovery import find

        return () if os.sep in self.name else read_declaration(find(self.name, read()).value).examples

    def schema(self) -> JSONObject:
        """The schema that its executable prints. Raises AssertionError where it fails."""
        return schema_of(self.name)

    def run(self, arguments: JSONMapping, *, environ: Mapping[str, str] | None = None) -> Run:
        """Start its executable, as `run_tool` does."""
        if self._before_run:
            self._before_run(environ or {})
        return run_tool(self.name, arguments, environ=environ)

    def call(
        self, arguments: JSONMapping, *, seconds: float = 20.0, events: list[JSONObject] | None = None
    ) -> JSONObject:
        """Call its hooks in this process, in the order in which a call does, and return what `execute` returns.

        Wrappers are left out. seconds: until the deadline. events: a list to which the events are added that it sends.
        Raises ArgumentsInvalid, ToolBroken, ToolUnknown, and whatever the tool raises.
        """
        from ferrule.admin.author_interface import prepare, require_valid
        from ferrule.config import read
        from ferrule.errors import ArgumentsInvalid

        loaded = _load(self.name)
        checked = prepare(dict(arguments), require_valid(loaded.schema(), loaded.tool)["parameters"])
        if findings := loaded.validate(checked):
            raise ArgumentsInvalid(findings)
        given = context(
            self.name,
            seconds=seconds,
            credentials=loaded.credentials(),
            settings=read().tool(self.name),
            events=events,
        )
        return loaded.execute(checked, given)

    def check(self) -> None:
        """Hold it against everything that `ferrule check` does. Raises AssertionError with what it fails."""
        from ferrule_dev.testing.conformance_check import require_conformance

        require_conformance(self.name)


def _load(name: str) -> LoadedTool:
    from ferrule.admin.author_interface import load
    from ferrule.config import read
    from ferrule.discovery import find

    return load(find(name, read()))
