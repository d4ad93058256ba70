"""`ferrule uninstall`: takes packages with tools out of the environment that ferrule lives in."""

from __future__ import annotations

import click

from ferrule import discovery
from ferrule.admin.packages import installer
from ferrule.cli.selection import complete, json_option
from ferrule.cli.setup.install import change, parted
from ferrule.errors import FerruleError
from ferrule.installed import find_sources
from ferrule.text.names import same_distribution

_HOST = "ferrule"


@click.command("uninstall")
@click.argument("names", nargs=-1, metavar="NAME... [-- OPTION...]", type=click.UNPROCESSED, shell_complete=complete)
@json_option
def command(names: tuple[str, ...], as_json: bool) -> int:
    """Uninstall packages by their names, or by the name of a tool that they offer.

    What follows -- goes to the installer as it is.

    \b
    Examples:
      ferrule uninstall ferrule-fetch
      ferrule uninstall web_fetch

    Exit code: 1 where NAME is ferrule itself or what it needs; else that of the installer, 0 where all is uninstalled.
    """
    given, options = parted(names)
    if not given:
        raise click.UsageError("Say what to uninstall.")
    claims = discovery.scan()
    for name in given:
        _require_no_source(name, claims)
    distributions = [each for name in given for each in _distributions(name, claims)]
    if _HOST in distributions:
        raise FerruleError("That is ferrule itself.", hint="Uninstall it with the program that installed it.")
    for name in distributions:
        if same_distribution(name) in _needed_by_host():
            raise FerruleError(
                f"ferrule itself needs {name}.", hint="`ferrule list` shows the packages that have tools."
            )
    chosen = installer.find_installer()
    return change(chosen, chosen.uninstall(list(dict.fromkeys(distributions)), options), as_json=as_json)


def _require_no_source(name: str, claims: dict[str, list[discovery.InstalledTool]]) -> None:
    """Raise FerruleError for what a source has installed, which no installer knows."""
    for source, _, _ in discovery.entry_points(discovery.SOURCES):
        for found in find_sources(source):
            of_source = [one for one in claims.get(name, ()) if one.metadata == found.metadata]
            if of_source or same_distribution(name) == found.distribution:
                hint = f"`ferrule {source} remove {found.name}` removes it with all of its tools."
                raise FerruleError(f"{name} is of {found.name}, which the source {source} has installed.", hint=hint)


def _distributions(name: str, claims: dict[str, list[discovery.InstalledTool]]) -> list[str]:
    return [tool.distribution for tool in claims[name]] if name in claims else [same_distribution(name)]


def _needed_by_host() -> set[str]:
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import Requirement

    try:
        requirements = [Requirement(text) for text in requires(_HOST) or ()]
    except PackageNotFoundError:  # it runs from its sources
        return set()
    always = (one.name for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""}))
    return {"pip", *map(same_distribution, always)}
