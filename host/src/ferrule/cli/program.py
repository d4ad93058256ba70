"""The group of all commands, and the one place where an error becomes a message and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ferrule._version import __version__
from ferrule.cli.commands import BUILT_IN, help_lines, load, plugin_commands
from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ferrule.admin.entry_point import EntryPoint

INTERRUPTED, UNREAD = 130, 141
_MAX_EXIT_CODE = 255
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
            _tell_configuration()
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
            return UNREAD
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
    """Run `ferrule ARGUMENT…` and return its exit code. No exception leaves this, and no traceback is printed."""
    as_json = "--json" in arguments
    _tolerate_any_text()
    try:
        code = _invoke(list(arguments), as_json)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            if not stream.closed:
                stream.flush()
    except BrokenPipeError:
        return UNREAD
    except OSError as error:
        _complain(f"The output cannot be written: {error.strerror}.")
        return 1
    return code


def _invoke(arguments: list[str], as_json: bool) -> int:
    from ferrule.errors import CallInterrupted

    try:
        return _exit_code(program.main(arguments, prog_name="ferrule", standalone_mode=False))
    except SystemExit as error:  # click's way out after it has printed a completion, and a plugin's
        if isinstance(error.code, str):
            _report(FerruleError(error.code), as_json)
        return (error.code or 0) & _MAX_EXIT_CODE if isinstance(error.code, int | None) else 1
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as error:
        return _report_usage(error, as_json)
    except click.ClickException as error:
        _report(FerruleError(error.format_message()), as_json)
        return error.exit_code
    except FerruleError as error:
        _report(error, as_json)
        return INTERRUPTED if isinstance(error, CallInterrupted) else error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _report(FerruleError(f"{where}{error.strerror or error}."), as_json)
        return 1
    except Exception as error:  # noqa: BLE001 - the user gets a sentence, also where the defect is ferrule's own
        _report(_defect(error), as_json)
        return 1


def _tell_configuration() -> None:
    """What config.toml has that is not read, or not as it was meant, on stderr, if there is such a file."""
    from ferrule.config import configuration

    if not os.path.exists(configuration.default_path()):
        return
    from ferrule.admin.doctor import configuration_diagnosis
    from ferrule.cli.output import note

    try:
        for one in configuration_diagnosis.examine(configuration.read()):
            note(f"{one.subject}: {one.message} {one.fix}")
    except FerruleError:
        return  # the command says so itself


def _exit_code(value: object) -> int:
    """The exit code that a command has returned. Raises FerruleError for what is none; 256 would be 0 to a shell."""
    if value is None:
        return 0
    if isinstance(value, int) and 0 <= value <= _MAX_EXIT_CODE:
        return value
    raise FerruleError(f"The command has returned {type(value).__name__}, where an exit code of 0 to 255 was expected.")


def _report_usage(error: click.UsageError, as_json: bool) -> int:
    if as_json:
        _print_error({"code": "USAGE", "message": error.format_message()})
    else:
        error.show()
    return error.exit_code


def _report(error: FerruleError, as_json: bool) -> None:
    if os.environ.get("FERRULE_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if as_json:
        _print_error(error.facts())
    else:
        _complain(error.message, error.fix)


def _defect(error: Exception) -> FerruleError:
    from ferrule.plugin.remedies import missing_module

    missing = missing_module.explain(error, "This", "ferrule")
    if missing is not None:
        return missing
    reported = FerruleError(
        f"ferrule failed with {type(error).__name__}: {error}. That is a defect of ferrule.",
        hint="Set FERRULE_DEBUG=1 to see where it happened.",
    )
    reported.__cause__ = error
    return reported


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


def _print_error(facts: Mapping[str, object]) -> None:
    from ferrule.cli.output import print_json

    print_json({"error": facts})


def _complain(message: str, hint: str | None = None) -> None:
    from ferrule.cli.output import note

    try:
        for text in filter(None, (f"Error: {message}", hint)):
            note(text)
    except OSError:
        return  # there is no reader; the exit code says enough


def _tolerate_any_text() -> None:
    """Names of files may hold bytes that no encoding has, and a terminal may have no letter for a description."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # which None has not
            stream.reconfigure(errors="backslashreplace")
