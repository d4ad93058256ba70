"""What is installed and which of it is well, found out by a process of its own, since each plugin is loaded for it.

Whoever asks may have threads, which a fork does not copy. So an interpreter of its own is started, which has this one's
paths, sees what is installed by now, looks at several tools at a time, and prints one JSON object.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ferrule import discovery
from ferrule.admin import inventory
from ferrule.admin.fingerprint import fingerprint
from ferrule.admin.inventory import Entry
from ferrule.config import configuration
from ferrule.errors import FerruleError, ToolFailed
from ferrule.schema import schema_file
from ferrule.supervision.exception_text import defect
from ferrule.supervision.processes import stop_with_parent
from ferrule.supervision.python_path import code_for, interpreter
from ferrule.text import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.discovery import InstalledTool

ALL = "*"
UNKNOWN = "unknown"

_CODE = """\
import sys
sys.path[{place}:{place}] = {paths}
from ferrule.supervision.processes import stop_with_parent
stop_with_parent({parent})
from ferrule.admin.snapshot import main
main(sys.argv[1:])
"""
_GRACE = 1.0
_AT_ONCE = 8  # processes that load plugins, as far as there are processors for them

Facts = dict[str, Any]


class InventorySnapshot:
    """A look at what is installed, which begins at once; the thread that begins it must not end before it.

    patterns: names of tools, or patterns as of fnmatch, which stand for what fits. environ: of the process and the
    plugins, else the caller's.
    """

    def __init__(self, patterns: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        try:
            self._process = subprocess.Popen(
                [interpreter(), "-I", "-c", code_for(_CODE), *patterns],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if environ.get("FERRULE_DEBUG") else subprocess.DEVNULL,
                env=dict(environ),
                start_new_session=True,  # Ctrl-C is for the caller, who ends this process in order
            )
        except (OSError, subprocess.SubprocessError):
            raise _failed() from None

    def document(self, seconds: float) -> Facts:
        """Wait for what was found, as of `examined`. Raises ToolFailed where nothing could be found out in time."""
        try:
            found: Any = strict_json.loads(self._process.communicate(timeout=seconds)[0])
        except (OSError, subprocess.SubprocessError, strict_json.MalformedJSON):
            raise _failed() from None
        finally:
            self._end()
        if not isinstance(found, dict):
            raise _failed()
        if "error" in found:
            raise ToolFailed(found["error"]["message"])
        document: Facts = found
        return document

    def cancel(self) -> None:
        """Ask it to end, with the plugins that it may be loading. Whoever waits for its document hears of that."""
        if self._process.poll() is None:
            self._process.terminate()

    def _end(self) -> None:
        """End it, by force where it does not hear."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(number)
                try:
                    self._process.wait(_GRACE)
                except subprocess.TimeoutExpired:
                    continue
        if self._process.stdout is not None:
            self._process.stdout.close()


def _failed() -> ToolFailed:
    why = f"the process that looks, of {interpreter()}, has not answered"
    return ToolFailed(f"It could not be found out which tools there are: {why}.")


def main(patterns: Sequence[str]) -> None:
    """Be that process: print what is found, or `{"error": facts}`."""
    try:
        document = take_snapshot(patterns)
    except Exception as error:  # noqa: BLE001 - whoever started this reads one document, whatever happened
        document = {"error": defect(error).facts()}
    with os.fdopen(1, "wb", closefd=False) as stdout:
        stdout.write(strict_json.dumps(document))


def take_snapshot(patterns: Sequence[str]) -> Facts:
    """`{"tools", "watched"}`: the tools that are named or fit, each as of `as_document`, and what that depends on.

    tools: in the order of the patterns, what fits a pattern by name; a name that nothing has is `{"name", "state":
    "unknown", "error"}`. watched: `{"folders", "files", "seen"}`, seen being the fingerprint that `watching` makes of
    the other two, as it was before a plugin was loaded: where it changes, the answer may be another one.
    """
    folders = [os.path.abspath(folder) for folder in sys.path]
    seen = fingerprint(folders, [])
    claims = discovery.scan()
    names = list(dict.fromkeys(name for pattern in patterns for name in _fitting(pattern, claims)))
    known = [name for name in names if name in claims]
    files = sorted({configuration.default_path(), *(file for name in known for file in _files(claims[name]))})
    watched = {"folders": folders, "files": files, "seen": sorted(seen | fingerprint([], files))}
    found = dict(zip(known, _all_facts([Entry(name, claims[name]) for name in known]), strict=True))
    return {"tools": [found.get(name) or _unknown(name, claims) for name in names], "watched": watched}


def as_document(entry: Entry) -> Facts:
    """One tool: its name and state, why it is in that state, its schema, credentials and results, who offers it."""
    tool = entry.tool
    return {
        "name": entry.name,
        "state": entry.state,
        "error": entry.error.facts() if entry.error else None,
        "findings": [finding.as_dict() for finding in entry.findings],
        "schema": entry.schema,
        "credentials": entry.credentials,
        "results": entry.results,
        "tool": {name: getattr(tool, name) for name in tool.__slots__},
    }


def _fitting(pattern: str, claims: Mapping[str, object]) -> list[str]:
    """The names that a pattern stands for; itself where it is none."""
    if "*" not in pattern:
        return [pattern]
    return sorted(name for name in claims if fnmatchcase(name, pattern))


def _unknown(name: str, claims: Mapping[str, object]) -> Facts:
    from ferrule.admin.suggestions import unknown_tool

    return {"name": name, "state": UNKNOWN, "error": unknown_tool(name, claims).facts()}


def _files(claims: Sequence[InstalledTool]) -> list[str]:
    """The files from which the plugin comes, as far as they can be told without importing it."""
    modules = [claim.module for claim in claims]
    found = [file for module in modules for file in (schema_file.locate_module(module), schema_file.locate(module))]
    return [os.path.abspath(file) for file in found if file]


def _all_facts(entries: Sequence[Entry]) -> list[Facts]:
    """The facts of each, which so many processes find out together that no processor is left idle."""
    parts = min(len(entries), os.cpu_count() or 1, _AT_ONCE)
    if parts < 2:
        return _facts_of_all(entries)
    _import_ahead()
    readers = [_started(entries[part::parts]) for part in range(parts)]
    found: list[Facts] = [{}] * len(entries)
    for part, reader in enumerate(readers):
        with os.fdopen(reader, "rb") as stream:
            answer: Any = strict_json.loads(stream.read() or b'{"error": {"message": "A part of it was ended."}}')
        if isinstance(answer, dict):
            raise FerruleError(answer["error"]["message"])
        found[part::parts] = answer
    return found


def _facts_of_all(entries: Sequence[Entry]) -> list[Facts]:
    settings = configuration.read()
    return [as_document(inventory.examine(entry, settings, load=True)) for entry in entries]


def _import_ahead() -> None:
    """Import once what each of the processes would import, and each child in which a plugin is loaded."""
    import jsonschema  # noqa: F401 - the processes that are forked have it


def _started(entries: Sequence[Entry]) -> int:
    """Fork a process that finds out about these; gives the end of a pipe from which its answer comes.

    The children in which it loads plugins close what they inherit, so that nothing but the answer comes.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    if os.fork():
        os.close(writer)
        return reader
    try:
        stop_with_parent(parent)
        answer: object = _facts_of_all(entries)
    except Exception as error:  # noqa: BLE001 - as above
        answer = {"error": defect(error).facts()}
    with os.fdopen(writer, "wb") as stream:
        stream.write(strict_json.dumps(answer))
    os._exit(0)
