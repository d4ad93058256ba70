"""The executable of a tool, started as a client starts it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule.text import strict_json
from ferrule.text.names import executable_name

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

# Far more than a call may take, so that a tool that hangs fails its test instead of stopping all.
_TIMEOUT_SECONDS = 60.0
_CLIENT_VARIABLES = ("IKIGAI_AGENT_ID", "FERRULE_EXIT_ZERO")


class Run(NamedTuple):
    """How an executable ended.

    exit_code: 0 where the tool answered, 1 where it failed. document: the one JSON object that it printed. text: what
    it wrote on stderr.
    """

    exit_code: int
    document: JSONObject
    text: str


def executable(name: str) -> str:
    """The path of a tool's executable, from the environment of the running interpreter, else from PATH.

    name: of a tool, or the path of any executable that behaves as a tool does. Raises AssertionError where it is not
    installed.
    """
    if os.sep in name:
        if not os.access(name, os.X_OK):
            raise AssertionError(f"{name} is not there or not executable; make it so with `chmod +x {name}`")
        return os.path.abspath(name)
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), executable_name(name))
    path = beside if os.access(beside, os.X_OK) else shutil.which(executable_name(name))
    if path is None:
        raise AssertionError(f"{executable_name(name)} is not installed; run `pip install -e .` where its project is")
    return path


def run_tool(name: str, arguments: JSONMapping, *, environ: Mapping[str, str] | None = None) -> Run:
    """Start the executable of a tool, and give it the arguments on stdin.

    environ: variables to set for it beside those of this process. Raises AssertionError where stdout is not exactly
    one JSON object and a newline, which is what no tool may do.
    """
    output, text, code = _start([executable(name)], strict_json.dumps(dict(arguments)), environ)
    return Run(code, _document(output, text), text)


def schema_of(name: str) -> JSONObject:
    """The schema that the executable of a tool prints. Raises AssertionError where it fails."""
    output, text, code = _start([executable(name), "--schema"], b"", None)
    if code:
        raise AssertionError(f"{executable_name(name)} --schema ended with {code}: {text}")
    return _document(output, text)


def _start(command: list[str], data: bytes, environ: Mapping[str, str] | None) -> tuple[bytes, str, int]:
    # A test that runs inside an agent must not have the agent's own exit codes.
    inherited = {name: value for name, value in os.environ.items() if name not in _CLIENT_VARIABLES}
    whole = {**inherited, **(environ or {})}
    done = subprocess.run(command, input=data, capture_output=True, timeout=_TIMEOUT_SECONDS, env=whole, check=False)
    return done.stdout, done.stderr.decode(errors="replace"), done.returncode


def _document(output: bytes, text: str) -> JSONObject:
    try:
        document = strict_json.loads(output)
    except strict_json.MalformedJSON as error:
        raise AssertionError(f"stdout is not one JSON document: {error}\n{output[:400]!r}\n{text}") from None
    if not isinstance(document, dict) or not output.endswith(b"\n"):
        raise AssertionError(f"stdout is not one JSON object and a newline: {output[:400]!r}")
    return document
