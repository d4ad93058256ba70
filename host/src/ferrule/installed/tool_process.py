"""One execution of a tool in a process of its own: the dispatcher, as a link starts it."""

from __future__ import annotations

from collections.abc import Mapping

from ferrule.installed.process_output import ProcessResult, run_process
from ferrule.supervision.python_process import python_command

_ANSWER_SECONDS = 0.5  # in which the tool's supervisor ends what the tool has started, and says that it was too slow


async def execute(tool: str, arguments: bytes, seconds: float, environ: Mapping[str, str]) -> ProcessResult:
    """Execute a tool as its executable does, whatever it does, and end it with all that it has started.

    Args:
        arguments: one JSON object.
        seconds: from now; what hears no signal is killed a second later.
        environ: the whole environment; what decides an exit code in it is overridden. The tool is ended in the same way
            when the caller is cancelled.

    Raises:
        OSError where no process can be started.
    """
    inner = max(seconds - _ANSWER_SECONDS, seconds * 0.7)
    environ = {**environ, "FERRULE_DEADLINE": f"{inner:.3f}", "FERRULE_EXIT_ZERO": "0"}
    return await run_process(python_command("ferrule.dispatch:run_linked", tool, "", ""), arguments, seconds, environ)
