"""A module that is not installed, as a sentence with the line that brings it. Looked at after a failure alone."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.errors import FerruleError

_HOST = "ferrule"
_MAX_ERRORS = 20  # of a chain that are looked at


def missing_module(error: BaseException) -> str | None:
    """The module whose absence an error is about, as it was imported; None where it is about something else."""
    one: BaseException | None = error
    for _ in range(_MAX_ERRORS):
        if one is None:
            return None
        if isinstance(one, ModuleNotFoundError) and one.name and not _is_there(one.name.partition(".")[0]):
            return one.name
        one = one.__cause__ or one.__context__
    return None


def line_for(module: str, distribution: str) -> str | None:
    """The line for a shell that brings a module which a distribution uses; None where nothing is known of it."""
    from ferrule.plugin.remedies.installation import install_command
    from ferrule.plugin.requirements import requirement_for

    found = requirement_for(module, *dict.fromkeys((distribution, _HOST)))
    if found is None:
        return None
    options = () if found.endswith("]") else ("--upgrade",)  # with it, pipx looks at what is there, too
    return install_command(found, *options)


def explain(error: BaseException, what: str, distribution: str) -> FerruleError | None:
    """The error that says which module is missing, and the line; None where the error is about something else.

    what: begins the sentence, such as `The command 'serve' of ferrule-serve 0.1.0`.
    """
    from ferrule.errors import FerruleError

    module = missing_module(error)
    if module is None:
        return None
    line = line_for(module, distribution)
    hint = f"Run: {line}" if line else f"Install what has the module {module}, or tell the authors of {distribution}."
    return FerruleError(f"{what} needs the module {module}, which is not installed.", hint=hint)


def _is_there(top: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(top) is not None
    except (ImportError, ValueError):
        return False
