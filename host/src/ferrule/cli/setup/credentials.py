"""`ferrule credentials`: what the tools and commands need, and whether it is set. Never shows a value."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import click

from ferrule import discovery
from ferrule.admin.credential_status import MISSING, SET, CredentialStatus, declared, owners, statuses
from ferrule.cli.output import home_as_tilde, note, print_indented, print_json, print_table, print_text
from ferrule.cli.selection import complete, entries, json_option, tools_argument
from ferrule.config.configuration import credentials_path
from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import FerruleError
from ferrule.installed.inventory import BROKEN, CLASH, DISABLED, OK, Entry
from ferrule.installed.suggestions import unknown_tool
from ferrule.plugin.hooks.credentials import Credential
from ferrule.trust import records
from ferrule.trust.credentials import claims as credential_claims
from ferrule.trust.credentials import credentials_writer

if TYPE_CHECKING:
    from ferrule.admin.entry_point import EntryPoint


class Failure(TypedDict):
    """A tool, or a distribution's list of credentials, that does not say what it needs."""

    tool: str
    state: str
    error: str | None


class CredentialsGroup(click.Group):
    """`ferrule credentials [TOOL…]` is `ferrule credentials show [TOOL…]`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` in front, unless a command or a question for help stands there."""
        if not args or args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group("credentials", cls=CredentialsGroup)
def command() -> None:
    """Show which credentials the tools need and whether they are set; set them, or take them out.

    A credential is looked for in the environment first and in the credentials file next. `ferrule credentials` and
    `ferrule credentials TOOL` are short for `ferrule credentials show`.

    \b
    Examples:
      ferrule credentials
      ferrule credentials set web_search_brave api_key
    """


@command.command("show", short_help="Show what is needed, where it is looked up, and whether it is set.")
@tools_argument
@click.option("--check", is_flag=True, help="Exit with 1 where something is missing or cannot be used.")
@json_option
def show(tools: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Show the credentials of each TOOL, or of all: where each is looked up, and whether it is set. Never a value.

    A command may need credentials, too. They are shown under its name, where they are set or asked for by that name;
    where they are not set, its name is told.

    \b
    Example: ferrule credentials web_search_brave --check

    Exit code: 1 where --check finds one that is missing or cannot be used, or a tool that cannot be loaded, and where
    the credentials file cannot be used; 0 otherwise.
    """
    others = owners()
    named = [name for name in tools if name not in others]
    found = list(entries(named, load=True)) if named or not tools else []
    file = CredentialsFile(credentials_path())  # read when all plugins have been loaded, which must see nothing of it
    failed = [Failure(tool=one.name, state=one.state, error=_message(one)) for one in found if one.state != OK]
    known = [status for entry in found for status in statuses(entry, file)]
    chosen = {name: owner for name, owner in others.items() if not tools or name in tools}
    of_others = _of_others(chosen, file, failed)
    # A command that nobody uses needs none.
    known += [status for status in of_others if tools or status.state != MISSING]
    unset = dict.fromkeys(status.tool for status in of_others if not tools and status.state == MISSING)
    if as_json:
        facts = {"path": file.path, "problem": file.problem, "warning": file.warning}
        print_json({"file": facts, "credentials": [status.as_dict() for status in known], "failed": failed})
    else:
        _print(file, known, failed)
        for name in unset:
            note(f"The command {name} has credentials, too, which are not set: ferrule credentials {name}")
    is_well = all(one["state"] == DISABLED for one in failed) and all(status.state == SET for status in known)
    return int(bool(file.problem) or (check and not is_well))


@command.command("set", short_help="Write a credential into the credentials file.")
@click.argument("target", metavar="TOOL|TOOL.NAME|KEY", shell_complete=complete)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--value", help="The value itself; others can read it in the list of processes.")
@json_option
def set_one(target: str, name: str | None, value: str | None, as_json: bool) -> int:
    """Write a credential of a tool, or a KEY, into the credentials file, and keep all else that is in it.

    NAME may be left out where the tool needs one credential alone. A KEY is a dotted one of the file. The value is
    asked for without showing it, or read from stdin where that is no terminal. The file is for its owner alone
    (mode 0600), and replaced at once.

    \b
    Examples:
      ferrule credentials set web_search_brave api_key
      ferrule credentials set web_search.brave.api_key < key.txt

    Exit code: 1 where the value or the file cannot be used, 0 otherwise.
    """
    key, credential = _resolve(target, name)
    path = credentials_path()
    credentials_writer.store(path, key, _value(value, key))
    if as_json:
        print_json({"key": key, "file": path, "changed": True})
    else:
        click.echo(f"Set {key} in {home_as_tilde(path)}.")
    if credential and os.environ.get(credential.environment, "").strip():
        note(f"The environment variable {credential.environment} is set, and wins over the file.")
    return 0


@command.command("unset", short_help="Take a credential out of the credentials file.")
@click.argument("target", metavar="TOOL|TOOL.NAME|KEY", shell_complete=complete)
@click.argument("name", metavar="[NAME]", required=False)
@json_option
def unset(target: str, name: str | None, as_json: bool) -> int:
    """Take a credential out of the credentials file, and keep all else that is in it.

    \b
    Example: ferrule credentials unset web_search_brave api_key

    Exit code: 1 where the file cannot be used; 0 otherwise, also where it was not set.
    """
    key, credential = _resolve(target, name)
    path = credentials_path()
    keys = [key, credential.environment] if credential else [key]
    is_changed = sum(credentials_writer.remove(path, one) for one in keys) > 0
    if as_json:
        print_json({"key": key, "file": path, "changed": is_changed})
    else:
        click.echo(f"{key} {'is taken out of' if is_changed else 'was not set in'} {home_as_tilde(path)}.")
    return 0


@command.command("accept", short_help="Give a tool credentials that are another distribution's or program's.")
@click.argument("tool", shell_complete=complete)
@json_option
def accept(tool: str, as_json: bool) -> int:
    """Give a TOOL the credentials that it declares, and that are another's.

    They are another distribution's that was installed before and declares them, too; or another program's, such as
    those of a cloud, of a host of code, of continuous integration, and of models. Until then, its calls fail with
    PERMISSION_DENIED. The tools of one distribution share their credentials.

    \b
    Example: ferrule credentials accept web_search_brave

    Exit code: 1 where the tool cannot be loaded, or the record cannot be written; 0 otherwise.
    """
    (entry,) = entries([tool], load=True)
    if entry.state != OK and not entry.credentials:
        raise entry.error or FerruleError(f"{entry.name} is {entry.state}.")
    try:
        declared_ones = [Credential(**facts) for facts in entry.credentials]
        accepted = credential_claims.accept(entry.tool, declared_ones, records.find_withheld(entry.tool))
    except OSError as error:
        raise FerruleError(f"The record of the claims of {tool} cannot be written: {error.strerror}.") from None
    if as_json:
        print_json({"accepted": [claim.as_dict() for claim in accepted]})
    for claim in () if as_json else accepted:
        owners = " and ".join(claim.owners)
        also = f"which {owners} go by" if claim.is_foreign else f"as {owners} does"
        print_text(f"accepted: {tool} gets {claim.key}, {also}.", hanging=2)
    if not accepted and not as_json:
        click.echo(f"{tool} claims nothing that waits to be accepted.")
    return 0


def _resolve(target: str, name: str | None) -> tuple[str, Credential | None]:
    """The key of the credentials file that is meant, and the credential where a tool's is."""
    claims = discovery.scan()
    tool, _, rest = target.partition(".")
    if tool in claims:
        (entry,) = entries([tool], load=True)
        if entry.state != OK and not entry.credentials:
            raise entry.error or FerruleError(f"{entry.name} is {entry.state}.")
        credential = _choose(tool, [Credential(**facts) for facts in entry.credentials], name or rest)
        return credential.path, credential
    if owner := owners().get(tool):
        credential = _choose(tool, declared(owner), name or rest)
        return credential.path, credential
    # A key of the file has dots, or is written as a variable is; anything else is a tool's name, mistyped.
    if name is not None or ("." not in target and not target.isupper()):
        raise unknown_tool(target, claims)
    if not all(target.split(".")):
        raise FerruleError(f"{target!r} is no key: names with dots between them are, as in dice.api_key.")
    return target, None


def _of_others(
    others: Mapping[str, EntryPoint], file: CredentialsFile, failed: list[Failure]
) -> list[CredentialStatus]:
    """The status of credentials that are no tool's."""
    known: list[CredentialStatus] = []
    for name, owner in others.items():
        try:
            known += [CredentialStatus(name, credential, file) for credential in declared(owner)]
        except FerruleError as error:
            failed.append(Failure(tool=name, state=BROKEN, error=error.message))
    return known


def _choose(owner: str, credentials: Sequence[Credential], name: str | None) -> Credential:
    known = {one.name: one for one in credentials}
    if not known:
        raise FerruleError(f"{owner} needs no credentials.")
    names = ", ".join(sorted(known))
    if not name and len(known) > 1:
        raise click.UsageError(f"{owner} needs several credentials; name one of {names}.")
    chosen = name or names
    if chosen not in known:
        raise FerruleError(f"{owner} has no credential {chosen!r}.", hint=f"It has {names}.")
    return known[chosen]


def _value(given: str | None, key: str) -> str:
    if given is None and sys.stdin is not None and sys.stdin.isatty():
        given = click.prompt(key, hide_input=True, err=True, default="", show_default=False)
    if given is None:
        given = sys.stdin.buffer.read(1 << 16).decode(errors="replace") if sys.stdin else ""
    value = str(given).strip()
    if not Credential.is_sendable(value):
        problem = "holds a blank, a line break or a character that is not ASCII" if value else "is empty"
        raise FerruleError(f"The value of {key} {problem}, so it cannot be a key; nothing was changed.")
    return value


def _print(file: CredentialsFile, known: Sequence[CredentialStatus], failed: Sequence[Failure]) -> None:
    if known:
        headings = ("TOOL", "CREDENTIAL", "STATE", "FROM", "ENVIRONMENT", "KEY IN THE FILE", "GET ONE")
        print_table(headings, map(_row, known), colour="STATE")
        print_indented(f"Credentials file: {file.path}")
    else:
        click.echo("No credentials are needed.")
    for text in filter(None, (file.problem, file.warning)):
        note(f"warning: {text}")
    for claim in (status.claim for status in known if status.claim):
        note(f"warning: {claim.describe()} If both shall have it, run: ferrule credentials accept {claim.tool}")
    for status in known:
        if status.problem and status.problem != file.problem:
            note(f"warning: {status.tool} {status.name}: {status.problem}")
    unknown_needs = [one["tool"] for one in failed if one["state"] in (BROKEN, CLASH)]
    if unknown_needs:
        names = ", ".join(unknown_needs)
        note(f"warning: What these need is not known, since they cannot be loaded: {names}. See `ferrule doctor`.")


def _row(status: CredentialStatus) -> tuple[str, ...]:
    source = (status.source or "-").replace(f"{status.file}, key", "file:")
    credential = status.credential
    return status.tool, status.name, status.state, source, credential.environment, credential.path, status.url


def _message(entry: Entry) -> str | None:
    return entry.error.message if entry.error else None
