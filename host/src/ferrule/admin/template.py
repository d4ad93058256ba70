"""The template plugin, and a copy of it under another name."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from ferrule.errors import FerruleError
from ferrule.text.names import executable_name

NAME = "example"  # what the template's tool is called
_TOOL_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_MAX_NAME_CHARS = 64
_LEFT_OUT = {"__pycache__", "build", "dist"}
_TEXTS = (".py", ".json", ".md", ".toml", ".typed")


def folder() -> str:
    """Where the template is: in the package, or, where ferrule is installed from its repository, in `plugins/`.

    Raises FerruleError where it is in neither.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    repository = os.path.dirname(os.path.dirname(os.path.dirname(package)))
    for path in (os.path.join(package, "template"), os.path.join(repository, "plugins", NAME)):
        if os.path.isfile(os.path.join(path, "pyproject.toml")):
            return path
    raise FerruleError("The template is missing from this installation.", hint="Install ferrule anew.")


def create(name: str, parent: str) -> str:
    """Copy the template into `PARENT/ferrule-NAME`, with the new name in files and in their names; its path.

    Raises FerruleError for a name that is not snake_case, and where the folder is there already. A folder that could
    not be filled is taken away again.
    """
    if not _TOOL_NAME.fullmatch(name) or len(name) > _MAX_NAME_CHARS:
        raise FerruleError(
            f"{name!r} is no good name for a tool.", hint="Use words of small letters, joined with _: web_fetch."
        )
    target = os.path.join(parent, f"ferrule-{name.replace('_', '-')}")
    if os.path.lexists(target):
        raise FerruleError(f"{target} is there already; it was left as it is.")
    source = folder()
    os.makedirs(target)
    try:
        for path in _files(source):
            _copy(os.path.join(source, path), os.path.join(target, renamed(path, name)), name)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def renamed(text: str, name: str) -> str:
    """The text with the template's names replaced: distribution, module, executable, tool."""
    dashed = name.replace("_", "-")
    for old, new in (
        (f"ferrule-{NAME}", f"ferrule-{dashed}"),
        (f"ferrule_{NAME}", f"ferrule_{name}"),
        (f"test_{NAME}", f"test_{name}"),
        (executable_name(NAME), executable_name(name)),
    ):
        text = text.replace(old, new)
    return re.sub(rf"(?<![\w-]){NAME}(?![\w-])", name, text)


def _files(source: str) -> Iterator[str]:
    for place, folders, files in os.walk(source):
        folders[:] = sorted(one for one in folders if one not in _LEFT_OUT and not one.startswith("."))
        folders[:] = [one for one in folders if not one.endswith(".egg-info")]
        for file in sorted(files):
            if file.endswith(_TEXTS):
                yield os.path.relpath(os.path.join(place, file), source)


def _copy(source: str, target: str, name: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, encoding="utf-8") as file:
        text = file.read()
    with open(target, "x", encoding="utf-8") as file:
        file.write(renamed(text, name))
