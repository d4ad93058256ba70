"""Which tools could be offered to a model, found out in a process of its own: plugins are loaded, and so it forks.

The caller may have threads, which a fork does not copy. It starts an interpreter of its own, and reads one JSON
document from its stdout.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from ferrule import inventory, strict_json
from ferrule.ask.tool_results import SEARCH_PREFIX
from ferrule.errors import FerruleError, ToolFailed
from ferrule.isolation import extra_paths, interpreter, place_of_paths

_CODE = """\
import sys
sys.path[{place}:{place}] = {paths}
from ferrule.processes import stop_with_parent
stop_with_parent({parent})
from ferrule.ask.offering import tell
tell(sys.argv[1:])
"""
_SECONDS = 10.0  # beside those that each plugin has
_GRACE = 1.0
REFUSED = "refused"

Facts = dict[str, Any]


def candidates(names: Sequence[str] | None, environ: Mapping[str, str]) -> list[Facts]:
    """What there is to know of the named tools, in that order; without names, of all that search the web, by name.

    Each is `{"name", "state", "schema", "credentials", "error"}`, as of `inventory.Entry`, with the further state
    `refused` for what the provider would not take; or, where no such tool is installed, `{"name", "unknown": facts of
    the error}`. Nothing else that is installed is loaded.

    Raises ToolFailed where nothing could be found out.
    """
    seconds = _SECONDS + inventory.SECONDS * len(names or ())
    try:
        answer = _answer(code_for(_CODE), [] if names is None else ["--", *names], environ, seconds)
        document: Any = strict_json.loads(answer)
    except (OSError, subprocess.SubprocessError, strict_json.MalformedJSON):
        document = None
    if not isinstance(document, dict):
        why = f"the process that looks, of {interpreter()}, has not answered"
        raise ToolFailed(f"It could not be found out which tools there are: {why}.")
    if "error" in document:
        raise ToolFailed(document["error"]["message"])
    found: list[Facts] = document["tools"]
    return found


def code_for(template: str) -> str:
    """The code of an isolated interpreter that has this one's paths, and hears of the end of this process."""
    return template.format(place=place_of_paths(), paths=extra_paths(), parent=os.getpid())


def tell(arguments: Sequence[str]) -> None:
    """Be that process: write what is known of the tools that are named after `--`, or of the usual ones."""
    from ferrule import configuration, discovery

    try:
        settings = configuration.read()
        claims = discovery.scan()
        usual = sorted(name for name in claims if name.startswith(f"{SEARCH_PREFIX}_"))
        names = arguments[1:] if arguments else usual
        document: Facts = {"tools": [_facts(name, claims, settings) for name in names]}
    except FerruleError as error:
        document = {"error": error.facts()}
    with os.fdopen(1, "wb", closefd=False) as stdout:
        stdout.write(strict_json.dumps(document))


def _facts(name: str, claims: Any, settings: Any) -> Facts:
    if name not in claims:
        from ferrule.cli.selection import unknown

        return {"name": name, "unknown": unknown(name, claims).facts()}
    entry = inventory.examine(inventory.Entry(name, claims[name]), settings, load=True)
    refusal = _refusal(entry.schema) if entry.state == inventory.OK else None
    return {
        "name": name,
        "state": REFUSED if refusal else entry.state,
        "schema": entry.schema,
        "credentials": entry.credentials,
        "error": entry.error.message if entry.error else refusal,
    }


def _refusal(schema: Any) -> str | None:
    """Why the model's provider would refuse every request with this tool in it, whatever is asked."""
    from ferrule.forms import anthropic

    return next((loss.message for loss in anthropic.losses(schema) if loss.refused), None)


def _answer(code: str, arguments: Sequence[str], environ: Mapping[str, str], seconds: float) -> bytes:
    process = subprocess.Popen(
        [interpreter(), "-I", "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if environ.get("FERRULE_DEBUG") else subprocess.DEVNULL,
        env=dict(environ),
        start_new_session=True,  # Ctrl-C is for the caller, who ends this process in order
    )
    try:
        return process.communicate(timeout=seconds)[0]
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to end, which ends the plugin that it may be loading, and kill it where it does not."""
    with process:  # closes the pipe
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                process.send_signal(number)
                try:
                    process.wait(_GRACE)
                except subprocess.TimeoutExpired:
                    continue
