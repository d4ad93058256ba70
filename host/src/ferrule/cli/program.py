"""The group of all commands, and the one place where an error becomes a message and an exit code."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Any

import click

from ferrule._version import __version__
from ferrule.cli import exits
from ferrule.cli.commands import BUILT_IN, help_lines, load, plugin_commands
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from ferrule.admin.entry_point import EntryPoint

# They do not read config.toml, or say themselves what is wrong with it; `run` is a call.
_SILENT = ("check", "completion", "doctor", "install", "new", "run", "schema", "uninstall", "unlink")
_KNOWN_ENDS = (
    FerruleError, click.ClickException, click.Abort, click.exceptions.Exit, EOFError, KeyboardInterrupt, OSError,
    SystemExit,
)  # fmt: skip


class Commands(click.Group):
    """The commands by name; a command's module is imported when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order in which an admin meets them."""
        return [*BUILT_IN, *plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None if there is none."""
        command = load(cmd_name)
        gc.enable()  # it was off for the imports; the children that a command starts shall find it on
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is asked for; for one that there is not, the error says which was probably meant."""
        name = args[0]
        if name not in BUILT_IN and not name.startswith("-") and name not in (known := self.list_commands(ctx)):
            from difflib import get_close_matches

            from ferrule.installed import known_distributions

            if owner := known_distributions.owner_of_command(name):
                ways = known_distributions.read()[owner].ways(owner)
                ctx.fail(f"`ferrule {name}` comes with {owner}, which is not installed: run {ways}.")
            close = get_close_matches(name, [*known, *known_distributions.commands()], n=1)
            if close:
                ctx.fail(f"No such command {name!r}. Did you mean {close[0]!r}?")
        found = super().resolve_command(ctx, args)
        if not ctx.resilient_parsing and name not in _SILENT and {"--help", "-h"}.isdisjoint(args):
            exits.tell_configuration()
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands whose names begin so, without importing them, and the options."""
        from click.shell_completion import CompletionItem

        lines = {**BUILT_IN, **help_lines()}
        found = [CompletionItem(name, help=line) for name, line in lines.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in the help text."""
        with formatter.section("Commands"):
            formatter.write_dl(list(BUILT_IN.items()))
        if added := help_lines():
            with formatter.section("Commands of installed distributions"):
                formatter.write_dl(list(added.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        # NO_COLOR is a custom of many programs; click looks at the terminal alone.
        ctx.color = False if os.environ.get("NO_COLOR") else None
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return exits.UNREAD
        except _KNOWN_ENDS:
            raise
        except BaseException as error:
            added = plugin_commands().get(ctx.invoked_subcommand or "")
            if added is None:
                raise
            raise _defect_of_plugin(added, error) from error


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ferrule %(version)s")
def program() -> None:
    """Manage the tools that LLM agents call as executables.

    \b
    Examples:
      ferrule list --check
      ferrule link web_fetch
      ferrule run web_fetch url=https://example.com

    Every command takes --json. Exit codes: 0 all is well, 1 something is wrong, 2 the command line is.
    """


def run(arguments: Sequence[str]) -> int:
    """Run `ferrule ARGUMENT…` and return its exit code, see `exits.run`."""
    as_json = "--json" in arguments
    return exits.run(lambda: _invoke(list(arguments), as_json), as_json=as_json)


def _invoke(arguments: list[str], as_json: bool) -> object:
    try:
        return program.main(arguments, prog_name="ferrule", standalone_mode=False)
    except click.Abort:
        return exits.INTERRUPTED
    except click.UsageError as error:
        return _report_usage(error, as_json)
    except click.ClickException as error:
        exits.report(FerruleError(error.format_message()), as_json)
        return error.exit_code


def _report_usage(error: click.UsageError, as_json: bool) -> int:
    if as_json:
        exits.print_error({"code": "USAGE", "message": error.format_message()})
    else:
        error.show()
    return error.exit_code


def _defect_of_plugin(command: EntryPoint, error: BaseException) -> FerruleError:
    from ferrule.plugin.remedies import missing_module
    from ferrule.supervision.exception_text import name_and_text

    what = f"The command {command.name!r} of {command.source}"
    missing = missing_module.explain(error, what, command.distribution)
    if missing is not None:
        return missing
    return FerruleError(
        f"{what} failed with {name_and_text(error)}.",
        hint="Set FERRULE_DEBUG=1 to see where it happened.",
    )
