"""A call becomes a line of the journal. On the path of a call, where the journal is on."""

from __future__ import annotations

import os
import time

from ferrule.journal.settings import FULL, NONE, journal_settings
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    from ferrule.config.configuration import Configuration
    from ferrule.journal.settings import JournalSettings
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.text.json_types import JSONMapping, JSONObject

    T = TypeVar("T")

EXECUTABLE = "executable"
_MAX_ARGUMENTS_BYTES = 1 << 16  # larger ones are kept as a hash
_MAX_TEXT_CHARS = 256
_MAX_DENIED = 50
_KEY_BYTES = 32

_has_warned = False


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
