"""Copies of the supervisor that do what takes long, so that no call waits for another one's."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from ferrule.errors import AnswerMissing, ToolCrashed
from ferrule.supervision import processes
from ferrule.supervision.channel.questions import learnt_from, sort_learnt, write_answer
from ferrule.text import strict_json

if TYPE_CHECKING:
    from ferrule.calls.fork_server.surroundings import Surroundings
    from ferrule.errors import FerruleError
    from ferrule.supervision.channel.channel import Messages
    from ferrule.supervision.signals import Signals
    from ferrule.text.json_types import JSONObject

MAX_QUESTIONS = 200  # of one copy and call
_CHUNK_BYTES = 1 << 16
_MAX_SECONDS = 20
_WHOLE = b"\n"  # behind what the helper says, once the answer has been given

Answer = Callable[["JSONObject"], "JSONObject"]


class Helper:
    """One such copy. work: writes to the file that it is given. done: gets what it has written, as far as it came."""

    def __init__(
        self, surroundings: Surroundings, work: Callable[[BinaryIO], object], done: Callable[[bytes], None]
    ) -> None:
        self._surroundings = surroundings
        self._done = done
        self._answer = bytearray()
        self._file, theirs = os.pipe()
        os.set_blocking(self._file, False)
        parent = os.getpid()
        try:
            self._process = os.fork()
        except OSError:
            os.close(self._file)
            os.close(theirs)
            raise
        if self._process == 0:
            _help(work, theirs, surroundings.signals, parent)
        os.close(theirs)
        surroundings.known.add(self._process)
        surroundings.loop.watch(self._file, self._read)

    def end(self) -> None:
        """Kill it, and give what it has written by now."""
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.set_blocking(self._file, False)
        while self._read_piece():
            pass
        self._finish()

    def _read(self) -> None:
        if self._read_piece() == b"":
            os.waitpid(self._process, 0)
            self._finish()

    def _read_piece(self) -> bytes | None:
        """Some of what has come; None where nothing has, and nothing at its end."""
        try:
            data = os.read(self._file, _CHUNK_BYTES)
        except BlockingIOError:
            return None
        self._answer += data
        return data

    def _finish(self) -> None:
        self._surroundings.loop.unwatch(self._file)
        os.close(self._file)
        self._surroundings.known.discard(self._process)
        self._done(bytes(self._answer))


def _help(work: Callable[[BinaryIO], object], file: int, signals: Signals, parent: int) -> None:
    """The copy's whole life; never returns."""
    try:
        processes.die_with_parent(parent)
        signals.restore()
        with open(file, "wb") as answer:
            work(answer)
    finally:
        os._exit(0)


class Questions:
    """What one call asks for, such as its credentials, one after the other. answer: as of `Surroundings.answer`.

    file: the pipe on which the call waits for an answer. resume: is called when none is being given any more. fail: is
    called where an answer could not be given.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        answer: Answer,
        file: int,
        messages: Messages,
        resume: Callable[[], None],
        fail: Callable[[FerruleError], None],
    ) -> None:
        self._fail = fail
        self._surroundings = surroundings
        self._answer = answer
        self._file = file
        self._messages = messages
        self._resume = resume
        self._helper: Helper | None = None
        self._count = 0

    @property
    def is_open(self) -> bool:
        """Whether an answer is being given. Until then the secrets in it are not known, so nothing of it is read."""
        return self._helper is not None

    def begin(self) -> None:
        """Answer the next question."""
        question = self._messages.questions.pop(0)
        self._count += 1
        if self._count > MAX_QUESTIONS:
            self._fail(ToolCrashed(f"The tool's process asked for credentials more than {MAX_QUESTIONS} times."))
            return
        try:
            self._helper = Helper(self._surroundings, lambda file: self._give(question, file), self._take)
        except OSError:  # no process or descriptor is left, and other calls have to go on
            self._fail(AnswerMissing())

    def end(self) -> None:
        """Give no answer any more."""
        self._resume = _do_nothing
        self._messages.questions.clear()
        if self._helper is not None:
            self._helper.end()

    def _give(self, question: JSONObject, file: BinaryIO) -> None:
        """In the copy. The secrets are named before the call gets them."""
        signal.alarm(_MAX_SECONDS)
        found = self._answer(question)
        file.write(strict_json.dumps(learnt_from(found)))
        file.flush()
        write_answer(self._file, question, found)
        file.write(_WHOLE)

    def _take(self, data: bytes) -> None:
        self._helper = None
        if not data.endswith(_WHOLE) and self._resume is not _do_nothing:
            self._fail(AnswerMissing())
            return
        secrets, refusals = sort_learnt(_learnt_in(data))
        self._messages.secrets += secrets
        self._messages.refusals += refusals
        if self._messages.questions:
            self.begin()
        elif self._helper is None:
            self._resume()


def _learnt_in(data: bytes) -> object:
    """What a helper has named, as of `learnt_from`. Where that is not whole, no answer has followed it."""
    try:
        return strict_json.loads(data.removesuffix(_WHOLE))
    except strict_json.MalformedJSON:
        return []


def _do_nothing() -> None:
    return
