"""Lenses: the sites of a topic, from the files of this package and from those of the admin, which win.

A file `NAME.json` or `NAME.toml` has `description`, `sites` and perhaps `cx`, the id of a Google engine that is about
these sites. The admin's are in the folder that FERRULE_LENSES names, else in `lenses` beside `config.toml`.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule import ToolError
from ferrule_websearch import NotADomain, configuration_folder, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 1 << 20  # bytes of a file


class Lens(NamedTuple):
    """The sites of a topic. cx: an engine of Google's that has them, "" where there is none."""

    name: str
    description: str
    sites: tuple[str, ...]
    cx: str = ""


@cache
def lenses() -> dict[str, Path]:
    """The files of all lenses, by the lens's name in alphabetical order."""
    files = {path.stem: path for folder in _folders() for path in _files(folder)}
    return dict(sorted(files.items()))


def lens(name: str) -> Lens:
    """The lens of a name that `lenses` has. Raises ToolError CONFIG_ERROR where its file holds none."""
    path = lenses()[name]
    try:
        return _lens(name, _contents(path))
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        details = {"kind": "config", "retryable": False, "suggestedAction": "inform_user"}
        raise ToolError("CONFIG_ERROR", f"The lens in {path} cannot be used: {error}.", details=details) from None


def _folders() -> Iterator[Path]:
    yield Path(__file__).with_name("lenses")
    named = os.environ.get("FERRULE_LENSES", "").strip()
    yield Path(named) if named else Path(configuration_folder(), "lenses")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in (".json", ".toml") and path.is_file())
    except OSError:
        return []


def _contents(path: Path) -> Any:
    with path.open("rb") as file:
        data = file.read(_LARGEST)
    if path.suffix == ".json":
        return json.loads(data)
    import tomllib

    return tomllib.loads(data.decode())


def _lens(name: str, facts: Any) -> Lens:
    if not isinstance(facts, dict):
        raise TypeError("it is not an object")
    sites, cx = facts.get("sites", []), facts.get("cx", "")
    if not isinstance(sites, list) or not all(isinstance(site, str) for site in sites) or not isinstance(cx, str):
        raise TypeError("sites has to be a list of domains, and cx a text")
    if not sites and not cx:
        raise ValueError("it has neither sites nor cx")
    try:
        domains = tuple(dict.fromkeys(map(normalise, sites)))
    except NotADomain as error:
        raise ValueError(f"one of its sites is not a domain, {error}") from None
    return Lens(name, str(facts.get("description", "")), domains, cx.strip())
