"""One execution of a tool in a process of its own: the dispatcher, as a link starts it."""

from __future__ import annotations

from collections.abc import Mapping

from ferrule.installed.process_output import ProcessResult, run_process
from ferrule.supervision.python_process import python_command

_ANSWER_SECONDS = 0.5  # in which the tool's supervisor ends what the tool has started, and says that it was too slow


async def execute(tool: str, arguments: bytes, seconds: float, environ: Mapping[str, str]) -> ProcessResult:
    """Execute a tool as its executable does, whatever it does, and end it with all that it has started.

    Where a keeper of this environment runs and keeps the tool, that makes the call.

    Args:
        arguments: one JSON object.
        seconds: from now; what hears no signal is killed a second later.
        environ: the whole environment; what decides an exit code in it is overridden. The tool is ended in the same way
            when the caller is cancelled.

    Raises:
        OSError where no process can be started.
    """
    inner = max(seconds - _ANSWER_SECONDS, seconds * 0.7)
    kept = await _execute_kept(tool, arguments, inner, environ)
    if kept is not None:
        return kept
    environ = {**environ, "FERRULE_DEADLINE": f"{inner:.3f}", "FERRULE_EXIT_ZERO": "0"}
    return await run_process(python_command("ferrule.dispatch:run_linked", tool, "", ""), arguments, seconds, environ)


async def _execute_kept(
    tool: str, arguments: bytes, seconds: float, environ: Mapping[str, str]
) -> ProcessResult | None:
    """The call by a keeper; None where none makes it."""
    from ferrule.installed.kept_call import KeeperLost, call_keeper
    from ferrule.plugin.failures import default_document
    from ferrule.text import strict_json

    try:
        kept = await call_keeper(tool, arguments, seconds, environ)
    except KeeperLost as lost:
        return ProcessResult(strict_json.dumps(default_document(lost.facts())) + b"\n", has_failed=True, is_late=False)
    return None if kept is None else ProcessResult(kept.document + b"\n", kept.has_failed, is_late=False)
