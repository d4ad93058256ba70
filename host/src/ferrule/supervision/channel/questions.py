"""What a child asks its parent: questions over the channel, answers over a pipe of their own.

A question has a number, and so has its answer, a JSON object behind number and size: one that comes when nobody waits
for it any more is passed over, and is never taken for the answer to the next question.

An answer may hold the values of credentials, and a process that will fork another child must not have these in its
memory: it is worked out in a copy of the parent, which ends with it. Of the secrets in it the parent learns, since it
keeps them out of every output; so what asks it to run another tool is done by a process that a zygote forks, which has
none of them. What an answer has under `UNSAID` is for the parent alone.
"""

from __future__ import annotations

import os

from ferrule.errors import AnswerMissing, FerruleError, WorkFailed
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn, Protocol

    from ferrule.errors import ErrorFacts, ToolCrashed
    from ferrule.supervision.zygote import ForkedProcess, Zygote
    from ferrule.text.json_types import JSONMapping, JSONObject

    Answer = Callable[[JSONObject], JSONObject]

    class Runs(Protocol):
        """Has other tools run for the child. A plugin's code must not say who it is, so this says it."""

        def start(self, question: JSONMapping, files: tuple[int, int]) -> ForkedProcess:
            """Have a question answered in another process, see `fork_answer`."""

    class _Process(Protocol):
        """The process that gives an answer. file: is readable once it has ended."""

        @property
        def number(self) -> int: ...
        @property
        def file(self) -> int: ...
        def result(self, seconds: float) -> object: ...
        def end(self) -> None: ...


NUMBER = "number"  # the key of a question under which its number stands
RUN = "run"  # the key of a question under which stands the name of a tool that is to be run
RUN_KIND = b"r"  # of what a zygote forks for that
UNSAID = "unsaid"  # the key of an answer under which stand failures of which its parent alone learns
MAX_QUESTIONS = 200  # of one child
_WORD_BYTES = 8  # of a number, and of a size
_HEAD_BYTES = 2 * _WORD_BYTES
_MAX_ANSWER_BYTES = 16 << 20
_PIECE_BYTES = 1 << 16
_RESULT_SECONDS = 10.0  # in which, on any machine, a copy says how it has ended that has begun to say so
_END = b"\n"  # of the names of secrets


class AnswerPipe:
    """The end of the pipe from which a process reads the answers to its questions."""

    __slots__ = ("_number", "file")

    def __init__(self, file: int) -> None:
        self.file = file
        self._number = 0

    def next_number(self) -> int:
        """The number of the next question."""
        self._number += 1
        return self._number

    def read(self, number: int) -> JSONObject:
        """The answer to a question, for which it waits. Answers to other questions are passed over.

        Raises AnswerMissing where none comes.
        """
        while True:
            head = self._read(_HEAD_BYTES)
            size = int.from_bytes(head[_WORD_BYTES:], "big")
            if size > _MAX_ANSWER_BYTES:
                raise AnswerMissing()
            document = self._read(size)
            if int.from_bytes(head[:_WORD_BYTES], "big") == number:
                break
        found = strict_json.loads(document)
        if not isinstance(found, dict):
            raise AnswerMissing()
        return found

    def _read(self, size: int) -> bytes:
        """So many bytes. Raises AnswerMissing where they do not come."""
        data = bytearray()
        while len(data) < size and (piece := os.read(self.file, min(_PIECE_BYTES, size - len(data)))):
            data += piece
        if len(data) < size:
            raise AnswerMissing()
        return bytes(data)


class Desk:
    """Where the questions of one child are answered, one after the other, while its parent goes on watching it.

    Args:
        answer: gives an answer, in a copy of this process.
        file: the pipe to which it is written.
        others: gets the process of each answer, which is none of the child's.
        runs: has other tools run for the child. refusals: the failures in what was answered.
    """

    def __init__(self, answer: Answer, file: int, others: set[int], runs: Runs | None = None) -> None:
        self._answer = answer
        self._runs = runs
        self._file = file
        self._others = others
        self._count = 0
        self._work: _AnswerWork | None = None
        self.refusals: list[ErrorFacts] = []

    @property
    def file(self) -> int | None:
        """What is readable when there is something to do; None where no answer is being given."""
        return None if self._work is None else self._work.file

    def begin(self, question: JSONObject) -> None:
        """Have a question answered. Raises OSError, and ToolCrashed for too many questions."""
        self._count += 1
        if self._count > MAX_QUESTIONS:
            raise _too_many(MAX_QUESTIONS)
        self._work = _AnswerWork(lambda told: self._start(question, told), self.refusals, self._others)

    def _start(self, question: JSONObject, told: int) -> _Process:
        if self._runs is not None and RUN in question:
            return self._runs.start(question, (told, self._file))
        from ferrule.supervision.bounded import BoundedProcess

        return BoundedProcess(lambda: give(self._answer(question), question, told, self._file))

    def advance(self) -> list[str]:
        """Go on with the answer; the secrets in it that have become known. Raises WorkFailed."""
        secrets = [] if self._work is None else self._work.advance()
        return [*secrets, *(self.close() if self.file is None else ())]

    def close(self) -> list[str]:
        """Give no answer any more; the secrets that have become known since."""
        work, self._work = self._work, None
        return [] if work is None else work.close()


class _AnswerWork:
    """An answer that another process works out, and writes to a pipe once it has named the secrets in it.

    start: starts that process, which names them to a file. file: is readable when there is something to do; None once
    the answer has been given.
    """

    def __init__(self, start: Callable[[int], _Process], refusals: list[ErrorFacts], others: set[int]) -> None:
        self._refusals = refusals
        self._others = others
        self._told = b""
        self._last = b""  # bytes of what was told
        self._names, theirs = os.pipe()
        try:
            self._process: _Process | None = start(theirs)
        except (OSError, FerruleError):
            os.close(self._names)
            raise
        finally:
            os.close(theirs)
        others.add(self._process.number)
        os.set_blocking(self._names, False)
        self.file: int | None = self._names

    def advance(self) -> list[str]:
        """Go on; the secrets in the answer that have become known. Raises WorkFailed, also where the process has
        ended before it had given the answer, for which the child would wait.
        """
        if self.file == self._names:
            is_told = self._read_names()
            self.file = None if self._process is None else self._process.file if is_told else self.file
            return self._take_names() if is_told else []
        process, self._process, self.file = self._process, None, None
        if process is not None:
            try:
                process.result(_RESULT_SECONDS)
            finally:
                self._others.discard(process.number)
            self._read_names()
            if self._last != 2 * _END:
                raise WorkFailed("What the tool's process asked was not answered: the process that does so has ended.")
        return []

    def close(self) -> list[str]:
        """Give no answer any more; the secrets that have become known since."""
        process, self._process, self.file = self._process, None, None
        if process is not None:
            process.end()
            self._others.discard(process.number)
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
            self._last = (self._last + piece)[-2:]

    def _take_names(self) -> list[str]:
        """The names, once. What is not whole was not followed by an answer."""
        told, self._told = self._told, b""
        secrets, refusals = sort_learnt(strict_json.loads(told) if told.endswith(_END) and told.strip() else [])
        self._refusals += refusals
        return secrets


def give(answer: JSONMapping, question: JSONMapping, told: int, file: int) -> None:
    """Give an answer, in the process that has worked it out: name what its parent has to know, and write it.

    Args:
        told: gets the former, on one line, and an empty line once the answer has been written.
        file: the pipe from which the child reads.
    """
    _write_all(told, strict_json.dumps(learnt_from(answer)) + _END)
    write_answer(file, question, answer)
    _write_all(told, _END)


def fork_answer(server: Zygote, question: JSONMapping, files: tuple[int, int]) -> ForkedProcess:
    """Have a process forked that gives an answer by `give_forked`. files: see `give`. Raises OSError."""
    from ferrule.supervision.zygote import ForkedProcess

    try:
        document = strict_json.dumps(dict(question))
    except strict_json.Unrepresentable:
        raise AnswerMissing() from None
    request = _anonymous_file()
    try:
        _write_all(request, document)
        return ForkedProcess(server, RUN_KIND, (request, *files))
    finally:
        os.close(request)


def give_forked(files: Sequence[int], answer: Answer, parent: int) -> NoReturn:
    """The whole life of a process that was forked by `fork_answer`. answer: gives the answer. Never returns.

    parent: the process that adopts it, with which it ends.
    """
    from ferrule.supervision import processes

    try:
        os.setsid()
        processes.die_with_adopter(parent)
        request, told, file, _ = files
        question = strict_json.loads_object(os.pread(request, os.fstat(request).st_size, 0))
        give(answer(question), question, told, file)
    finally:
        os._exit(0)


def _anonymous_file() -> int:
    """A file without a name: a question may be longer than what a pipe takes at once."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("question")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def learnt_from(answer: JSONMapping) -> list[object]:
    """What a parent has to know of an answer that a copy of it gives, as `sort_learnt` reads it."""
    known = answer.get("credentials")
    facts = known.values() if isinstance(known, dict) else ()
    denied = [one["denied"] for one in facts if isinstance(one, dict) and isinstance(one.get("denied"), dict)]
    return [*(str(one) for one in answer.get("secrets", ())), *denied, *answer.get(UNSAID, ())]


def sort_learnt(found: object) -> tuple[list[str], list[ErrorFacts]]:
    """The secrets and the failures of what `learnt_from` has returned."""
    listed = found if isinstance(found, list) else []
    refusals: list[ErrorFacts] = [one for one in listed if isinstance(one, dict)]  # type: ignore[misc] # the answerer has made them
    return [one for one in listed if isinstance(one, str)], refusals


def write_answer(file: int, question: JSONMapping, answer: JSONMapping) -> None:
    """Write the answer to a question to the pipe from which a child reads it. A child that has ended needs none."""
    document = strict_json.dumps({key: value for key, value in answer.items() if key != UNSAID})
    try:
        _write_all(file, _head(question, len(document)) + document)
    except BrokenPipeError:
        pass


def _too_many(number: int) -> ToolCrashed:
    from ferrule.errors import ToolCrashed

    return ToolCrashed(f"The tool's process asked the host more than {number} times.")


def _head(question: JSONMapping, size: int) -> bytes:
    number = question.get(NUMBER)
    is_number = isinstance(number, int) and 0 <= number < 1 << 63
    return (number if is_number else 0).to_bytes(_WORD_BYTES, "big") + size.to_bytes(_WORD_BYTES, "big")  # type: ignore[union-attr] # an int, as it says


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]
