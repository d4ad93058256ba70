"""The Python packages of an environment, as their own lists of files have them. Nothing of them is imported."""

from __future__ import annotations

import configparser
from collections.abc import Iterator
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from ferrule.text.names import same_distribution
from ferrule_mcp.environment.files import digest_file, digest_lines
from ferrule_mcp.environment.record import InstallFailed, Package
from ferrule_mcp.launch.plan import PYPI

if TYPE_CHECKING:
    from importlib.metadata import PathDistribution
    from pathlib import Path

_OF_INSTALLER = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json")
"""Files of a `.dist-info` that each installer writes in its own way."""


def find_site(folder: Path) -> Path:
    """The folder of packages in a virtual environment. Raises InstallFailed if there is none."""
    found = sorted(folder.glob("lib/python*/site-packages"))
    if not found:
        raise InstallFailed(f"{folder} is no virtual environment.", hint="Add the server again.")
    return found[0]


def read_packages(folder: Path, archives: dict[str, str]) -> list[Package]:
    """Every package of a virtual environment, in the order of names. archives: digests of their archives, by name.

    Raises InstallFailed for a package whose files are not those that its own list has.
    """
    site = find_site(folder)
    found = [_read_package(path, site, archives) for path in sorted(site.glob("*.dist-info"))]
    return sorted(found, key=lambda one: one.name)


def read_scripts(folder: Path, name: str) -> list[str]:
    """The commands that a package brings; nothing if it is not there. name: in any spelling."""
    for path in find_site(folder).glob("*.dist-info"):
        if same_distribution(path.name.partition("-")[0]) == same_distribution(name):
            return list(_read_entries(path / "entry_points.txt"))
    return []


def find_named(folder: Path, requirement: str) -> str:
    """The name of the package that a requirement has brought, also by a path or an address; empty if none is found."""
    found = sorted(find_site(folder).glob("*.dist-info"))
    names = [same_distribution(path.name.partition("-")[0]) for path in found]
    direct = [name for name, path in zip(names, found, strict=True) if (path / "direct_url.json").is_file()]
    own = next((name for name in names if names_package(requirement, name)), "")
    return own or (direct[0] if len(direct) == 1 else _match_path(requirement, direct))


def names_package(requirement: str, name: str) -> bool:
    """Whether a requirement is one of a package of this name."""
    try:
        return same_distribution(Requirement(requirement).name) == same_distribution(name)
    except InvalidRequirement:
        return False


def _match_path(requirement: str, names: list[str]) -> str:
    """The package whose name stands in a path or an address."""
    text = same_distribution(requirement.rpartition("/")[2])
    return next((name for name in names if text.startswith(name)), "")


def _read_entries(file: Path) -> Iterator[str]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # names keep their letter case
    try:
        parser.read_string(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error):
        return
    if parser.has_section("console_scripts"):
        yield from parser["console_scripts"]


def _read_package(metadata: Path, site: Path, archives: dict[str, str]) -> Package:
    from importlib.metadata import PathDistribution

    view = PathDistribution(metadata)
    name = same_distribution(view.metadata["Name"] or metadata.name.partition("-")[0])
    lines = sorted(_digest_files(view, metadata, site, name))
    return Package(PYPI, name, view.version, digest_lines(lines), archives.get(name, ""))


def _digest_files(view: PathDistribution, metadata: Path, site: Path, name: str) -> Iterator[str]:
    """A line for each file of the package that came with it: its path and its digest."""
    for one in view.files or ():
        path = one.as_posix()
        is_own = path.startswith("..") or (path.startswith(f"{metadata.name}/") and one.name in _OF_INSTALLER)
        if is_own or "__pycache__" in one.parts:
            continue
        try:
            yield f"{path} {digest_file(site / path)}"
        except OSError as error:
            raise InstallFailed(
                f"{name} is not installed as a whole: {path}: {error.strerror}.", hint="Try again."
            ) from None
