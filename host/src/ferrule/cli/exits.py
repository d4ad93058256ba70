"""The one place where what a command returns or raises becomes a message and an exit code; it does without click."""

from __future__ import annotations

import os
import sys

from ferrule.errors import CallInterrupted, FerruleError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INTERRUPTED, UNREAD = 130, 141
_MAX_EXIT_CODE = 255


def run(act: Callable[[], object], *, as_json: bool) -> int:
    """Do what a command does, and return its exit code. No exception leaves this, and no traceback is printed."""
    _tolerate_any_text()
    try:
        code = _try(act, as_json)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            if not stream.closed:
                stream.flush()
    except BrokenPipeError:
        return UNREAD
    except OSError as error:
        _complain(f"The output cannot be written: {error.strerror}.")
        return 1
    return code


def _try(act: Callable[[], object], as_json: bool) -> int:
    try:
        return _find_exit_code(act())
    except SystemExit as error:  # click's way out after it has printed a completion, and a plugin's
        if isinstance(error.code, str):
            report(FerruleError(error.code), as_json)
        return (error.code or 0) & _MAX_EXIT_CODE if isinstance(error.code, int | None) else 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except FerruleError as error:
        report(error, as_json)
        return INTERRUPTED if isinstance(error, CallInterrupted) else error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        report(FerruleError(f"{where}{error.strerror or error}."), as_json)
        return 1
    except Exception as error:  # noqa: BLE001 - the user gets a sentence, also where the defect is ferrule's own
        report(_explain_defect(error), as_json)
        return 1


def tell_configuration() -> None:
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


def report(error: FerruleError, as_json: bool) -> None:
    """Print an error: as JSON on stdout, or as sentences on stderr."""
    if os.environ.get("FERRULE_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if as_json:
        print_error(error.facts())
    else:
        _complain(error.message, error.fix)


def print_error(facts: Mapping[str, object]) -> None:
    """Print the facts of an error as one JSON document."""
    from ferrule.cli.output import print_json

    print_json({"error": facts})


def _find_exit_code(value: object) -> int:
    """The exit code that a command has returned. Raises FerruleError for what is none; 256 would be 0 to a shell."""
    if value is None:
        return 0
    if isinstance(value, int) and 0 <= value <= _MAX_EXIT_CODE:
        return value
    raise FerruleError(f"The command has returned {type(value).__name__}, where an exit code of 0 to 255 was expected.")


def _explain_defect(error: Exception) -> FerruleError:
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
