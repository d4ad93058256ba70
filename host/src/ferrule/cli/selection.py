"""Which tools a command is about: those that are named, or all of them."""

from __future__ import annotations

import sys
import time

from ferrule import discovery
from ferrule.cli.output import note
from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule.trust.door import admission

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    import click
    from click.shell_completion import CompletionItem

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.installed.inventory import Entry

    _Command = TypeVar("_Command", bound=Callable[..., Any])

_QUIET_SECONDS = 1.0  # seconds without a word of progress


def json_option(command: _Command) -> _Command:
    """The option `--json`, which every command has; the command gets it as the argument `as_json`."""
    import click  # not above: `ferrule list` chooses its tools without it

    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def tools_argument(command: _Command) -> _Command:
    """Any number of tools' names, or patterns of them with `*`, none of them meaning all."""
    import click

    return click.argument("tools", nargs=-1, metavar="[TOOL]...", shell_complete=complete, callback=_expand)(command)


def _expand(_context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """The names that the words stand for. A pattern that fits none stays, and is told as a tool that is unknown."""
    from fnmatch import fnmatchcase

    names = sorted(discovery.scan()) if any("*" in word for word in words) else []
    found = ([name for name in names if fnmatchcase(name, word)] or [word] for word in words)
    return tuple(dict.fromkeys(name for some in found for name in some))


def expand_one(context: click.Context, parameter: click.Parameter, word: str) -> tuple[str, ...]:
    """The names that one word stands for."""
    return _expand(context, parameter, (word,))


def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The installed tools whose names begin with what has been typed; no plugin is imported for it."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in sorted(discovery.scan()) if name.startswith(incomplete)]


def find_tool(name: str, settings: Configuration) -> InstalledTool:
    """The tool of that name. The error for one that is not there names those that were probably meant."""
    require_known([name], discovery.scan())
    return admission.find(name, settings)


def require_known(names: Sequence[str], claims: Collection[str]) -> None:
    """Raise ToolUnknown for the first name that no tool has."""
    for name in names:
        if name not in claims:
            from ferrule.installed.suggestions import unknown_tool

            raise unknown_tool(name, claims)


def entries(
    names: Sequence[str], *, load: bool = False, strict: bool = False, silenced: Sequence[str] = ()
) -> Iterator[Entry]:
    """The named tools in the order of their names, or all: each with its state.

    Args:
        load, strict, silenced: as `inventory.examine` takes them.

    Raises:
        ToolUnknown before anything is examined.
    """
    from ferrule.installed import inventory

    claims = discovery.scan()
    require_known(names, claims)
    chosen = sorted(set(names) or claims)
    settings = configuration.read()
    found = (
        inventory.examine(inventory.Entry(name, claims[name]), settings, load=load, strict=strict, silenced=silenced)
        for name in chosen
    )
    return _with_progress(found, len(chosen)) if load else found


def accept_own(names: Sequence[str]) -> None:
    """Accept what the user's own tools ask for, of the named or of all, and say so; see `ferrule.trust`."""
    from ferrule.plugin.declared_credentials import ask_new_version
    from ferrule.trust.authorship import accept_own as accept
    from ferrule.trust.authorship import own_folder

    claims = discovery.scan()
    for name in sorted(set(names) or claims):
        if len(claims.get(name, ())) != 1:
            continue
        try:
            if own_folder(claims[name][0]):
                ask_new_version(claims[name][0])
            told = accept(claims[name][0], configuration.read())
            if told:
                note(told)
        except (OSError, FerruleError):
            continue  # what is wrong is said by the command itself


def _with_progress(found: Iterable[Entry], total: int) -> Iterator[Entry]:
    if sys.stderr is None or not sys.stderr.isatty():
        yield from found
        return
    started = time.monotonic()
    is_shown = False
    for number, entry in enumerate(found, start=1):
        if number < total and time.monotonic() - started > _QUIET_SECONDS:
            _show(f"{number} of {total} tools")
            is_shown = True
        elif is_shown:
            _show("")
        yield entry


def _show(text: str) -> None:
    """Put a text in place of the terminal's last line."""
    sys.stderr.write(f"\r\033[K{text}")
    sys.stderr.flush()
