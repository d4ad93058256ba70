"""What to say about an exception that came out of a plugin."""

import os

from ferrule.errors import FerruleError, ToolCrashed

_SHOWN = 300


def explain(error: BaseException) -> FerruleError:
    """The error to report: itself where it is one of ours, else a ToolCrashed that says what was raised and where.

    With FERRULE_DEBUG set, the traceback goes to stderr.
    """
    if os.environ.get("FERRULE_DEBUG"):
        import traceback

        traceback.print_exception(error)
    if isinstance(error, FerruleError):
        return error
    if isinstance(error, MemoryError):
        return ToolCrashed(
            "The tool ran out of memory.", hint="Ask for less, or raise FERRULE_MEMORY (MiB) if the tool needs it."
        )
    if isinstance(error, SystemExit):
        return ToolCrashed(f"The tool called sys.exit({_text(error)}) instead of answering.")
    return ToolCrashed(f"The tool crashed with {type(error).__name__}: {_text(error)}{_place(error)}")


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - a plugin's own __str__ may raise, too
        text = "(its text cannot be had)"
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _place(error: BaseException) -> str:
    """The last line of the traceback, which is where an author starts to look."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return ""
    path = frame.tb_frame.f_code.co_filename
    return f" ({'/'.join(path.split('/')[-2:])}, line {frame.tb_lineno})"
