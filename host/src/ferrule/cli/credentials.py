"""`ferrule credentials`: what the tools need to be told in secret, and whether they are told. Never shows a value."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ferrule import discovery
from ferrule.admin.credential_status import MISSING, SET, CredentialStatus, statuses
from ferrule.admin.inventory import BROKEN, CLASH, DISABLED, OK, Entry
from ferrule.admin.suggestions import unknown_tool
from ferrule.cli.output import home_as_tilde, note, print_indented, print_json, print_table
from ferrule.cli.selection import complete, entries, json_option, tools_argument
from ferrule.config import credentials_file
from ferrule.config.credentials_file import CredentialsFile
from ferrule.errors import CredentialsMalformed, FerruleError
from ferrule.tool.credentials import Credential, default_path, is_sendable
from ferrule_ask.keys import ANTHROPIC, Keys

if TYPE_CHECKING:
    from collections.abc import Sequence

ASK = "ask"


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

    The model's key of `ferrule ask` is shown as that of a tool `ask`, where it is set or asked for by that name.

    \b
    Example: ferrule credentials web_search_brave --check

    Exit code: 1 where --check finds one that is missing or cannot be used, or a tool that cannot be loaded, and where
    the credentials file cannot be used; 0 otherwise.
    """
    file = CredentialsFile(default_path())
    named = [name for name in tools if not _is_ask(name)]
    found = list(entries(named, load=True)) if named or not tools else []
    known = [status for entry in found for status in statuses(entry, file)]
    known += _of_ask(file, is_named=len(named) < len(tools))
    if as_json:
        print_json(_document(file, found, known))
    else:
        _print(file, found, known)
    is_well = all(entry.state in (OK, DISABLED) for entry in found) and all(status.state == SET for status in known)
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
      ferrule credentials set ask api_key

    Exit code: 1 where the value or the file cannot be used, 0 otherwise.
    """
    key, credential = _resolve(target, name)
    path = default_path()
    credentials_file.store(path, key, _value(value, key))
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
    path = default_path()
    keys = [key, credential.environment] if credential else [key]
    is_changed = sum(credentials_file.remove(path, one) for one in keys) > 0
    if as_json:
        print_json({"key": key, "file": path, "changed": is_changed})
    else:
        click.echo(f"{key} {'is taken out of' if is_changed else 'was not set in'} {home_as_tilde(path)}.")
    return 0


def _resolve(target: str, name: str | None) -> tuple[str, Credential | None]:
    """The key of the credentials file that is meant, and the credential where a tool's is."""
    claims = discovery.scan()
    tool, _, rest = target.partition(".")
    if _is_ask(tool):
        chosen = name or rest or ANTHROPIC.name
        if chosen != ANTHROPIC.name:
            raise FerruleError(f"{ASK} has no credential {chosen!r}.", hint=f"It has {ANTHROPIC.name}.")
        return ANTHROPIC.path, ANTHROPIC
    if tool not in claims:
        # A key of the file has dots, or is written as a variable is; anything else is a tool's name, mistyped.
        if name is not None or ("." not in target and not target.isupper()):
            raise unknown_tool(target, claims)
        if not all(target.split(".")):
            raise FerruleError(f"{target!r} is no key: names with dots between them are, as in dice.api_key.")
        return target, None
    (entry,) = entries([tool], load=True)
    credential = _choose(entry, name or rest or None)
    return credential.path, credential


def _is_ask(name: str) -> bool:
    """Whether a name stands for `ferrule ask`, which needs a key as tools do. A tool of that name comes first."""
    return name == ASK and name not in discovery.scan()


def _of_ask(file: CredentialsFile, *, is_named: bool) -> list[CredentialStatus]:
    """The status of the model's key. Whoever has none and does not ask for it is not bothered with it."""
    if not (is_named or _is_ask(ASK)):
        return []
    status = CredentialStatus(ASK, ANTHROPIC, file)
    if status.state != SET:  # a file in ~/.stps counts also where the credentials file cannot be used
        try:
            found = Keys().find(ANTHROPIC.environment)
        except CredentialsMalformed as error:
            status.problem = error.message
        else:
            status.source = found.source if found else None
            status.problem = None
    return [status] if is_named or status.state != MISSING else []


def _choose(entry: Entry, name: str | None) -> Credential:
    if entry.state != OK and not entry.credentials:
        raise entry.error or FerruleError(f"{entry.name} is {entry.state}.")
    known = {facts["name"]: Credential(**facts) for facts in entry.credentials}
    if not known:
        raise FerruleError(f"{entry.name} needs no credentials.")
    names = ", ".join(sorted(known))
    if name is None and len(known) > 1:
        raise click.UsageError(f"{entry.name} needs several credentials; name one of {names}.")
    chosen = name or names
    if chosen not in known:
        raise FerruleError(f"{entry.name} has no credential {chosen!r}.", hint=f"It has {names}.")
    return known[chosen]


def _value(given: str | None, key: str) -> str:
    if given is None and sys.stdin is not None and sys.stdin.isatty():
        given = click.prompt(key, hide_input=True, err=True, default="", show_default=False)
    if given is None:
        given = sys.stdin.buffer.read(1 << 16).decode(errors="replace") if sys.stdin else ""
    value = str(given).strip()
    if not is_sendable(value):
        problem = "holds a blank, a line break or a character that is not ASCII" if value else "is empty"
        raise FerruleError(f"The value of {key} {problem}, so it cannot be a key; nothing was changed.")
    return value


def _document(file: CredentialsFile, found: Sequence[Entry], known: Sequence[CredentialStatus]) -> dict[str, Any]:
    failed = [entry for entry in found if entry.state != OK]
    return {
        "file": {"path": file.path, "problem": file.problem, "warning": file.warning},
        "credentials": [status.as_dict() for status in known],
        "failed": [{"tool": entry.name, "state": entry.state, "error": _message(entry)} for entry in failed],
    }


def _print(file: CredentialsFile, found: Sequence[Entry], known: Sequence[CredentialStatus]) -> None:
    if known:
        headings = ("TOOL", "CREDENTIAL", "STATE", "FROM", "ENVIRONMENT", "KEY IN THE FILE", "GET ONE")
        print_table(headings, map(_row, known), colour="STATE")
        print_indented(f"Credentials file: {file.path}")
    else:
        click.echo("No credentials are needed.")
    for text in filter(None, (file.problem, file.warning)):
        note(f"warning: {text}")
    unknown_needs = [entry.name for entry in found if entry.state in (BROKEN, CLASH)]
    if unknown_needs:
        names = ", ".join(unknown_needs)
        note(f"warning: What these need is not known, since they cannot be loaded: {names}. See `ferrule doctor`.")


def _row(status: CredentialStatus) -> tuple[str, ...]:
    source = (status.source or status.problem or "-").replace(f"{status.file}, key", "file:")
    credential = status.credential
    return status.tool, status.name, status.state, source, credential.environment, credential.path, status.url


def _message(entry: Entry) -> str | None:
    return entry.error.message if entry.error else None
