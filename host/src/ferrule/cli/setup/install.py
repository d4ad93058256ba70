"""`ferrule install`: puts packages with tools into the environment that ferrule lives in."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import click

from ferrule import discovery
from ferrule.admin import permission_status
from ferrule.admin.credential_status import record_installed
from ferrule.admin.packages import distribution_files, installer, package_plan, parent_code
from ferrule.admin.packages.installer import Changes, Installer
from ferrule.cli.output import counted, note, plain, print_json, print_text
from ferrule.cli.selection import json_option
from ferrule.config import configuration
from ferrule.config.client_folders import client_folders
from ferrule.links import linked_executables
from ferrule.trust.places import indirect_places

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ferrule.admin.permission_status import PermissionStatus
    from ferrule.text.json_types import JSONObject


@click.command("install")
@click.argument("names", nargs=-1, metavar="[NAME]... [-- OPTION...]", type=click.UNPROCESSED)
@click.option("-e", "--editable", "editables", multiple=True, metavar="DIR", help="A project's folder, as it is.")
@click.option("-U", "--upgrade", is_flag=True, help="Take newer versions of what is there.")
@click.option(
    "--trust", "trusted", multiple=True, metavar="PACKAGE", help="Let PACKAGE run code outside of its tools' calls."
)
@json_option
def command(
    names: tuple[str, ...], editables: tuple[str, ...], upgrade: bool, trusted: tuple[str, ...], as_json: bool
) -> int:
    """Install packages where ferrule itself is installed, whatever made that environment: pip, uv, pipx, uv tool.

    NAME is a tool or command, such as web_fetch, the last part of a package's name, such as fetch, or the package, such
    as ferrule-fetch, with or without a version. It may also be the folder or wheel of a package. What follows -- goes
    to the installer as it is. Afterwards the new tools are named, with what they may touch; `ferrule link` gives them
    to the client.

    Each package is fetched and read first, and none of its code runs. It is refused where it has nothing for ferrule,
    where it would run code whenever Python starts, put files among those of other packages, or has to be built. --trust
    names a package that may do this.

    \b
    Examples:
      ferrule install web_fetch
      ferrule install 'ferrule-serve[traces]' ferrule-fetch==0.1.0
      ferrule install --editable ./ferrule-weather
      ferrule install ferrule-weather -- --find-links ./wheels
      ferrule install --trust ferrule-weather ferrule-weather

    Exit code: 1 where a package is refused or not found; else that of the installer, 0 where all is installed.
    """
    requirements, options = parted(names)
    if not requirements and not editables:
        raise click.UsageError("Say what to install.")
    chosen = installer.find_installer()
    changes = Changes(requirements, editables, is_upgrade=upgrade, options=options)
    plan = package_plan.make(chosen, changes, trusted)
    for text in (*plan.notes, *(f"Warning: {one.subject}: {one.message}" for one in plan.code)):
        note(text)
    return change(chosen, chosen.install(plan.changes), as_json=as_json, told={one.message for one in plan.code})


def change(chosen: Installer, command_line: list[str], *, as_json: bool, told: Collection[str] = ()) -> int:
    """Run the command of an installer, and say which tools came and went; the installer's exit code.

    Args:
        told: what the user knows already of code that runs in ferrule's own process.
    """
    before, code_before, launchers = _tools(), _parent_code(), _launchers()
    output = _beside_the_document() if as_json else None
    click.echo(f"{chosen.kind}: {plain(' '.join(command_line))}", err=True)
    code = installer.run(chosen, command_line, output=output)
    now, new_code = _tools(), [one for one in _parent_code() if one not in code_before]
    added = sorted(name for name, source in now.items() if before.get(name) != source)
    removed = sorted(before.keys() - now.keys())
    _record(added)
    relinked = [path for folder in client_folders() for path in linked_executables.replace_lost_launchers(folder)]
    if as_json:
        facts = {"installer": chosen.kind, "command": command_line, "exit_code": code}
        told = {"may": _may(added), "credentials": _credentials(added), "not_told": _not_told(added)}
        print_json({**facts, "tools": added, "removed": removed, "relinked": relinked, **told, "parent_code": new_code})
        return _as_exit_code(code)
    _tell(added, removed)
    if relinked:
        click.echo(f"{counted(len(relinked), 'link')} without the launcher that is gone: shell files again.")
    elif not launchers and _launchers():
        click.echo("Links can start faster now. Next: ferrule link")
    for name, sentences in _not_told(added).items():
        note(f"{name}: {' '.join(sentences)}")
    for one in (one for one in new_code if one["message"] not in told):
        click.echo(f"Warning: {plain(one['distribution'] or one['file'])}: {plain(one['message'])}", err=True)
    if code:
        click.echo(f"Error: {chosen.kind} ended with exit code {code}; what it says is above.", err=True)
    return _as_exit_code(code)


def parted(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """What is named, and the options for the installer, which begin with the first dash."""
    at = next((index for index, name in enumerate(names) if name.startswith("-")), len(names))
    return list(names[:at]), list(names[at:])


def _beside_the_document() -> int:
    """Where an installer writes while stdout is for the document alone."""
    return subprocess.DEVNULL if sys.stderr is None else sys.stderr.fileno()


def _tools() -> dict[str, str]:
    """Each installed tool, and who offers it."""
    return {name: " and ".join(claim.source for claim in claims) for name, claims in discovery.scan().items()}


def _launchers() -> list[str]:
    """The names of programs that can start links."""
    return [name for name, _, _ in discovery.entry_points(discovery.LAUNCHERS)]


def _parent_code() -> list[JSONObject]:
    """What is installed that takes effect in ferrule's own process, and is not known."""
    found = parent_code.of_installed(distribution_files.installed())
    return [one.as_dict() for one in found if not one.known]


def _tell(added: list[str], removed: list[str]) -> None:
    if added:
        click.echo(f"{counted(len(added), 'tool')} new or changed:")
        for name, words in _may(added).items():
            print_text(f"{name}: {'; '.join(words)}", indent=2, hanging=4)
        click.echo(f"Next: ferrule validate {' '.join(added)} && ferrule link {' '.join(added)}")
    if removed:
        click.echo(f"{counted(len(removed), 'tool')} gone: {', '.join(map(plain, removed))}")
        click.echo(f"Where they are linked: ferrule unlink {' '.join(removed)}")


def _record(names: Sequence[str]) -> None:
    """Keep whose the credentials are that the new tools declare."""
    claims = discovery.scan()
    for name in names:
        if len(claims[name]) == 1:
            record_installed(claims[name][0])


def _may(names: Sequence[str]) -> dict[str, list[str]]:
    """What the tools of these names may touch, in a person's words; nothing for those that clash."""
    claims, settings = discovery.scan(), configuration.read()
    here = {name: indirect_places(claims[name][0], settings) for name in names if len(claims[name]) == 1}
    return {one.tool: [*one.words(), *here[one.tool]] for one in _statuses(names)}


def _credentials(names: Sequence[str]) -> JSONObject:
    """Which credentials they may be told; None for those whose hook has not been asked."""
    return {one.tool: one.as_dict()["credentials"] for one in _statuses(names)}


def _not_told(names: Sequence[str]) -> dict[str, list[str]]:
    """What they would be told once the admin says so, in sentences."""
    return {one.tool: sentences for one in _statuses(names) if (sentences := one.not_told())}


def _statuses(names: Sequence[str]) -> list[PermissionStatus]:
    claims, settings = discovery.scan(), configuration.read()
    return [permission_status.status(claims[name][0], settings) for name in names if len(claims[name]) == 1]


def _as_exit_code(code: int) -> int:
    """The exit code of the command for that of the installer, which is negative where a signal ended it."""
    return code if 0 <= code < 256 else 1
