"""Which tools are installed, and in which state each is. Another process finds out, since it loads each plugin.

The caller may have threads, which a fork does not copy. So an interpreter is started, which has this one's paths, sees
what is installed by now, looks at several tools at a time, and prints one JSON object.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from ferrule import discovery
from ferrule.config import configuration
from ferrule.config.configuration import Configuration
from ferrule.errors import FerruleError, ToolFailed, WorkFailed
from ferrule.installed import inventory
from ferrule.installed.fingerprint import take_fingerprint
from ferrule.installed.inventory import Entry
from ferrule.plugin.failures import explain_error
from ferrule.schema import schema_file
from ferrule.supervision.bounded import BoundedProcess
from ferrule.supervision.exception_text import defect
from ferrule.supervision.processes import stop_with_parent
from ferrule.supervision.python_process import interpreter, python_command
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.discovery import InstalledTool
    from ferrule.errors import ErrorFacts
    from ferrule.installed.inventory import CredentialFacts, ResultPolicyFacts
    from ferrule.text.json_types import JSONObject

ALL = "*"
UNKNOWN = "unknown"

_GRACE_SECONDS = 1.0  # in which the process ends when it is asked to
_MAX_PROCESSES = 8  # that load plugins, as far as there are processors for them
_MAX_PART_BYTES = 1 << 30


class _ToolState(TypedDict):
    name: str
    state: str
    error: ErrorFacts | None


class ToolFacts(_ToolState, total=False):
    """One tool. A name that nothing has comes with the state `unknown`, and without the facts below `error`.

    state: `ok`, `broken`, `clash`, `invalid`, `disabled`, `held`, `differs` or `unknown`. error: why it is in that
    state, None where it is well. findings: what the schema rules say. schema: None where it is not known. credentials:
    those that it declares, with the arguments of `ferrule.Credential`. results: see `ResultPolicy.as_dict()`, empty
    where it was not loaded. declaration: what its `tool.json` says, with the keys of the file that are there. warnings:
    `{"id", "message", "fix"}` of what has no effect. tool: the arguments of `InstalledTool`.
    """

    findings: list[JSONObject]
    schema: JSONObject | None
    credentials: list[CredentialFacts]
    results: ResultPolicyFacts
    declaration: JSONObject
    warnings: list[JSONObject]
    tool: JSONObject


class Watched(TypedDict):
    """What a snapshot depends on.

    folders: where distributions may be installed. files: of the plugins and the configuration. seen: their fingerprint,
    as a list, from before a plugin was loaded. Where `take_fingerprint(folders, files)` is another one now, the
    snapshot is out of date.
    """

    folders: list[str]
    files: list[str]
    seen: list[tuple[str, int, int, int]]


class Snapshot(TypedDict):
    """The tools that were asked for, and what their facts depend on."""

    tools: list[ToolFacts]
    watched: Watched


class InventorySnapshot:
    """A look at what is installed, which begins at once. The thread that begins it must not end before it.

    patterns: names of tools, or patterns as of fnmatch, which stand for what fits. environ: of the process and the
    plugins, else the caller's. Raises ToolFailed where no process can be started.
    """

    def __init__(self, patterns: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        try:
            self._process = subprocess.Popen(
                python_command("ferrule.installed.snapshot:main", *patterns),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if environ.get("FERRULE_DEBUG") else subprocess.DEVNULL,
                env=dict(environ),
                start_new_session=True,  # Ctrl-C is for the caller, who ends this process in order
            )
        except (OSError, subprocess.SubprocessError):
            raise _failed() from None

    def document(self, seconds: float) -> Snapshot:
        """Wait for what was found. Raises ToolFailed where nothing could be found out within these seconds."""
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
        snapshot: Snapshot = found  # type: ignore[assignment] # the process is ferrule's own
        return snapshot

    def cancel(self) -> None:
        """Ask it to end, with the plugins that it may be loading. `document` raises ToolFailed then."""
        if self._process.poll() is None:
            self._process.terminate()

    def _end(self) -> None:
        """End it, by force where it does not hear."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(number)
                try:
                    self._process.wait(_GRACE_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        if self._process.stdout is not None:
            self._process.stdout.close()


def _failed() -> ToolFailed:
    why = f"the process that looks, of {interpreter()}, has not answered"
    return ToolFailed(f"It could not be found out which tools there are: {why}.")


def main() -> None:
    """Be that process: print the snapshot of the patterns in `sys.argv`, or `{"error": facts}`."""
    document: Snapshot | dict[str, object]
    try:
        document = take_snapshot(sys.argv[1:])
    except Exception as error:  # noqa: BLE001 - the caller reads one document, whatever happened
        document = {"error": explain_error(error)[0]}
    with os.fdopen(1, "wb", closefd=False) as stdout:
        stdout.write(strict_json.dumps(document))


def take_snapshot(patterns: Sequence[str]) -> Snapshot:
    """Load the tools that are named or fit, in the order of the patterns, those of one pattern by name."""
    folders = [os.path.abspath(folder) for folder in sys.path]
    seen = take_fingerprint(folders, [])
    claims = discovery.scan()
    names = list(dict.fromkeys(name for pattern in patterns for name in _fitting(pattern, claims)))
    known = [name for name in names if name in claims]
    configured = (configuration.default_path(), Configuration(configuration.default_path(), {}, {}).lock_path)
    files = sorted({*configured, *_locked(known, claims), *(file for name in known for file in _files(claims[name]))})
    all_seen = sorted(seen | take_fingerprint([], files))
    found = _load_all([Entry(name, claims[name]) for name in known])
    return {
        "tools": [found.get(name) or _unknown(name, claims) for name in names],
        "watched": {"folders": folders, "files": files, "seen": all_seen},
    }


def facts_of(entry: Entry) -> ToolFacts:
    """What a snapshot says of one tool."""
    return {
        "name": entry.name,
        "state": entry.state,
        "error": entry.error.facts() if entry.error else None,
        "findings": [finding.as_dict() for finding in entry.findings],
        "schema": None if entry.state == inventory.INVALID else entry.schema,  # which may hide something
        "credentials": entry.credentials,
        "results": entry.results,
        "declaration": entry.declaration.as_dict(),
        "warnings": [warning.as_dict() for warning in entry.warnings],
        "tool": entry.tool.as_dict(),
    }


def _fitting(pattern: str, claims: Mapping[str, object]) -> list[str]:
    """The names that a pattern stands for; itself where it is none."""
    if "*" not in pattern:
        return [pattern]
    return sorted(name for name in claims if fnmatchcase(name, pattern))


def _unknown(name: str, claims: Mapping[str, object]) -> ToolFacts:
    from ferrule.installed.suggestions import unknown_tool

    return {"name": name, "state": UNKNOWN, "error": unknown_tool(name, claims).facts()}


def _files(claims: Sequence[InstalledTool]) -> list[str]:
    """The files from which the plugin comes, as far as they can be told without importing it."""
    pairs = ((schema_file.find_module_file(claim.module), schema_file.find_for_tool(claim)) for claim in claims)
    found = [file for pair in pairs for file in pair if file]
    found += [file for claim in claims for file in schema_file.find_beside(claim.value, schema_file.DECLARATION)]
    return list(map(os.path.abspath, found))


def _locked(names: Sequence[str], claims: Mapping[str, Sequence[InstalledTool]]) -> Iterator[str]:
    """All files by which tools are held to ferrule.lock, where they are."""
    if configuration.read().is_locked:
        from ferrule.trust.lock.installed_files import InstalledFiles

        for name in names:
            yield from (
                path for claim in claims[name] for path in InstalledFiles(claim).paths() if os.path.isfile(path)
            )


def _load_all(entries: Sequence[Entry]) -> dict[str, ToolFacts]:
    """The facts by name, which so many processes find out together that no processor is left idle."""
    count = min(len(entries), os.cpu_count() or 1, _MAX_PROCESSES)
    if count < 2:
        return {facts["name"]: facts for facts in _load(entries)}
    import jsonschema  # noqa: F401 - once, for all the processes that are forked, and the children that load plugins

    parent = os.getpid()
    works = [partial(_load_part, entries[start::count], parent) for start in range(count)]
    processes = [BoundedProcess(work, max_bytes=_MAX_PART_BYTES) for work in works]
    try:
        return {facts["name"]: facts for process in processes for facts in process.result(None)}
    except WorkFailed:
        raise FerruleError("A part of it was ended.") from None


def _load_part(entries: Sequence[Entry], parent: int) -> list[ToolFacts]:
    """The work of one process. It is asked to end with its parent, not killed: it has to end its own first."""
    stop_with_parent(parent)
    try:
        return _load(entries)
    except Exception as error:
        raise defect(error) from error


def _load(entries: Sequence[Entry]) -> list[ToolFacts]:
    settings = configuration.read()
    return [facts_of(inventory.examine(entry, settings, load=True)) for entry in entries]
