"""What a Python project, or a script with metadata in it, requires. Both are only read."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.launch.plan import LaunchRefused

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_BEGIN, _END = "# /// script", "# ///"
_MAX_BYTES = 1 << 20
LOCKED = "--uv-lock"
"""An option of a launch alone: the folder of a project whose uv.lock says which versions are taken."""


class Project(NamedTuple):
    """requirements: the folder itself where it can be built, else what it depends on. options: for the installer."""

    requirements: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_project(folder: Path, extras: Sequence[str], groups: Sequence[str], *, is_wanted: bool) -> Project:
    """The project of a folder; an empty one where it has no pyproject.toml, unless it was asked for by name.

    Args:
        folder: an absolute path.
        extras: of the project, that are wanted.
        groups: of dependencies, that are wanted.
        is_wanted: whether a folder without a project is an error.

    Raises:
        LaunchRefused: there is no project, or it cannot be read.
    """
    file = folder / "pyproject.toml"
    if not file.is_file():
        if is_wanted:
            raise LaunchRefused(f"{folder} is no Python project: it has no pyproject.toml.", hint="Correct the path.")
        return Project()
    content = _read_toml(file)
    links = _find_links(content, folder)
    links += (LOCKED, str(folder)) if (folder / "uv.lock").is_file() else ()
    project = content.get("project", {})
    if "build-system" in content and isinstance(project, dict):
        extra = f"[{','.join(extras)}]" if extras else ""
        return Project(
            (f"{folder}{extra}",), links, (f"{folder} is copied as it is now: later changes need a refresh.",)
        )
    listed = _texts(project.get("dependencies")) if isinstance(project, dict) else []
    listed += [text for name in extras for text in _texts(project.get("optional-dependencies", {}).get(name))]
    listed += [text for name in groups for text in _texts(content.get("dependency-groups", {}).get(name))]
    return Project(tuple(listed), links)


def read_script(file: Path) -> list[str]:
    """The requirements in the block of metadata at a script's beginning, as in `# /// script`; none without one.

    Raises LaunchRefused where the block cannot be read.
    """
    try:
        lines = file.read_bytes()[:_MAX_BYTES].decode(errors="replace").splitlines()
    except OSError as error:
        raise LaunchRefused(f"{file} cannot be read: {error.strerror}.", hint="Correct the path.") from None
    if _BEGIN not in lines:
        return []
    block = lines[lines.index(_BEGIN) + 1 :]
    if _END not in block:
        raise LaunchRefused(f"The metadata in {file} has no end.", hint=f"End it with a line `{_END}`.")
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in block[: block.index(_END)])
    try:
        return _texts(tomllib.loads(text).get("dependencies"))
    except tomllib.TOMLDecodeError as error:
        raise LaunchRefused(f"The metadata in {file} is not TOML: {error}.", hint="Correct it.") from None


def _read_toml(file: Path) -> JSONObject:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LaunchRefused(f"{file} cannot be read: {error}.", hint="Correct it.") from None


def _find_links(content: JSONObject, folder: Path) -> tuple[str, ...]:
    """The folders of the project itself in which uv looks for packages."""
    table = content.get("tool", {}).get("uv", {})
    named = [Path(folder, text).resolve() for text in _texts(table.get("find-links")) if "://" not in text]
    inside = [path for path in named if path.is_relative_to(folder) and path.is_dir()]
    return tuple(part for path in inside for part in ("--find-links", str(path)))


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
