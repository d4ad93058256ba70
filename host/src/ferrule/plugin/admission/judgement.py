"""All that a call needs to know of its tool, worked out by reading config.toml: in a copy of this process.

Each part is there, or the failure with which it ended; a call fails for the first one that it wants.
"""

from __future__ import annotations

import marshal

from ferrule import discovery
from ferrule.config import configuration
from ferrule.schema import schema_file
from ferrule.storage import stamps
from ferrule.supervision.bounded import BoundedProcess
from ferrule.text import strict_json
from ferrule.trust.door import admission, kept_admission
from ferrule.trust.entries import may_be_secret
from ferrule.trust.lock import gate

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONObject
    from ferrule.trust.door.admission import Admission

    Found = TypeVar("Found")

_NEW = "is_new_version"


def judge_in_copy(name: str, *, is_called: bool = True) -> JSONObject:
    """The parts `content`, `tool`, `schema` and `grant` of what a call of a tool needs, and `failures` of the others.

    Where the tool is of another version than the one that was accepted, its hook is asked first what it wants to be
    told. That runs its code, in a process that is no copy of one which has read config.toml either. is_called: as of
    `judge`.
    """
    facts = _in_copy(lambda: judge(name, is_called=is_called))
    if facts.pop(_NEW, False):
        from ferrule.plugin.declared_credentials import ask_new_version

        path = configuration.default_path()
        configuration.provide(path, facts["content"])
        try:
            ask_new_version(discovery.InstalledTool(**facts["tool"]))
        finally:
            configuration.withdraw(path)
        facts = {**_in_copy(lambda: judge(name, is_called=is_called, is_asked=True)), "was_new_version": True}
    return facts


def find_policy_in_copy(name: str) -> JSONObject:
    """The part `policy`, for a tool whose folders depend on what other tools may; or `failures`."""

    def find() -> JSONObject:
        parts = _Parts()
        settings = configuration.read()
        tool = admission.find(name, settings)
        policy = parts.add("policy", admission.admit(tool, settings).policy)
        if policy is not None:
            parts.found["policy"] = {slot: getattr(policy, slot) for slot in policy.__slots__}
        return parts.found

    return _in_copy(find)


def _in_copy(find: Callable[[], JSONObject]) -> JSONObject:
    """What is found in a copy of this process, which learns of the lock alone what that has let pass."""
    facts, passed = _read_answer(BoundedProcess(lambda: _write_answer([find(), gate.passed()])).result(None))
    gate.note_passed(passed)
    found: JSONObject = facts
    return found


def _write_answer(answer: Any) -> bytes:
    """Bytes that hold what JSON does not: paths that are no UTF-8, and what only TOML knows, such as dates."""
    try:
        return b"m" + marshal.dumps(answer)
    except ValueError:
        import pickle

        return b"p" + pickle.dumps(answer)


def _read_answer(data: bytes) -> Any:
    if data[:1] == b"m":
        return marshal.loads(data[1:])  # noqa: S302 - a copy of this process wrote it
    import pickle

    return pickle.loads(data[1:])  # noqa: S301 - a copy of this process wrote it


def judge(name: str, *, is_called: bool = True, is_asked: bool = False, may_keep: bool = True) -> JSONObject:
    """See `judge_in_copy`, in this process; what was found is kept where that is possible.

    Args:
        is_called: whether what the tool asks for counts as accepted now; else there is no grant.
        is_asked: whether the hook of a new version has been asked. Where not, `is_new_version` says that it has to be,
            and there is no grant.
    """
    parts = _Parts()
    settings = parts.add("content", configuration.read)
    if settings is None:
        return parts.found
    parts.found["content"] = settings.visible_to((name,))
    tool = parts.add("tool", lambda: admission.find(name, settings))
    if tool is None:
        return parts.found
    parts.found["tool"] = tool.as_dict()
    parts.found["schema"] = parts.add("schema", lambda: schema_file.read_static(tool))
    admitted = admission.admit(tool, settings)
    if not is_asked and admitted.is_new_version:
        parts.found[_NEW] = True
        return parts.found
    if is_called:
        grant = parts.add("grant", admitted.accept)
        parts.found["grant"] = grant and grant.as_dict()
    elif is_asked:
        parts.add("grant", lambda: _require_not_held(admitted))
    if may_keep:
        _keep(admitted, parts.found, is_called=is_called)
    return parts.found


def _require_not_held(admitted: Admission) -> None:
    held = admitted.find_held()
    if held:
        raise held


class _Parts:
    """What is found, as JSON, with the failures of the parts that are not."""

    def __init__(self) -> None:
        self._failures: list[JSONObject] = []
        self.found: JSONObject = {"failures": self._failures}

    def add(self, part: str, find: Callable[[], Found]) -> Found | None:
        """What is found; None where that fails."""
        try:
            return find()
        except Exception as error:  # noqa: BLE001 - a defect of the host, too, is told where the call fails for it
            self._failures.append({"part": part, **_facts(error)})
        return None


def _facts(error: Exception) -> JSONObject:
    from ferrule.plugin.failures import explain_error

    facts, traceback = explain_error(error)
    return {"facts": facts, "traceback": traceback.decode(errors="replace")}


def _keep(admitted: Admission, found: JSONObject, *, is_called: bool) -> None:
    """Keep what was found, where the same is found once more between two looks at all files behind it."""
    tool, settings = admitted.tool, admitted.settings
    if admitted.is_new_version or not _may_be_kept(tool, settings, found, is_called=is_called):
        return
    from ferrule.trust.door.inputs import find_inputs

    stamped = stamps.stamps(find_inputs(tool, settings))
    again = judge(tool.name, is_called=is_called, may_keep=False)
    if again == found and stamps.hold(stamped):
        kept_admission.keep(tool.name, {**found, "is_kept": True}, stamped)


def _may_be_kept(tool: InstalledTool, settings: Configuration, found: JSONObject, *, is_called: bool) -> bool:
    """Not what ferrule.lock decides, which looks at the files itself, nor what depends on other tools or is no file.

    And nothing that may be a secret, wherever the admin has written it.
    """
    from ferrule.trust import records

    is_plain = not found["failures"] and not settings.is_locked
    if not is_plain or schema_file.find_module_file(tool.module) is None or _may_hold_secret(found["content"]):
        return False
    try:
        strict_json.dumps(found)
    except strict_json.Unrepresentable:
        return False
    is_accepted = not is_called or records.read(tool.name) is not None
    return is_accepted and not schema_file.may_declare(tool, "requires_ferrule")


def _may_hold_secret(value: object) -> bool:
    if isinstance(value, dict):
        return any(may_be_secret(key) or _may_hold_secret(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(map(_may_hold_secret, value))
    return isinstance(value, str) and "@" in value
