"""What a tool says that it needs, as data: the variables and the keys of the credentials file that it may be told.

They are those of the key `credentials` in `tool.json`. Where no file has it, they are what its hook has answered to the
host, which is recorded here for the code that answered.
"""

from __future__ import annotations

import os

from ferrule.config.own_folders import state_folder
from ferrule.schema import schema_file
from ferrule.storage import private_files
from ferrule.text import strict_json
from ferrule.text.names import record_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping, JSONObject

KEY = "credentials"
FOLDER = "declared_credentials"
_MAX_BYTES = 1 << 18
_HOOK = b"credentials"  # the hook's name, which a plugin that has one cannot leave out
_CODE = (".py", ".pyc", ".so")
_MAX_FILES = 2_000


def find_listed(tool: InstalledTool) -> list[object] | None:
    """What a tool declares, as the objects of the list; None where that is not known without running its code.

    A declaration that cannot be read lists nothing.
    """
    listed = listed_in_files(tool)
    if listed is not None:
        return listed
    record = _read(tool.name)
    found = record.get(KEY) if record.get("of") == _identity(tool) else None
    return found if isinstance(found, list) else None


def find_keys(tool: InstalledTool) -> tuple[str, ...] | None:
    """The names of the variables and of the keys of the file that a tool may be told; None see `find_listed`."""
    listed = find_listed(tool)
    return None if listed is None else tuple(sorted({key for one in listed for key in _keys(one)}))


def listed_in_files(tool: InstalledTool) -> list[object] | None:
    """What the nearest `tool.json` lists that has the key; None where none has."""
    if not schema_file.may_declare(tool, KEY):
        return None
    listed = nearest(tool, KEY)
    return None if listed is None else listed if isinstance(listed, list) else []


def nearest(tool: InstalledTool, key: str) -> object:
    """The value of a key in the nearest `tool.json` that has it, None where none has."""
    for path in schema_file.find_beside(tool.value, schema_file.DECLARATION):
        try:
            content = strict_json.loads(schema_file.read_file(path))
        except (OSError, ValueError):
            return []
        if isinstance(content, dict) and key in content:
            return content[key]
    return None


def record(tool: InstalledTool, listed: Sequence[JSONMapping] | None) -> bool:
    """Keep what the hook of a tool has answered, None where it gave no answer; whether it is kept."""
    content = {"tool": tool.name, "of": _identity(tool), KEY: None if listed is None else list(listed)}
    if content == _read(tool.name):
        return True
    path = path_of(tool.name)
    try:
        private_files.make_folder(os.path.dirname(path))
        private_files.replace_file(path, strict_json.dumps(content) + b"\n")
    except OSError:
        return False
    return True


def has_open_hook(tool: InstalledTool, looked: dict[str, bool] | None = None) -> bool:
    """Whether a tool may have a hook that this code of it has not been asked for, by the text of its package alone.

    looked: what is known of packages by their folders, for a caller that asks for several tools. It is added to.
    """
    if find_listed(tool) is not None or _read(tool.name).get("of") == _identity(tool):
        return False
    file = schema_file.find_module_file(tool.module)
    if file is None:
        return True
    head, _, rest = tool.module.partition(".")
    top = schema_file.find_module_file(head) if rest else file
    folder = os.path.dirname(top or file)
    is_package = os.path.basename(top or file) == "__init__.py" or top is None
    looked = {} if looked is None else looked
    place = folder if is_package else file
    if place not in looked:
        looked[place] = _has_hook(_walk(folder) if is_package else iter([file]))
    return looked[place]


def _has_hook(paths: Iterator[str]) -> bool:
    return any(number >= _MAX_FILES or _has_word(path) for number, path in enumerate(paths))


def _walk(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        yield from (os.path.join(parent, name) for name in names if name.endswith(_CODE))


def _has_word(path: str) -> bool:
    try:
        return _HOOK in schema_file.read_file(path)
    except OSError:
        return False
    except ValueError:
        return True  # it is too large to be looked through


def _keys(facts: object) -> list[str]:
    found = [facts.get(name) for name in ("environment", "path")] if isinstance(facts, dict) else []
    return [one for one in found if isinstance(one, str) and one]


def _identity(tool: InstalledTool) -> list[object]:
    """What says that the code of a tool is the one that was asked: it cannot change its own files."""
    file = schema_file.find_module_file(tool.module)
    try:
        status = os.stat(file) if file else None
    except OSError:
        status = None
    return [tool.source, tool.value, file, status.st_mtime_ns if status else 0, status.st_size if status else 0]


def path_of(tool: str) -> str:
    """Where it is recorded what the hook of a tool has named."""
    return os.path.join(state_folder(), FOLDER, f"{record_name(tool)}.json")


def _read(tool: str) -> JSONObject:
    try:
        data = private_files.read_file(path_of(tool), _MAX_BYTES)
        return strict_json.loads_object(data) if data else {}
    except (OSError, ValueError):
        return {}
