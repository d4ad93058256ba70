"""The files of distributions: of those that are installed, and of those that were unpacked to be read.

Nothing is imported. A file is named by its path from the folder that Python imports from, and by a path with a leading
slash where it is elsewhere: `/bin/web-fetch-tool` from the folder of the environment, `//etc/hosts` outside of it.
"""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ferrule import discovery
from ferrule.text.names import same_distribution

if TYPE_CHECKING:
    from importlib.metadata import PathDistribution

METADATA_ENDINGS = (".dist-info", ".egg-info")
_PREFIX = re.compile(r"(?P<prefix>.*?)/(?:local/)?lib(?:64)?/python[^/]*/(?:site|dist)-packages")
_GROUPS = b"ferrule."
_RECORD_COLUMNS = 3
_MAX_RECORD_BYTES = 1 << 24
_MAX_HEAD_BYTES = 1 << 16
_NAME_LINE = re.compile(r"^name:\s*(?P<name>\S+)\s*$", re.IGNORECASE | re.MULTILINE)


class DistributionFiles(NamedTuple):
    """One distribution. name: normalised, as `ferrule-fetch`. metadata: the folder with its metadata. site: the folder
    that it stands in. digests: its files as RECORD has them, each with its digest, empty where RECORD has none. tops:
    what the names of its files begin with, folders and files that stand in none; empty for one elsewhere.
    """

    name: str
    version: str
    metadata: str
    site: str
    digests: dict[str, str]
    tops: frozenset[str]

    @property
    def source(self) -> str:
        """The distribution and its version, as in `ferrule-fetch 0.1.0`."""
        return f"{self.name} {self.version}".strip()

    @property
    def stdlib_view(self) -> PathDistribution:
        """The same distribution as `importlib.metadata` reads it."""
        from importlib.metadata import PathDistribution

        return PathDistribution(Path(self.metadata))

    def entry_points(self) -> list[tuple[str, str]]:
        """The entry points of ferrule, as (group, name)."""
        try:
            if _GROUPS not in Path(self.metadata, "entry_points.txt").read_bytes():
                return []  # as most have none of these, which costs more to find out otherwise
            found = self.stdlib_view.entry_points
        except (OSError, ValueError, TypeError, AttributeError):  # as of a line that is none
            return []
        return [(one.group, one.name) for one in found if one.group.startswith("ferrule.")]

    def told_name(self) -> str:
        """The normalised name that METADATA has; empty where nothing can be read. Discovery goes by the folder's."""
        for file in ("METADATA", "PKG-INFO"):
            try:
                with open(os.path.join(self.metadata, file), "rb") as opened:
                    head = opened.read(_MAX_HEAD_BYTES).partition(b"\n\n")[0].decode(errors="replace")
            except OSError:
                continue
            found = _NAME_LINE.search(head)
            return same_distribution(found["name"]) if found else ""
        return ""

    def requirements(self) -> list[str]:
        """What its metadata says that it requires, by normalised names; empty where nothing can be read."""
        from packaging.requirements import InvalidRequirement, Requirement

        names = []
        for text in self._requires():
            try:
                names.append(same_distribution(Requirement(text).name))
            except InvalidRequirement:
                continue
        return names

    def _requires(self) -> list[str]:
        try:
            return self.stdlib_view.requires or []
        except (OSError, ValueError, UnicodeError):
            return []


def installed() -> list[DistributionFiles]:
    """Every distribution on the path of imports, also those that another one of their name hides."""
    own = os.path.dirname(os.__file__)
    folders = [folder for folder in dict.fromkeys(sys.path) if folder not in (own, f"{own}/lib-dynload")]
    return [one for folder in folders for one in in_folder(folder)]


def in_folder(site: str) -> Iterator[DistributionFiles]:
    """The distributions of one folder; none where it cannot be read."""
    for name in names_in(site):
        if name.endswith(METADATA_ENDINGS):
            metadata = os.path.join(site, name)
            own, version = discovery.name_and_version(metadata)
            digests = _record(metadata, site)
            tops = frozenset({name.partition("/")[0] for name in digests})
            yield DistributionFiles(own, version, metadata, site, digests, tops)


def names_in(folder: str) -> list[str]:
    """What the folder holds, in the order of the alphabet; nothing where it cannot be read."""
    try:
        return sorted(os.listdir(folder or "."))
    except OSError:
        return []


def sites_under(prefix: str) -> list[str]:
    """The folders below that hold distributions, in an environment that was made to be read."""
    return [
        parent
        for parent, folders, _ in os.walk(prefix)
        if any(name.endswith(METADATA_ENDINGS) for name in folders) and _PREFIX.fullmatch(parent)
    ]


def place(path: str, site: str) -> str:
    """How a file is named, by its absolute path."""
    path = os.path.normpath(path)
    if path.startswith(f"{site}/"):
        return path[len(site) + 1 :]
    prefix = _prefix(site)
    return path[len(prefix) :] if path.startswith(f"{prefix}/") else f"/{path}"


def path_of(name: str, site: str) -> str:
    """The path of a file that is named as here."""
    if name.startswith("//"):
        return name[1:]
    return f"{_prefix(site)}{name}" if name.startswith("/") else os.path.join(site, name)


def unlisted(prefix: str, found: Iterable[DistributionFiles]) -> list[str]:
    """The files of an environment that was made to be read which no RECORD in it has."""
    known = {os.path.realpath(path_of(name, one.site)) for one in found for name in one.digests}
    for one in (one for one in found if one.digests):
        own = os.path.realpath(one.metadata)
        known.update(os.path.join(own, name) for name in names_in(own))
    sites = {one.site for one in found} or {prefix}
    return [place(path, _site_of(path, sites)) for path in _walk(os.path.realpath(prefix)) if path not in known]


def _site_of(path: str, sites: Iterable[str]) -> str:
    return next((site for site in sites if path.startswith(f"{site}/")), min(sites))


def _walk(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        # uv keeps a lock in the folder that it installs into.
        yield from (os.path.join(parent, name) for name in names if (parent, name) != (folder, ".lock"))


def _prefix(site: str) -> str:
    found = _PREFIX.fullmatch(site)
    return found["prefix"] if found else site


def _record(metadata: str, site: str) -> dict[str, str]:
    """The files that RECORD has; nothing if there is none, as in what the system's installer has put there."""
    try:
        with open(os.path.join(metadata, "RECORD"), encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file.read(_MAX_RECORD_BYTES).splitlines()))
    except (OSError, ValueError, csv.Error):
        return {}
    site = os.path.abspath(site)
    # The path in RECORD is the name already unless it leads somewhere else.
    return {
        place(os.path.join(site, line[0]), site) if line[0].startswith("/") or "./" in line[0] else line[0]: line[1]
        for line in lines
        if len(line) == _RECORD_COLUMNS
    }
