"""Processes that do for the supervisor what takes long, so that no call waits for another one's."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, Protocol

from ferrule.errors import AnswerMissing, FerruleError, ToolCrashed
from ferrule.schema.schema_file import RememberedModules
from ferrule.supervision import processes
from ferrule.supervision.channel.questions import MAX_QUESTIONS, RUN, fork_answer, give, sort_learnt
from ferrule.text import strict_json
from ferrule.trust.credentials.declared_keys import KEY

if TYPE_CHECKING:
    from ferrule.calls.fork_server.surroundings import Surroundings
    from ferrule.plugin.surroundings import Surroundings as GivenSurroundings
    from ferrule.supervision.channel.channel import Messages
    from ferrule.supervision.signals import Signals
    from ferrule.text.json_types import JSONObject

    class HelperProcess(Protocol):
        """number: of the process."""

        number: int

        def end(self) -> None:
            """End it, and wait for that."""


_CHUNK_BYTES = 1 << 16
_MAX_SECONDS = 20
_WHOLE = b"\n\n"  # behind what the helper says, once the answer has been given


class Helper:
    """One such process. start: starts it, with the file to which it writes. done: gets that, as far as it came."""

    def __init__(
        self, surroundings: Surroundings, start: Callable[[int], HelperProcess], done: Callable[[bytes], None]
    ) -> None:
        self._surroundings = surroundings
        self._done = done
        self._answer = bytearray()
        self._file, theirs = os.pipe()
        os.set_blocking(self._file, False)
        try:
            self._process = start(theirs)
        except (OSError, FerruleError):
            os.close(self._file)
            raise
        finally:
            os.close(theirs)
        surroundings.known.add(self._process.number)
        surroundings.loop.watch(self._file, self._read)

    def end(self) -> None:
        """Kill it, and give what it has written by now."""
        self._process.end()
        while self._read_piece():
            pass
        self._finish()

    def _read(self) -> None:
        if self._read_piece() == b"":
            self._process.end()  # it has written all
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
        self._surroundings.known.discard(self._process.number)
        self._done(bytes(self._answer))


class CopiedProcess:
    """A copy of this process. work: what it does. number: of the process."""

    def __init__(self, signals: Signals, work: Callable[[], object]) -> None:
        parent = os.getpid()
        self.number = os.fork()
        if self.number == 0:
            _help(work, signals, parent)

    def end(self) -> None:
        """Kill it, and wait for its end."""
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)


def _help(work: Callable[[], object], signals: Signals, parent: int) -> NoReturn:
    """The copy's whole life."""
    try:
        processes.die_with_parent(parent)
        signals.restore()
        work()
    finally:
        os._exit(0)


class Questions:
    """What one call asks for, such as its credentials, one after the other.

    Args:
        given: answers, and says who asks to have another tool run.
        file: the pipe on which the call waits for an answer.
        resume: is called when none is being given any more.
        fail: is called where an answer could not be given.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        given: GivenSurroundings,
        file: int,
        messages: Messages,
        resume: Callable[[], None],
        fail: Callable[[FerruleError], None],
    ) -> None:
        self._fail = fail
        self._surroundings = surroundings
        self._given = given
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
            self._fail(ToolCrashed(f"The tool's process asked the host more than {MAX_QUESTIONS} times."))
            return
        try:
            self._helper = Helper(self._surroundings, lambda told: self._start(question, told), self._take)
        except FerruleError as error:  # the configuration cannot be read
            self._fail(error)
        except OSError:  # no process or descriptor is left, and other calls have to go on
            self._fail(AnswerMissing())

    def end(self) -> None:
        """Give no answer any more."""
        self._resume = _do_nothing
        self._messages.questions.clear()
        if self._helper is not None:
            self._helper.end()

    def _start(self, question: JSONObject, told: int) -> HelperProcess:
        if RUN in question and (facts := self._given.run_facts(question[RUN]))["names"]:
            return fork_answer(self._surroundings.zygote, {**question, **facts}, (told, self._file))
        if KEY in question:
            self._surroundings.answers.import_all()  # once here, and not in each copy
        return CopiedProcess(self._surroundings.signals, lambda: self._give(question, told))

    def _give(self, question: JSONObject, told: int) -> None:
        """In the copy, which ends before any package changes. The secrets are named before the call gets them."""
        signal.alarm(_MAX_SECONDS)
        with RememberedModules():
            answer = self._given.answer(question)
        give(answer, question, told, self._file)

    def _take(self, data: bytes) -> None:
        self._helper = None
        if not data.endswith(_WHOLE) and self._resume is not _do_nothing:
            self._fail(AnswerMissing())
            return
        secrets, refusals = sort_learnt(_learnt_in(data))
        self._messages.secrets += secrets
        self._messages.refusals += refusals
        self._surroundings.answers.rehearse(self._given)
        if self._messages.questions:
            self.begin()
        elif self._helper is None:
            self._resume()


def _learnt_in(data: bytes) -> object:
    """What a helper has named, see `learnt_from`. Where that is not whole, no answer has followed it."""
    try:
        return strict_json.loads(data.removesuffix(_WHOLE))
    except strict_json.MalformedJSON:
        return []


def _do_nothing() -> None:
    return
