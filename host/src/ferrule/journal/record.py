"""A call becomes a line of the journal, as the table `[journal]` of config.toml says.

On the path of a call, if there is such a table.
"""

from __future__ import annotations

import os
import time

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONMapping, JSONObject

    T = TypeVar("T")

HASH, NONE, FULL = "hash", "none", "full"
_DEFAULT_MIB = 16.0
_MAX_MIB = 1 << 20
EXECUTABLE = "executable"
_MAX_ARGUMENTS_BYTES = 1 << 16  # larger ones are kept as a hash
_MAX_TEXT_CHARS = 256
_MAX_DENIED = 50
_KEY_BYTES = 32

_has_warned = False


class JournalSettings:
    """path: of the file that is written now. max_bytes: that it and the older files take together.

    arguments: what is kept of a call's arguments: `hash`, `none` or `full`.
    """

    __slots__ = ("arguments", "max_bytes", "path")

    def __init__(self, path: str, max_bytes: int, arguments: str) -> None:
        self.path = path
        self.max_bytes = max_bytes
        self.arguments = arguments

    @property
    def key_path(self) -> str:
        """The file with the key of the arguments' hashes."""
        return self.path + ".key"


def is_on(settings: Configuration) -> bool:
    """Whether calls are written down. A switch that is malformed is on: whoever wrote one wanted a journal."""
    table = settings.content.get("journal")
    if isinstance(table, dict):
        return table.get("enabled", False) is not False
    return table is not None and table is not False


def journal_settings(settings: Configuration) -> JournalSettings:
    """The journal's settings, whether it is on or not. What is malformed counts as not written."""
    table = _table(settings)
    path, mib, arguments = table.get("path"), table.get("max_mib"), table.get("arguments")
    return JournalSettings(
        _whole_path(path) if isinstance(path, str) and path else _default_path(),
        int((mib if _is_size(mib) else _DEFAULT_MIB) * (1 << 20)),  # type: ignore[operator] # a number, as it says
        arguments if arguments in (NONE, FULL) else HASH,
    )


def problems(settings: Configuration) -> list[tuple[str, str]]:
    """What is wrong with the table, as sentences, each with what to write instead."""
    content = settings.content.get("journal", {})
    if not isinstance(content, dict):
        return [("`journal` is not a table, so the journal is on with its defaults.", "Write [journal].")]
    table, found = _table(settings), []
    if not isinstance(table.get("enabled", False), bool):
        found.append(
            ("`enabled` of [journal] is neither true nor false, so the journal is on.", "Write enabled = true.")
        )
    if table.get("arguments", HASH) not in (HASH, NONE, FULL):
        found.append(("`arguments` of [journal] is unknown, so hashes are kept.", 'Write "hash", "none" or "full".'))
    if not _is_size(table.get("max_mib", _DEFAULT_MIB)):
        found.append((f"`max_mib` of [journal] is no size, so it is {_DEFAULT_MIB:g}.", "Write max_mib = 16."))
    if not isinstance(table.get("path", ""), str):
        found.append(("`path` of [journal] is no text, so the file is at its usual place.", 'Write path = "~/calls".'))
    unknown = [key for key in table if key not in ("enabled", "arguments", "max_mib", "path")]
    return [*found, *((f"[journal] has no key {key!r}, so it is not read.", "Take it out.") for key in unknown)]


def _table(settings: Configuration) -> JSONMapping:
    table = settings.content.get("journal")
    return table if isinstance(table, dict) else {}


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_MIB


def _whole_path(path: str) -> str:
    from ferrule.config import configuration

    return os.path.join(configuration.home(), path[2:]) if path.startswith("~/") else os.path.abspath(path)


def _default_path() -> str:
    from ferrule.config.own_folders import state_folder

    return os.path.join(state_folder(), "journal", "calls.jsonl")


def write_journal(
    settings: Configuration,
    tool: InstalledTool | str,
    arguments: JSONMapping | None,
    outcome: Outcome,
    *,
    sizes: tuple[int, int],
    seconds: float,
    way: str,
    client: JSONMapping | None,
    environ: Mapping[str, str] | None = None,
    likely_secrets: Callable[[], Iterable[str]] = tuple,
) -> str:
    """Write the line of a call that has ended just now, where the journal is on. Never raises.

    Args:
        tool: what was found, or the name that was asked for.
        sizes: bytes of the input and of the output.
        way, client, environ: see `caller_facts`.
        likely_secrets: see `record`.

    Returns:
        A line of warning where it cannot be written, once in a process; else an empty text.
    """
    if not is_on(settings):
        return ""
    call: JSONObject = {"tool": tool, "input_bytes": sizes[0], "output_bytes": sizes[1]}
    if not isinstance(tool, str):
        call |= {"tool": tool.name, "distribution": tool.distribution, "version": tool.version}
    return record(settings, call, arguments, outcome, caller_facts(way, client, environ), seconds, likely_secrets)


def record(
    settings: Configuration,
    call: JSONMapping,
    arguments: JSONMapping | None,
    outcome: Outcome,
    caller: JSONMapping,
    seconds: float,
    likely_secrets: Callable[[], Iterable[str]] = tuple,
) -> str:
    """Write the line of a call that has ended just now. Never raises.

    Args:
        call: `tool`, `distribution`, `version`, `input_bytes` and `output_bytes`, as far as they are known.
        arguments: as they came, None where they could not be read.
        caller: see `caller_facts`.
        seconds: that the call took.
        likely_secrets: what arguments are cleared of beside the call's own secrets, which a call that failed early has
            not told.

    Returns:
        A line of warning where the journal cannot be written, once in a process; else an empty text.
    """
    global _has_warned
    try:
        chosen = journal_settings(settings)
        entry = _entry(call, outcome, caller, seconds)
        if arguments is not None:
            entry.update(_kept(chosen, arguments, outcome.secrets, likely_secrets))
        _append(chosen, strict_json.dumps(entry) + b"\n")
        return ""
    except Exception as error:  # noqa: BLE001 - no call fails for the journal, whatever is wrong with it
        if _has_warned:
            return ""
        _has_warned = True
        reason = getattr(error, "strerror", None) or type(error).__name__
        return f"ferrule: the journal cannot be written: {reason}.\n"


def caller_facts(
    way: str = "", client: JSONMapping | None = None, environ: Mapping[str, str] | None = None
) -> JSONObject:
    """Who calls: `way`, and where it is known, `agent` (IKIGAI_AGENT_ID) and `client`.

    way: `run`, `serve`; else what FERRULE_CALLER says, by which a program that starts executables names itself.
    client: `name` and `version` of an MCP client. environ: the caller's, `os.environ` by default.
    """
    environ = os.environ if environ is None else environ
    facts: JSONObject = {"way": way or environ.get("FERRULE_CALLER", "").strip() or EXECUTABLE}
    agent = environ.get("IKIGAI_AGENT_ID")
    if agent:
        facts["agent"] = agent
    if client:
        facts["client"] = client
    return facts


def hash_arguments(key: bytes, arguments: JSONMapping) -> str:
    """HMAC-SHA-256 of the arguments as canonical JSON, as 64 hexadecimal digits. Raises Unrepresentable."""
    from ferrule.text.sha256 import hmac_sha256_hex

    return hmac_sha256_hex(key, strict_json.canonical(arguments))


def read_key(path: str) -> bytes:
    """The key of the hashes, which is made if there is none. Raises OSError."""
    from ferrule.storage.private_files import make_folder, read_file, remove_file, replace_file

    key = read_file(path, _KEY_BYTES)
    if key is not None and len(key) == _KEY_BYTES:
        return key
    make_folder(os.path.dirname(path))
    if key is not None:
        remove_file(path)
    draft = f"{path}.{os.urandom(8).hex()}"
    replace_file(draft, os.urandom(_KEY_BYTES))
    try:
        os.link(draft, path)  # fails where another process was faster, whose key counts
    except FileExistsError:
        pass
    finally:
        remove_file(draft)
    key = read_file(path, _KEY_BYTES)
    if key is None or len(key) != _KEY_BYTES:
        raise PermissionError(0, f"{path} is no file of this user alone")
    return key


def _append(chosen: JournalSettings, line: bytes) -> None:
    from ferrule.journal.file import append

    append(chosen.path, line, chosen.max_bytes)


def _entry(call: JSONMapping, outcome: Outcome, caller: JSONMapping, seconds: float) -> JSONObject:
    texts = {name: call.get(name) for name in ("tool", "distribution", "version")}
    denied = [{"kind": one.kind, "what": one.what} for one in outcome.denied[:_MAX_DENIED]]
    advice = outcome.failure.get("admin") if outcome.failure else None
    told: JSONObject = {
        **{name: text for name, text in texts.items() if text}, **caller, "denied": denied, "advice": advice,
    }  # fmt: skip
    told = _redacted(_legible_values(told), outcome.secrets)
    facts = outcome.failure
    return {
        "time": _timestamp(time.time() - seconds),
        **{name: value for name, value in told.items() if value},
        "outcome": "ok" if facts is None else _legible(str(facts.get("code", "INTERNAL_ERROR"))),
        "seconds": round(seconds, 4),
        "input_bytes": call.get("input_bytes", 0),
        "output_bytes": call.get("output_bytes", 0),
    }


def _kept(
    chosen: JournalSettings,
    arguments: JSONMapping,
    secrets: Iterable[str],
    likely_secrets: Callable[[], Iterable[str]],
) -> JSONObject:
    """What the admin wants to be kept of the arguments."""
    if chosen.arguments == NONE:
        return {}
    if chosen.arguments == FULL:
        whole = _redacted(dict(arguments), [*secrets, *likely_secrets()])
        if len(strict_json.dumps(whole)) <= _MAX_ARGUMENTS_BYTES:
            return {"arguments": whole}
    return {"arguments_hash": hash_arguments(read_key(chosen.key_path), arguments)}


def _redacted(value: JSONObject, secrets: Iterable[str]) -> JSONObject:
    if not secrets:
        return value
    from ferrule.text.redaction import redact_value

    return redact_value(value, secrets)


def _legible_values(value: Any) -> Any:
    """A JSON value whose texts are legible."""
    if isinstance(value, dict):
        return {name: _legible_values(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_legible_values(one) for one in value]
    return _legible(value) if isinstance(value, str) else value


def _legible(text: str) -> str:
    """A text that JSON holds, of a size that a line has room for; an agent and a client may say anything."""
    return text[:_MAX_TEXT_CHARS].encode(errors="replace").decode().replace("\0", "\ufffd")


def _timestamp(seconds: float) -> str:
    """`2026-05-01T12:00:00.123Z`."""
    whole = int(seconds)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int((seconds - whole) * 1000):03}Z"
