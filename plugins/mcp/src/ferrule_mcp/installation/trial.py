"""A call of a server that is not installed yet, traced and held to what it is to be given.

It is written as a source of a data folder of its own, and called by `ferrule run --trace --confined`: what the call was
refused is what the server wants beyond its rights. Neither discovery nor any record of the user's sees it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from ferrule.config.own_folders import OUTER_DATA, OUTER_STATE, data_folder, environments_folder, state_folder
from ferrule.errors import FerruleError
from ferrule.installed import SourceTools, python_command
from ferrule.text import strict_json
from ferrule_mcp.credentials import declare
from ferrule_mcp.record import FILE, INTERVIEW, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_mcp.record import ServerRecord

_MARGIN_SECONDS = 30.0
_GRACE_SECONDS = 5.0
_PREFIX = "ferrule-mcp-"
_PARAMETERS = {"type": "object", "properties": {}}


class Trial(NamedTuple):
    """answer: what the call gave, a failure too. trace: the document of the traced call."""

    answer: JSONObject
    trace: JSONObject

    @property
    def failure(self) -> str:
        """The error of a call that failed; empty for one that did not."""
        is_failed = self.answer.get("success") is False
        return str(self.answer.get("error", "It failed.")) if is_failed else ""


def try_start(record: ServerRecord, permissions: JSONObject, secrets: Mapping[str, str], seconds: float) -> Trial:
    """Start a server and ask it what it is and has; `ferrule_mcp.installation.interview.take_answer` has its answer.

    Args:
        record: of the server, without tools.
        permissions: what it may, as in `tool.json`.
        secrets: values of its credentials by their names.
        seconds: that its start may take.

    Raises FerruleError where ferrule itself fails.
    """
    tool = f"{record['name']}_{INTERVIEW}"
    schema = {
        "name": tool,
        "description": "Asks the server what it is and which tools it has.",
        "parameters": _PARAMETERS,
    }
    return try_call(record, permissions, secrets, {tool: schema}, tool, {}, seconds)


def try_call(
    record: ServerRecord,
    permissions: JSONObject,
    secrets: Mapping[str, str],
    schemas: Mapping[str, JSONObject],
    tool: str,
    arguments: JSONMapping,
    seconds: float,
) -> Trial:
    """Call one tool of a server.

    Args:
        record, permissions, secrets, seconds: see `try_start`.
        schemas: of all its tools.
        tool: its name in ferrule.
        arguments: of the call.

    Raises FerruleError where ferrule itself fails.
    """
    credentials = declare(record["name"], record["credentials"])
    declaration = {"permissions": permissions, "credentials": credentials}
    with _make_folder(record["name"]) as folder:
        values = {str(one["environment"]): secrets[one["name"]] for one in credentials if one["name"] in secrets}
        environ = {**_own_environment(folder, seconds), **values}
        files = {FILE: strict_json.dumps(record)}
        SourceTools(SOURCE, record["name"], environ["FERRULE_DATA"]).write("0", schemas, declaration, files)
        command = python_command("ferrule.cli:main", "run", "--trace", "--confined", "--json", tool)
        place = record["folder"] or record["home"]
        done = _run(command, strict_json.dumps(dict(arguments)), environ, place, seconds + _MARGIN_SECONDS)
    return _read(done)


@contextmanager
def _make_folder(name: str) -> Iterator[str]:
    """A folder for one trial of a server, whose place this process holds; that of one that was killed goes first."""
    mark = os.path.join(environments_folder(SOURCE), f".{name}.trial")
    with suppress(OSError, ValueError), open(mark, encoding="utf-8") as file:
        left = file.read()
        if os.path.basename(left).startswith(_PREFIX):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        with open(mark, "w", encoding="utf-8") as file:
            file.write(folder)
        try:
            yield folder
        finally:
            os.remove(mark)


def _run(
    command: Sequence[str], data: bytes, environ: Mapping[str, str], folder: str, seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a traced call to its end; where this process is interrupted, the call is ended as it ends itself.

    Args:
        command: the program and its arguments.
        data: its stdin.
        environ: its environment.
        folder: where it runs.
        seconds: that it may take.

    Raises FerruleError where it takes longer.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, cwd=folder) as process:
        try:
            out, err = process.communicate(data, seconds)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise FerruleError(f"The server has not been tried after {seconds:.0f} seconds.") from None
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a call by the signal that it cleans up on, and by force where it does not end."""
    process.terminate()
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _own_environment(folder: str, seconds: float) -> dict[str, str]:
    own = {"FERRULE_DATA": os.path.join(folder, "data"), "FERRULE_STATE": os.path.join(folder, "state")}
    # What no tool may touch, this one may not touch either.
    own |= {OUTER_DATA: os.path.abspath(data_folder()), OUTER_STATE: os.path.abspath(state_folder())}
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("IKIGAI_AGENT_ID", "FERRULE_WRAPPERS")
    }
    return {**inherited, **own, "FERRULE_DEADLINE": str(seconds)}


def _read(done: subprocess.CompletedProcess[bytes]) -> Trial:
    try:
        document = json.loads(done.stdout)
        answer = document["answer"]
    except (ValueError, KeyError, TypeError):
        said = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
        raise FerruleError(f"The server could not be tried: {' '.join(said) or 'nothing was said'}.") from None
    return Trial(answer if isinstance(answer, dict) else {"result": answer}, document)
