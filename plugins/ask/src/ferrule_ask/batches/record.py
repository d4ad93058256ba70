"""The record of batches: a file next to that of the answers, with a line for each step, written before the next one.

{"step": "begun", "day": "2026-11-28", "run": "…"}
{"step": "sending", "label": "…", "at": 1795867200.0, "names": ["…"]}
{"step": "sent", "label": "…", "batch": "msgbatch_…", "certain": true}
{"step": "tool", "call": "…", "result": {…}}

It holds no key and no question. Whoever has it and the key goes on from there, on another machine too.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.tools.protocols import Passage, Source, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ferrule.text.json_types import JSONMapping, JSONObject

_RUN_BYTES = 8


class Batch(NamedTuple):
    """A batch that was sent, or was about to be.

    names: of its requests. at: seconds since 1970. id: None where it is not known. is_certain: whether the id is of
    this batch; else it is of one that is as large and as new, and its results will say whose it is.
    """

    label: str
    names: tuple[str, ...]
    at: float
    id: str | None = None
    is_certain: bool = False


class Record:
    """What is known of the batches of one work. Raises OSError where the file cannot be written.

    day: on which it was begun. run: a text that no other work has; empty for one that an earlier version has begun.

    Args:
        path: None for a work of which nothing is to be known.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._batches: dict[str, Batch] = {}
        self._results: dict[str, ToolResult] = {}
        self.day = self.run = ""
        for line in path.read_text("utf-8").splitlines() if path and path.exists() else ():
            self._take(line)
        self._is_begun = bool(self.day)
        if not self._is_begun:
            self.day, self.run = time.strftime("%Y-%m-%d"), secrets.token_hex(_RUN_BYTES)

    @property
    def batches(self) -> Sequence[Batch]:
        """Those that are known, in their order."""
        return list(self._batches.values())

    def begin(self, label: str, names: Sequence[str]) -> Batch:
        """Note that a batch is about to be sent."""
        batch = self._batches[label] = Batch(label, tuple(names), time.time())
        self._write({"step": "sending", "label": label, "at": batch.at, "names": list(names)})
        return batch

    def note_id(self, batch: Batch, identity: str | None, *, is_certain: bool) -> Batch:
        """Note the id of a batch, or whose it is; None where the one that was noted is another batch's."""
        sent = self._batches[batch.label] = batch._replace(id=identity, is_certain=is_certain)
        self._write({"step": "sent", "label": batch.label, "batch": identity, "certain": is_certain})
        return sent

    def drop(self, batch: Batch) -> None:
        """Note that a batch was never made, or is not ours."""
        self._batches.pop(batch.label, None)
        self._write({"step": "dropped", "label": batch.label})

    def result(self, call: str) -> ToolResult | None:
        """What a tool has answered to this call before; None for a call that was not made."""
        return self._results.get(call)

    def note_result(self, call: str, result: ToolResult) -> None:
        """Note what a tool has answered."""
        self._results[call] = result
        self._write({"step": "tool", "call": call, "result": result._asdict()})

    def remove(self) -> None:
        """The work is done."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _take(self, line: str) -> None:
        try:
            facts: JSONObject = json.loads(line)
            step, label = facts["step"], facts.get("label", "")
            if step == "begun":
                self.day, self.run = facts["day"], facts.get("run", "")
            elif step == "sending":
                self._batches[label] = Batch(label, tuple(facts["names"]), facts["at"])
            elif step == "sent":
                is_certain = facts.get("certain") is True  # an earlier version did not say how it had found the id
                self._batches[label] = self._batches[label]._replace(id=facts["batch"], is_certain=is_certain)
            elif step == "dropped":
                self._batches.pop(label, None)
            elif step == "tool":
                self._results[facts["call"]] = _result(facts["result"])
        except (ValueError, KeyError, TypeError):
            return  # the last line, in which the program was ended

    def _write(self, facts: JSONMapping) -> None:
        """Add a line, which is on the disk afterwards. It begins on a line of its own, whatever stands before."""
        if self._path is None:
            return
        if not self._is_begun:
            self._is_begun = True
            self._write({"step": "begun", "day": self.day, "run": self.run})
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            data = f"\n{json.dumps(facts)}\n".encode()
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        finally:
            os.close(file)


def _result(facts: JSONMapping) -> ToolResult:
    sources = tuple(Source(*one) for one in facts["sources"])
    passages = tuple(Passage(*one) for one in facts.get("passages", ()))
    return ToolResult(**{**facts, "sources": sources, "passages": passages})
