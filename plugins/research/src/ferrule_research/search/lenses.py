"""Lenses: the sites of a topic, from the files of this package and from those of the admin, which win.

A file `NAME.json` or `NAME.toml` has `description`, `sites` and perhaps `cx`, the id of a Google engine that is about
these sites. The admin's are in the folder that FERRULE_LENSES names, else in `lenses` in the folder of `config.toml`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ferrule_research.search.errors import configuration_error
from ferrule_websearch import InvalidDomain, configuration_folder, normalise_domain

_MAX_FILE_BYTES = 1 << 20


class Lens(NamedTuple):
    """The sites of a topic. cx: an engine of Google's that has them, "" if there is none."""

    name: str
    description: str
    sites: tuple[str, ...]
    cx: str = ""


@cache
def find_lenses() -> dict[str, Path]:
    """The files of all lenses, by the lens's name in alphabetical order."""
    files = {path.stem: path for folder in _folders() for path in _files(folder)}
    return dict(sorted(files.items()))


def read_lens(name: str) -> Lens:
    """The lens of a name that `find_lenses` has. Raises ToolError CONFIG_ERROR where its file holds none."""
    path = find_lenses()[name]
    try:
        return _lens(name, _contents(path))
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise configuration_error(f"The lens in {path} cannot be used: {error}.") from None


def _folders() -> Iterator[Path]:
    yield Path(__file__).with_name("lenses")
    named = os.environ.get("FERRULE_LENSES", "").strip()
    yield Path(named) if named else Path(configuration_folder(), "lenses")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in (".json", ".toml") and path.is_file())
    except OSError:
        return []


def _contents(path: Path) -> object:
    with path.open("rb") as file:
        data = file.read(_MAX_FILE_BYTES)
    if path.suffix == ".json":
        return json.loads(data)
    import tomllib

    return tomllib.loads(data.decode())


def _lens(name: str, facts: object) -> Lens:
    if not isinstance(facts, dict):
        raise TypeError("it is not an object")
    sites, cx = facts.get("sites", []), facts.get("cx", "")
    if not isinstance(sites, list) or not all(isinstance(site, str) for site in sites) or not isinstance(cx, str):
        raise TypeError("sites has to be a list of domains, and cx a text")
    if not sites and not cx:
        raise ValueError("it has neither sites nor cx")
    try:
        domains = tuple(dict.fromkeys(map(normalise_domain, sites)))
    except InvalidDomain as error:
        raise ValueError(f"one of its sites is not a domain, {error}") from None
    return Lens(name, str(facts.get("description", "")), domains, cx.strip())
