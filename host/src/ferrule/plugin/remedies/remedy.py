"""What a tool lacks that has failed: a module or a program that it declares, and the command that brings it.

This is looked at after a failure only, so a call that succeeds pays nothing for it.
"""

from __future__ import annotations

from os.path import basename

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.discovery import InstalledTool
    from ferrule.plugin.declaration import Declaration

_MAX_ERRORS = 20  # of a chain that are looked at


def advise(tool: InstalledTool, error: BaseException) -> str | None:
    """How to get what was missing, as one or two sentences; None where the error is about nothing that is declared.

    It is about a module where an ImportError names it, and about a program where a FileNotFoundError does; also where
    the error that is given was raised while that one was handled, or from it.
    """
    causes = [one for one in _chain(error) if isinstance(one, ImportError | FileNotFoundError)]
    if not causes:
        return None
    from ferrule.plugin.declaration import read_if_well

    declared = read_if_well(tool)
    advice = next(filter(None, (_advise(declared, cause) for cause in causes)), None)
    return advice or _advise_by_metadata(tool, error)


def _advise(declared: Declaration, cause: ImportError | FileNotFoundError) -> str | None:
    if isinstance(cause, ImportError):
        for extra in declared.extras:
            if _is_about(cause, extra.module):
                from ferrule.plugin.remedies.installation import install_command

                purpose = f" ({extra.purpose})" if extra.purpose else ""
                return f"It needs the module {extra.module}{purpose}: {install_command(extra.install)}"
        return None
    for program in declared.programs:
        if basename(str(cause.filename)) in program.names:
            names = " or ".join(program.names)
            return f"It needs the program {names}{program.install and f': {program.install}'}"
    return None


def _advise_by_metadata(tool: InstalledTool, error: BaseException) -> str | None:
    """By what the tool's distribution requires, and what extras it has, or the host."""
    from ferrule.plugin.remedies.missing_module import line_for, missing_module

    module = missing_module(error)
    line = line_for(module, tool.distribution) if module else None
    return f"It needs the module {module}: {line}" if line else None


def _is_about(cause: ImportError, module: str) -> bool:
    """By the name that the interpreter gives it; libraries that look for a module themselves give a text alone.

    The name may be that of a package around the module, which is then missing as a whole, or of a module inside of it.
    """
    if cause.name:
        return f"{module}.".startswith(f"{cause.name}.") or cause.name.startswith(f"{module}.")
    return f" {_words(module)} " in f" {_words(str(cause))} "


def _words(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() or letter == "_" else " " for letter in text).split())


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and those that it was raised from, or while they were handled."""
    for _ in range(_MAX_ERRORS):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
