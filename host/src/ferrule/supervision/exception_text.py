"""What to say about an exception that came out of a plugin, or out of the host itself."""

from __future__ import annotations

import errno
import os

from ferrule.errors import FerruleError, PermissionDenied, ResultNotStored, ToolCrashed, ToolError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence


OUT_OF_MEMORY = "The tool ran out of memory."
MORE_MEMORY = "Raise `memory` (MiB) in its table of config.toml, or FERRULE_MEMORY."
# What ld.so says, without a number of the system: a library of a gigabyte does not fit below a limit on addresses.
_LOADER_LACKS_MEMORY = ("failed to map segment from shared object", "cannot map zero-fill pages")
_MAX_TEXT_CHARS = 300
_LIBRARY = os.path.dirname(os.__file__) + "/"
_HOST = os.path.dirname(os.path.dirname(__file__)) + "/"


def explain(error: BaseException, secrets: Sequence[str] = ()) -> FerruleError:
    """The error to report: itself where it is one of ours, else a ToolCrashed that says what was raised and where.

    secrets: values of which no part may be seen. With FERRULE_DEBUG set, the traceback goes to stderr.
    """
    print_where_debugging(error)
    refused = _refusal(error)
    if refused is not None:
        return refused
    if isinstance(error, FerruleError):
        return error
    if is_lack_of_memory(error):
        return ToolCrashed(
            OUT_OF_MEMORY,
            hint="Ask for less.",
            admin=MORE_MEMORY,
        )
    if isinstance(error, SystemExit):
        return ToolCrashed(f"The tool called sys.exit({text_of(error, secrets)}) instead of answering.")
    return ToolCrashed(f"The tool crashed with {name_text_and_place(error, secrets)}.")


def _refusal(error: BaseException) -> FerruleError | None:
    """The error of a call that wanted what its policy does not let it have; None for any other."""
    from ferrule.confinement.enforcement import in_force

    policy = in_force()
    # A store that does not take a result is the host's, and no permission of the tool's would open it.
    if policy is None or isinstance(error, ResultNotStored):
        return None
    from ferrule.confinement import refusal
    from ferrule.confinement.errors import denied

    denial = refusal.find(error, policy)
    if denial is None:
        return None
    said = error.facts() if isinstance(error, ToolError) and not isinstance(error, PermissionDenied) else None
    return denied(policy, denial, instead_of=said)


def is_lack_of_memory(error: BaseException) -> bool:
    """True where memory was refused: by Python itself, by the system (ENOMEM), or by the loader of shared libraries."""
    if isinstance(error, ImportError | OSError) and any(words in text_of(error) for words in _LOADER_LACKS_MEMORY):
        return True
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def print_where_debugging(error: BaseException) -> None:
    """Print the traceback to stderr where FERRULE_DEBUG is set."""
    if os.environ.get("FERRULE_DEBUG"):
        import traceback

        traceback.print_exception(error)


def defect(error: BaseException) -> FerruleError:
    """The error to report for an exception of the host: itself where it is one of ours, else a defect."""
    if isinstance(error, FerruleError):
        return error
    return FerruleError(f"The host failed with {type(error).__name__}, which is a defect of ferrule.")


def traceback_of(error: BaseException) -> bytes:
    """The last 4 KiB of the traceback, for stderr."""
    import traceback

    return "".join(traceback.format_exception(error))[-4096:].encode(errors="replace")


def name_and_text(error: BaseException, secrets: Sequence[str] = ()) -> str:
    """The exception as in `ValueError: its text`, on one line; its name alone where it has no text."""
    return ": ".join(filter(None, (type(error).__name__, text_of(error, secrets))))


def name_text_and_place(error: BaseException, secrets: Sequence[str] = ()) -> str:
    """The exception as in `ValueError: its text (package/module.py, line 3)`, without a place if there is none."""
    place = place_of(error)
    where = f" ({'/'.join(place[0].split('/')[-2:])}, line {place[1]})" if place else ""
    return name_and_text(error, secrets) + where


def text_of(error: BaseException, secrets: Sequence[str] = ()) -> str:
    """The exception's text, on one line and cut; an exception may raise another one when it is asked for its text."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - a plugin's own __str__ may raise, too
        return "(its text cannot be had)"
    text = legible(text, secrets, _MAX_TEXT_CHARS)
    return "".join(letter if letter.isprintable() else " " for letter in text).rstrip(".")


def legible(value: object, secrets: Sequence[str], longest: int) -> str:
    """A value as text that JSON holds and a client shows, without secrets, and cut after so many characters."""
    data = str(value).encode(errors="replace").replace(b"\0", "\ufffd".encode())
    if secrets:
        from ferrule.text.redaction import redact

        # Before it is cut: half a secret would not be found any more.
        data = redact(data, secrets)
    text = data.decode(errors="replace")
    return text if len(text) <= longest else text[: longest - 1] + "…"


def place_of(error: BaseException) -> tuple[str, int] | None:
    """Where an author starts to look: the last line of the traceback that is neither Python's nor ferrule's."""
    frame = error.__traceback__
    places: list[tuple[str, int]] = []
    while frame is not None:
        places.append((frame.tb_frame.f_code.co_filename, frame.tb_lineno))
        frame = frame.tb_next
    outside = [place for place in places if _may_be_the_authors(place[0])]
    return outside[-1] if outside else None


def _may_be_the_authors(path: str) -> bool:
    if path.startswith(("<frozen", _HOST)):
        return False
    return not path.startswith(_LIBRARY) or "-packages/" in path[len(_LIBRARY) :]
