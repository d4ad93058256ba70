"""Failures that the serving process itself finds, in the shape of the tool's family."""

from __future__ import annotations

import asyncio
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from ferrule.calls import failures
from ferrule.discovery import InstalledTool
from ferrule.supervision.python_path import interpreter
from ferrule.text import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.errors import FerruleError

_CODE = "from ferrule_serve.failure_renderer import tell; tell()"
_SECONDS = 10.0
_GRACE = 3.0  # seconds that it gets to end in order
_KEPT = 256


class FailureShapes:
    """Renders failures. A tool with a function for it has that called by a process of its own, one at a time.

    environ: of that process, None for the caller's. The same failure of the same tool is rendered once.
    """

    def __init__(self, environ: Mapping[str, str] | None) -> None:
        self._environ = environ
        self._turn = asyncio.Lock()
        self._known: OrderedDict[bytes, bytes] = OrderedDict()

    async def document(self, error: FerruleError, tool: InstalledTool | None) -> bytes:
        """The failure as one JSON object; in the web tools' shape, where the tool has no other or none can be made."""
        facts = error.facts()
        if tool is None or not tool.failures:
            return strict_json.dumps(failures.web(facts))
        installed = {name: getattr(tool, name) for name in tool.__slots__}
        question = strict_json.dumps({"facts": facts, "tool": installed})
        async with self._turn:
            if question not in self._known:
                self._known[question] = await self._rendered(question) or strict_json.dumps(failures.web(facts))
                if len(self._known) > _KEPT:
                    self._known.popitem(last=False)
            return self._known[question]

    def forget(self) -> None:
        """Ask the tools again: what is installed may have changed."""
        self._known.clear()

    async def _rendered(self, question: bytes) -> bytes | None:
        try:
            process = await asyncio.create_subprocess_exec(
                *(interpreter(), "-I" if sys.flags.isolated else "-P", "-c", _CODE),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=None if self._environ is None else dict(self._environ),
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            async with asyncio.timeout(_SECONDS):
                out, _ = await process.communicate(question)
        except TimeoutError:
            return None
        finally:
            await _ended(process)
        return out.strip() or None


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Ask it to end, which ends what it has started, and end it where it does not hear."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except TimeoutError:
        process.kill()
        await process.wait()


def tell() -> None:
    """Be that process: read facts and tool from stdin, and print the failure."""
    with open(0, "rb", closefd=False) as stdin, open(1, "wb", closefd=False) as stdout:
        question: Any = strict_json.loads(stdin.read())
        stdout.write(failures.document(question["facts"], InstalledTool(**question["tool"])))
