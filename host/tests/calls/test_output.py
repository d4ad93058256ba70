"""What a finished call puts on stderr."""

from ferrule.calls.output import render
from ferrule.calls.streams import ERROR_BYTES
from ferrule.supervision.channel.outcome import Outcome

FAILURE = {"code": "AUTH_MISSING", "message": "No key."}


def stderr(length: int) -> bytes:
    """stderr of a call that failed, after an event with a content of that length."""
    event = {"kind": "config_required", "content": "x" * length}
    return render(Outcome(None, dict(FAILURE), [event], b"printed"), None, "dice", {}).text


def test_a_setup_event_is_all_that_stderr_holds() -> None:
    assert stderr(10) == b'{"kind":"config_required","content":"xxxxxxxxxx"}\n'


def test_a_setup_event_that_the_client_would_cut_is_left_out() -> None:
    frame = len(stderr(0))
    assert len(stderr(ERROR_BYTES - frame)) == ERROR_BYTES
    assert stderr(ERROR_BYTES - frame + 1) == b"dice: AUTH_MISSING: No key.\nprinted"
