"""What is allowed to run programs."""

from __future__ import annotations

import asyncio
import subprocess

from ..table import innocent


@innocent
def sorted_by_a_program(scene):
    """Runs a program with a pipe on both ends."""
    return subprocess.run(["sort", "-r"], input="b\na\nc\n", capture_output=True, text=True, check=True).stdout


@innocent
def sorted_by_an_event_loop(scene):
    """Runs a program from an event loop."""

    async def main():
        program = await asyncio.create_subprocess_exec(
            "sort", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await program.communicate(b"b\na\n")
        return out.decode(), program.returncode

    return asyncio.run(main())


from ..plugin import Tools  # noqa: E402 - the table has to be full first

tools = Tools()
