"""Which credentials a tool may be told: those that it has named as data, before its code runs for a call.

They are those of the key `credentials` in `tool.json`. Where no file has it, they are those that the hook names, which
is asked once, in a process that is held and has no secrets, and recorded. What the process of a call says is never
taken for it: there the plugin's code can say anything.
"""

from __future__ import annotations

import os
import time

from ferrule.schema import schema_file
from ferrule.storage import private_files
from ferrule.storage.state import state_folder
from ferrule.text import strict_json
from ferrule.text.names import record_name
from ferrule.tool.credentials import Credential

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel import Channel
    from ferrule.text.json_types import JSONMapping, JSONObject

KEY = "credentials"
FOLDER = "declared_credentials"
_MAX_BYTES = 1 << 18
_HOOK_SECONDS = 10.0
_MEMORY_MIB = 1024


def find_declared(tool: InstalledTool) -> list[Credential] | None:
    """The credentials of a tool, without running its code; None where they are not known.

    A declaration that cannot be read names none.
    """
    named = _named_in_files(tool)
    if named is not None:
        return named
    found = _read_record(tool.name)
    return credentials_in(found.get(KEY)) if found.get("of") == _identity(tool) else None


def require_declared(tool: InstalledTool, asked: Sequence[Credential]) -> list[Credential]:
    """The credentials of a tool, for which its hook is asked where they are not known.

    asked: those that the process of a call wants. Raises FerruleError where the plugin fails.
    """
    known = find_declared(tool)
    is_whole = known is not None and all(one.is_one_of(known) for one in asked)
    if known is None or not (is_whole or _named_in_files(tool) is not None or not _is_editable(tool)):
        known = _ask_hook(tool)
        record_declared(tool, known)
    return known


def record_declared(tool: InstalledTool, credentials: Sequence[Credential]) -> None:
    """Keep what the hook of a tool has named. A state folder that cannot be written to holds nothing up."""
    content = {"tool": tool.name, "of": _identity(tool), KEY: [one.as_dict() for one in credentials]}
    if content == _read_record(tool.name):
        return
    path = _path(tool.name)
    try:
        private_files.make_folder(os.path.dirname(path))
        private_files.replace_file(path, strict_json.dumps(content) + b"\n")
    except OSError:
        return


def credentials_in(listed: object) -> list[Credential]:
    """The credentials that a list of objects holds, without what is none."""
    found = (credential_of(one) for one in listed) if isinstance(listed, list) else ()
    return [one for one in found if one is not None]


def credential_of(facts: object) -> Credential | None:
    """The credential that an object describes, with `name`, `environment` and `path`; None where it describes none."""
    texts = {name: facts.get(name) for name in ("name", "environment", "path")} if isinstance(facts, dict) else {}
    if not isinstance(facts, dict) or not all(_is_name(text) for text in texts.values()):
        return None
    described = {name: text for name in ("url", "description") if isinstance(text := facts.get(name), str)}
    return Credential(**texts, **described, secret=facts.get("secret") is not False)  # type: ignore[arg-type]  # texts


def is_configured(tool: InstalledTool, settings: Configuration, environ: Mapping[str, str]) -> bool | None:
    """Whether all is set that a tool declares to need: its credentials, and its settings.

    None where that is not known without running its code, which can also say what is wrong.
    """
    from ferrule.errors import FerruleError
    from ferrule.permissions import credential_claims
    from ferrule.tool.credential_values import LocalValues

    known = find_declared(tool)
    if known is None or credential_claims.refusals(credential_claims.find_claims(tool, known)):
        return None
    values, table = LocalValues(environ), settings.tool(tool.name)
    try:
        is_set = all(values.find(one) is not None for one in known)
    except FerruleError:
        return None
    needs = _nearest(tool, "settings")
    needed = [one for one in needs if isinstance(one, dict)] if isinstance(needs, list) else []
    return is_set and all(_is_setting_set(one, table, environ) for one in needed)


def _is_setting_set(need: JSONMapping, table: JSONMapping, environ: Mapping[str, str]) -> bool:
    return bool(environ.get(str(need.get("variable")), "").strip() or table.get(str(need.get("setting"))))


def _named_in_files(tool: InstalledTool) -> list[Credential] | None:
    """Those of the nearest `tool.json` that has the key; None where none has."""
    if not schema_file.may_declare(tool, KEY):
        return None
    listed = _nearest(tool, KEY)
    return None if listed is None else credentials_in(listed)


def _nearest(tool: InstalledTool, key: str) -> object:
    """The value of a key in the nearest `tool.json` that has it, None where none has."""
    for path in schema_file.find_beside(tool.value, schema_file.DECLARATION):
        try:
            content = strict_json.loads(schema_file.read_file(path))
        except (OSError, ValueError):
            return []
        if isinstance(content, dict) and key in content:
            return content[key]
    return None


def _ask_hook(tool: InstalledTool) -> list[Credential]:
    from ferrule.errors import ToolError
    from ferrule.permissions.load_policy import policy_for_loading
    from ferrule.supervision.supervisor import supervise

    def ask(channel: Channel) -> None:
        from ferrule.tool.loader import load

        channel.result({KEY: [one.as_dict() for one in load(tool).credentials()]})

    outcome = supervise(
        ask,
        deadline=time.monotonic() + _HOOK_SECONDS,
        memory=_MEMORY_MIB,
        size_limit=_MAX_BYTES,
        policy=policy_for_loading(tool, has_keys=False),
    )
    if outcome.result is None:
        raise ToolError.from_facts(outcome.failure or {})
    return credentials_in(strict_json.loads_object(outcome.result).get(KEY))


def _identity(tool: InstalledTool) -> list[object]:
    """What says that the code of a tool is the one that was asked: it cannot change its own files."""
    file = schema_file.find_module_file(tool.module)
    try:
        status = os.stat(file) if file else None
    except OSError:
        status = None
    return [tool.source, tool.value, file, status.st_mtime_ns if status else 0, status.st_size if status else 0]


def _is_editable(tool: InstalledTool) -> bool:
    """Whether it is installed from the folder of its author, where any file of it may have changed."""
    try:
        facts = strict_json.loads(schema_file.read_file(os.path.join(tool.metadata, "direct_url.json")))
    except (OSError, ValueError):
        return False
    folder = facts.get("dir_info") if isinstance(facts, dict) else None
    return isinstance(folder, dict) and folder.get("editable") is True


def _is_name(text: object) -> bool:
    return isinstance(text, str) and bool(text) and "\0" not in text and "=" not in text


def _path(tool: str) -> str:
    return os.path.join(state_folder(), FOLDER, f"{record_name(tool)}.json")


def _read_record(tool: str) -> JSONObject:
    try:
        data = private_files.read_file(_path(tool), _MAX_BYTES)
        return strict_json.loads_object(data) if data else {}
    except (OSError, ValueError):
        return {}
