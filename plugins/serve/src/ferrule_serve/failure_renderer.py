"""Failures that the serving process itself finds, in the shape of the tool's family."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ferrule.calls.server_interface import failures
from ferrule.discovery import InstalledTool
from ferrule.installed import python_command, run_process
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.errors import FerruleError

_RENDER_SECONDS = 10.0
_MAX_CACHED = 256


class FailureRenderer:
    """Renders failures. A tool with a function for it has that called by a process of its own, one at a time.

    environ: of that process, None for the caller's. The same failure of the same tool is rendered once.
    """

    def __init__(self, environ: Mapping[str, str] | None) -> None:
        self._environ = environ
        self._turn = asyncio.Lock()
        self._cache: OrderedDict[bytes, bytes] = OrderedDict()

    async def document(self, error: FerruleError, tool: InstalledTool | None) -> bytes:
        """The failure as one JSON object; in the web tools' shape, where the tool has no other or none can be made."""
        facts = error.facts()
        if tool is None or not tool.failures:
            return strict_json.dumps(failures.default_document(facts))
        key = strict_json.dumps({"facts": facts, "tool": tool.as_dict()})
        async with self._turn:
            if key not in self._cache:
                rendered = await self._render(key)
                self._cache[key] = rendered or strict_json.dumps(failures.default_document(facts))
                if len(self._cache) > _MAX_CACHED:
                    self._cache.popitem(last=False)
            return self._cache[key]

    def forget(self) -> None:
        """Ask the tools again: what is installed may have changed."""
        self._cache.clear()

    async def _render(self, question: bytes) -> bytes | None:
        command = python_command("ferrule_serve.failure_renderer:main", isolated=False)
        try:
            rendered = await run_process(command, question, _RENDER_SECONDS, self._environ)
        except OSError:
            return None
        return None if rendered.is_late else rendered.stdout.strip() or None


def main() -> None:
    """Be that process: read the question from stdin, and print the failure."""
    with open(0, "rb", closefd=False) as stdin, open(1, "wb", closefd=False) as stdout:
        question: Any = strict_json.loads(stdin.read())
        stdout.write(failures.document(question["facts"], InstalledTool(**question["tool"])))
