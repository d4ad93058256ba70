"""What a child asks its parent: questions over the channel, answers over a pipe of their own.

A question has a number, and so has its answer, a JSON object behind number and size: one that comes when nobody waits
for it any more is passed over, and is never taken for the answer to the next question.

An answer holds the values of credentials, so whoever only passes it on, and whoever will fork another child, must not
have it in its memory: it is worked out in a copy of the parent, which ends at once. Of `secrets` in it the parent
learns, since it keeps them out of every output.
"""

from __future__ import annotations

import os
import select
import sys
import time

from ferrule.errors import AnswerMissing
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from ferrule.errors import ErrorFacts, ToolCrashed
    from ferrule.text.json_types import JSONMapping, JSONObject

    Answer = Callable[[JSONObject], JSONObject]

    class AskingChannel(Protocol):
        """A channel on which this process asks its own parent."""

        answers: AnswerPipe | None

        def send_question(self, question: JSONMapping) -> int:
            """Send a question, and return its number."""

    class _AnswerWork(Protocol):
        """One answer that is being given.

        file: is readable when there is something to do; None once the answer has been given.
        """

        file: int | None

        def advance(self) -> list[str]:
            """Go on; the secrets in the answer that have become known."""

        def close(self) -> list[str]:
            """Give no answer any more; the secrets that have become known since."""


NUMBER = "number"  # the key of a question under which its number stands
OWN = "work"  # the key of a question that is not for the host, see `Reception`
MAX_QUESTIONS = 200  # of one child
_MAX_RELAYED = 20  # of one child, so that one tool does not use up what the others of a call may ask
_PAUSE_SECONDS = 0.005
_ROUND_SECONDS = 0.05  # for which an answer may wait for who reads it, before something else has its turn
_WORD_BYTES = 8  # of a number, and of a size
_HEAD_BYTES = 2 * _WORD_BYTES
_MAX_ANSWER_BYTES = 4 << 20
_PIECE_BYTES = 1 << 16
_RESULT_SECONDS = 10.0  # in which, on any machine, a copy says how it has ended that has begun to say so
_END = b"\n"  # of the names of secrets


class AnswerPipe:
    """The end of the pipe from which a process reads the answers to its questions."""

    __slots__ = ("_left", "_number", "file")

    def __init__(self, file: int) -> None:
        self.file = file
        self._number = 0
        self._left = 0  # bytes of the answer that is being read

    def next_number(self) -> int:
        """The number of the next question."""
        self._number += 1
        return self._number

    def read(self, number: int) -> JSONObject:
        """The answer to a question, for which it waits. Raises AnswerMissing where none comes."""
        size = self.find(number, may_wait=True)
        if size is None or size > _MAX_ANSWER_BYTES:
            raise AnswerMissing()
        found = strict_json.loads(self._take(size))
        if not isinstance(found, dict):
            raise AnswerMissing()
        return found

    def find(self, number: int, *, may_wait: bool = False) -> int | None:
        """Go on to the answer to a question; its size, or None where it is not there yet.

        Answers to other questions are passed over. Raises AnswerMissing where no answer comes any more.
        """
        poll = select.poll()
        poll.register(self.file, select.POLLIN)
        while may_wait or poll.poll(0):
            if self._left:
                self._pass_over()
                continue
            head = _read(self.file, _HEAD_BYTES)
            if len(head) < _HEAD_BYTES:
                raise AnswerMissing()
            self._left = int.from_bytes(head[_WORD_BYTES:], "big")
            if int.from_bytes(head[:_WORD_BYTES], "big") == number:
                return self._left
        return None

    def move_to(self, file: int) -> bool:
        """Move the answer that was found to another pipe, without a trace of it in this process; whether it is whole.

        It stops where the other end reads nothing for a moment. Raises AnswerMissing where the answer ends too soon.
        """
        while self._left:
            if not (_is_ready(self.file, select.POLLIN) and _is_ready(file, select.POLLOUT)):
                return False
            try:
                self._left -= _move(self.file, file, self._left)
            except BlockingIOError:  # there is room for bytes in the pipe, and not for one more page
                time.sleep(_PAUSE_SECONDS)
                return False
        return True

    def _pass_over(self) -> None:
        """Leave out the rest of an answer: unseen, since what is in it was for another tool."""
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            while self._left:
                self._left -= _move(self.file, nothing, self._left, may_wait=True)
        finally:
            os.close(nothing)

    def _take(self, size: int) -> bytes:
        data = _read(self.file, size)
        self._left -= len(data)
        if len(data) < size:
            self._left = 0
            raise AnswerMissing()
        return data


class Relay:
    """Passes questions of a child on to the parent of this process, and the answers down.

    channel: of this process to its parent. facts: said with each question, whatever the child says.
    """

    def __init__(self, channel: AskingChannel, facts: JSONMapping) -> None:
        self._channel = channel
        self._facts = facts
        self._count = 0

    def begin(self, question: JSONObject, file: int) -> _RelayedAnswer:
        """Pass a question on. The secrets in its answer are known to who gives it, and none comes here.

        Raises ToolCrashed for too many questions.
        """
        self._count += 1
        if self._count > _MAX_RELAYED:
            raise _too_many(_MAX_RELAYED)
        return _RelayedAnswer(self._channel, {**question, **self._facts, "is_relayed": True}, question, file)


class _RelayedAnswer:
    """An answer that comes from the parent of this process, and is moved to a pipe."""

    def __init__(self, channel: AskingChannel, sent: JSONObject, asked: JSONObject, file: int) -> None:
        if channel.answers is None:
            raise AnswerMissing()
        self._pipe = channel.answers
        self.file: int | None = self._pipe.file
        self._asked = asked
        self._target = file
        self._is_found = False
        self._number = channel.send_question(sent)

    def advance(self) -> list[str]:
        try:
            if not self._is_found:
                size = self._pipe.find(self._number)
                if size is None or not _is_ready(self._target, select.POLLOUT):
                    return []
                self._is_found = True
                _write_all(self._target, _head(self._asked, size))
            if self._pipe.move_to(self._target):
                self.file = None
        except BrokenPipeError:
            self.file = None  # the child has ended, and how is found next
        return []

    def close(self) -> list[str]:
        return []  # what comes from now on is passed over by the next one


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
    """Where the questions of one child are answered, one after the other, while its parent goes on watching it.

    answer: gives an answer, in a copy of this process. file: the pipe to which it is written. refusals: the failures in
    what was answered.
    """

    def __init__(self, answer: Answer | Relay | Reception, file: int) -> None:
        self._own = answer.own if isinstance(answer, Reception) else None
        self._answer = answer.other if isinstance(answer, Reception) else answer
        self._file = file
        self._count = 0
        self._work: _AnswerWork | None = None
        self.refusals: list[ErrorFacts] = []

    @property
    def file(self) -> int | None:
        """What is readable when there is something to do; None where no answer is being given."""
        return None if self._work is None else self._work.file

    def begin(self, question: JSONObject) -> None:
        """Have a question answered. Raises WorkFailed, and ToolCrashed for too many questions."""
        self._count += 1
        if self._count > MAX_QUESTIONS:
            raise _too_many(MAX_QUESTIONS)
        if self._own is not None and OWN in question:
            asked = {key: value for key, value in question.items() if key != NUMBER}
            write_answer(self._file, question, _own_answer(self._own, asked))
        elif isinstance(self._answer, Relay):
            self._work = self._answer.begin(question, self._file)
        else:
            self._work = _CopiedAnswer(self._answer, question, self._file, self.refusals)

    def advance(self) -> list[str]:
        """Go on with the answer; the secrets in it that have become known. Raises WorkFailed and AnswerMissing."""
        secrets = [] if self._work is None else self._work.advance()
        return [*secrets, *(self.close() if self.file is None else ())]

    def close(self) -> list[str]:
        """Give no answer any more; the secrets that have become known since."""
        work, self._work = self._work, None
        return [] if work is None else work.close()


class _CopiedAnswer:
    """An answer that a copy of this process works out, and writes to a pipe once it has named the secrets in it."""

    def __init__(self, answer: Answer, question: JSONObject, file: int, refusals: list[ErrorFacts]) -> None:
        from ferrule.supervision.bounded import BoundedProcess

        self._refusals = refusals
        self._told = b""
        self._names, theirs = os.pipe()

        def give() -> None:
            found = answer(question)
            _write_all(theirs, strict_json.dumps(learnt_from(found)) + _END)
            write_answer(file, question, found)

        try:
            self._process: BoundedProcess | None = BoundedProcess(give)
        except OSError:
            os.close(self._names)
            raise
        finally:
            os.close(theirs)
        os.set_blocking(self._names, False)
        self.file: int | None = self._names

    def advance(self) -> list[str]:
        if self.file == self._names:
            is_told = self._read_names()
            self.file = None if self._process is None else self._process.file if is_told else self.file
            return self._take_names() if is_told else []
        process, self._process, self.file = self._process, None, None
        if process is not None:
            process.result(_RESULT_SECONDS)
        return []

    def close(self) -> list[str]:
        process, self._process, self.file = self._process, None, None
        if process is not None:
            process.end()
        if self._names < 0:
            return []
        self._read_names()
        os.close(self._names)
        self._names = -1
        return self._take_names()

    def _read_names(self) -> bool:
        """Read what has come of the names; whether that is all."""
        while True:
            try:
                piece = os.read(self._names, _PIECE_BYTES)
            except BlockingIOError:
                return self._told.endswith(_END)
            if not piece:
                return True
            self._told += piece

    def _take_names(self) -> list[str]:
        """The names, once. What is not whole was not followed by an answer."""
        told, self._told = self._told, b""
        found = strict_json.loads(told) if told.endswith(_END) else []
        secrets, refusals = sort_learnt(found)
        self._refusals += refusals
        return secrets


def learnt_from(answer: JSONMapping) -> list[object]:
    """What a parent has to know of an answer that a copy of it gives: its secrets, and the failures in it."""
    known = answer.get("credentials")
    facts = known.values() if isinstance(known, dict) else ()
    denied = [one["denied"] for one in facts if isinstance(one, dict) and isinstance(one.get("denied"), dict)]
    return [*(str(one) for one in answer.get("secrets", ())), *denied]


def sort_learnt(found: object) -> tuple[list[str], list[ErrorFacts]]:
    """The secrets and the failures of what `learnt_from` has returned."""
    listed = found if isinstance(found, list) else []
    refusals: list[ErrorFacts] = [one for one in listed if isinstance(one, dict)]  # type: ignore[misc] # the answerer has made them
    return [one for one in listed if isinstance(one, str)], refusals


def write_answer(file: int, question: JSONMapping, answer: JSONMapping) -> None:
    """Write the answer to a question to the pipe from which a child reads it. A child that has ended needs none."""
    document = strict_json.dumps(dict(answer))
    try:
        _write_all(file, _head(question, len(document)) + document)
    except BrokenPipeError:
        pass


def _too_many(number: int) -> ToolCrashed:
    from ferrule.errors import ToolCrashed

    return ToolCrashed(f"The tool's process asked for credentials more than {number} times.")


def _head(question: JSONMapping, size: int) -> bytes:
    number = question.get(NUMBER)
    is_number = isinstance(number, int) and 0 <= number < 1 << 63
    return (number if is_number else 0).to_bytes(_WORD_BYTES, "big") + size.to_bytes(_WORD_BYTES, "big")  # type: ignore[union-attr] # an int, as it says


def _own_answer(own: Answer, question: JSONObject) -> JSONObject:
    try:
        return own(question)
    except Exception as error:
        from ferrule.errors import WorkFailed

        reason = type(error).__name__  # its text may be the child's own
        raise WorkFailed(f"What the work asked could not be answered ({reason}).") from error


def _read(file: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := os.read(file, min(_PIECE_BYTES, size - len(data)))):
        data += piece
    return bytes(data)


def _is_ready(file: int, for_what: int) -> bool:
    poll = select.poll()
    poll.register(file, for_what)
    return bool(poll.poll(_ROUND_SECONDS * 1000))


def _move(source: int, file: int, size: int, *, may_wait: bool = False) -> int:
    """Move bytes from pipe to pipe: within the kernel where there is a call for it, so that no trace is left here."""
    if sys.platform == "linux":
        moved = os.splice(source, file, min(size, _PIECE_BYTES), flags=0 if may_wait else os.SPLICE_F_NONBLOCK)
    else:
        piece = os.read(source, min(size, _PIECE_BYTES))
        _write_all(file, piece)
        moved = len(piece)
    if not moved:
        raise AnswerMissing()
    return moved


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]
