"""What a child asks its parent: questions over the channel, answers over a pipe of their own.

The answer to a question is a JSON object behind its size. It holds the values of credentials, so whoever only passes it
on, and whoever will fork another child, must not have it in its memory: it is worked out in a copy of the parent, which
ends at once. Of `secrets` in it the parent learns, since it keeps them out of every output.
"""

from __future__ import annotations

import os
import select
import sys
import time

from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.text.json_types import JSONMapping, JSONObject

    Answer = Callable[[JSONObject], JSONObject]

SIZE_BYTES = 8
OWN = "work"  # the key of a question that is not for the host, see `Reception`
MAX_QUESTIONS = 200  # of one child
_MAX_SECONDS = 5.0  # for one answer
_MAX_ANSWER_BYTES = 4 << 20
_PIECE_BYTES = 1 << 16


class Relay:
    """Passes questions of a child on to the parent of this process, and the answers down.

    send: sends a question on the channel of this process, and returns the pipe with the answers. facts: said with each
    question, whatever the child says.
    """

    def __init__(self, send: Callable[[JSONObject], int], facts: JSONMapping) -> None:
        self._send = send
        self._facts = facts

    def pass_on(self, question: JSONObject, file: int, seconds: float) -> None:
        """Have the answer written to a pipe. The secrets in it are known to who gives it, and none comes here."""
        source = self._send({**question, **self._facts, "is_relayed": True})
        head = _read_within(source, SIZE_BYTES, seconds)
        _write_all(file, head)
        left = int.from_bytes(head, "big")
        while left > 0:
            left -= _move(source, file, left)


class Reception:
    """Answers what a child asks of the code that has it do work, and hands on what it asks of the host.

    own: gives the former answers, in this process, since there are no secrets in them; it must not wait for long.
    other: gives the latter.
    """

    __slots__ = ("other", "own")

    def __init__(self, own: Answer, other: Answer | Relay) -> None:
        self.own = own
        self.other = other


class Desk:
    """Where the questions of one child are answered.

    answer: gives an answer, in a copy of this process. file: the pipe to which it is written.
    """

    def __init__(self, answer: Answer | Relay | Reception, file: int) -> None:
        self._own = answer.own if isinstance(answer, Reception) else None
        self._answer = answer.other if isinstance(answer, Reception) else answer
        self._file = file
        self._count = 0

    def answer(self, question: JSONObject, deadline: float) -> list[str]:
        """Have a question answered, and return the secrets in the answer.

        deadline: an instant of `time.monotonic()`. Raises WorkFailed, and ToolCrashed for too many questions.
        """
        self._count += 1
        if self._count > MAX_QUESTIONS:
            from ferrule.errors import ToolCrashed

            raise ToolCrashed(f"The tool's process asked for credentials more than {MAX_QUESTIONS} times.")
        seconds = min(_MAX_SECONDS, max(0.01, deadline - time.monotonic()))
        if self._own is not None and OWN in question:
            self._write(_own_answer(self._own, question))
            return []
        if isinstance(self._answer, Relay):
            self._answer.pass_on(question, self._file, seconds)
            return []
        return self._answer_in_copy(self._answer, question, seconds)

    def _answer_in_copy(self, answer: Answer, question: JSONObject, seconds: float) -> list[str]:
        from ferrule.supervision.bounded import bounded

        def give() -> list[str]:
            found = answer(question)
            self._write(found)
            return [str(one) for one in found.get("secrets", ())]

        return bounded(give, seconds=seconds)

    def _write(self, answer: JSONMapping) -> None:
        document = strict_json.dumps(dict(answer))
        _write_all(self._file, len(document).to_bytes(SIZE_BYTES, "big"))
        _write_all(self._file, document)


def _own_answer(own: Answer, question: JSONObject) -> JSONObject:
    try:
        return own(question)
    except Exception as error:
        from ferrule.errors import WorkFailed

        reason = type(error).__name__  # its text may be the child's own
        raise WorkFailed(f"What the work asked could not be answered ({reason}).") from error


def read_answer(file: int) -> JSONObject:
    """The next answer; `{}` where none comes any more."""
    size = int.from_bytes(_read(file, SIZE_BYTES), "big")
    found = strict_json.loads(_read(file, size)) if 0 < size <= _MAX_ANSWER_BYTES else {}
    return found if isinstance(found, dict) else {}


def _read(file: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := os.read(file, min(_PIECE_BYTES, size - len(data)))):
        data += piece
    return bytes(data)


def _read_within(file: int, size: int, seconds: float) -> bytes:
    """A few bytes that come together. Raises WorkFailed where they do not come in time."""
    limit = time.monotonic() + seconds
    poll = select.poll()
    poll.register(file, select.POLLIN)
    data = b""
    while len(data) < size and poll.poll(max(0.0, limit - time.monotonic()) * 1000):
        piece = os.read(file, size - len(data))
        if not piece:
            break
        data += piece
    if len(data) < size:
        from ferrule.errors import WorkFailed

        raise WorkFailed("The host has not answered what the tool's process asked.")
    return data


def _move(source: int, file: int, size: int) -> int:
    """Move bytes from pipe to pipe: within the kernel where there is a call for it, so that no trace is left here."""
    if sys.platform == "linux":
        moved = os.splice(source, file, min(size, _PIECE_BYTES))
    else:
        piece = os.read(source, min(size, _PIECE_BYTES))
        _write_all(file, piece)
        moved = len(piece)
    if not moved:
        from ferrule.errors import WorkFailed

        raise WorkFailed("The host has answered in part only.")
    return moved


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]
