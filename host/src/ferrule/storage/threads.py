"""Work that may hang, in a thread that is waited for within a limit."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Result = TypeVar("Result")

_MAX_WAIT_SECONDS = 86_400.0


class NoThread(RuntimeError):
    """No thread can be started, so the work was not begun."""


# Long: the two inner functions and what waits for them share one lock and one flag, which are read together.
def run_within(seconds: float, work: Callable[[], Result], undo: Callable[[Result], object]) -> Result:
    """The result of some work. Raises what the work raises, and TimeoutError after so many seconds.

    undo: gets a result that comes too late, also where the handler of a signal raises meanwhile. The thread does not
    keep the process from ending. Raises NoThread where none can be started.
    """
    turn, is_done = allocate_lock(), allocate_lock()
    is_done.acquire()
    results: list[Result] = []
    errors: list[Exception] = []
    has_given_up = False

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            errors.append(error)
        with turn:
            if not has_given_up:
                is_done.release()
            elif results:
                undo(results[0])

    def give_up() -> bool:
        nonlocal has_given_up
        with turn:
            has_given_up = not is_done.acquire(blocking=False)
        return has_given_up

    try:
        start_new_thread(run, ())
    except RuntimeError as error:
        raise NoThread(str(error)) from None
    try:
        is_late = not is_done.acquire(timeout=max(0.0, min(seconds, _MAX_WAIT_SECONDS))) and give_up()
    except BaseException:
        if not give_up() and results:
            undo(results[0])
        raise
    if is_late:
        raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]
