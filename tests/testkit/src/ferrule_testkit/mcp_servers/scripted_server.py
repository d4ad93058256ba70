"""A server over stdio that does what a scenario says: python scripted_server.py SCENARIO.

SCENARIO is a JSON file: {"start": [ACTION, …], "on": {METHOD: [[ACTION, …], …]}, "end": [ACTION, …]}. What stands below
`on` is done for the first message of a method, for the second, and so on; the last of them for all that follow. `end`
is done at the end of stdin. Without a word on it, `initialize` and `tools/list` are answered, and messages without an
id are not.

An action is an object with one key:

- result, error: the answer to the message; a result gets `resultType` where the scenario says `"modern": true`
- echo: the answer is a result whose text is the `params` of the message, as JSON
- count: the answer is a result whose text is the number of messages of its method so far, and this process, as JSON
- file: the answer is a result whose text is the content of a file, as JSON, or why it cannot be read
- send: any message. ask: a request, whose answer is waited for and kept. answered: a result whose text is that answer
- line, bytes: what is written to stdout, as text with a line end, as base64
- stderr: what is written there
- times: [NUMBER, ACTION]
- exit, signal: the end of the process. ignore: a signal. close: stdout. hang: nothing more, also at the end of stdin
- fork: a process of the same group that goes on, and holds stdout open. leave: the same in a session of its own
- read: one message, which is dropped
- wait: until a file is there. touch: make one. age: give one the time 0, in a folder that is made where it is missing
"""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import sys
from typing import Any

_INFO = {"name": "scripted", "version": "1"}


class Server:
    """Does what a scenario says."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self._scenario = scenario
        self._counts: dict[str, int] = {}
        self._message: dict[str, Any] = {}
        self._kept: object = None
        self._waiting: list[dict[str, Any]] = []  # what came while it waited for an answer

    def run(self) -> None:
        """Answer until stdin ends."""
        self._do(self._scenario.get("start", []))
        while message := self._waiting.pop(0) if self._waiting else self._read():
            self._take(message)
        self._do(self._scenario.get("end", []))

    def _read(self) -> dict[str, Any] | None:
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def _take(self, message: dict[str, Any]) -> None:
        self._message = message
        method = str(message.get("method"))
        scripts = self._scenario.get("on", {}).get(method)
        number = self._counts[method] = self._counts.get(method, 0) + 1
        if scripts:
            self._do(scripts[min(number, len(scripts)) - 1])
        elif method == "initialize":
            version = message["params"]["protocolVersion"]
            self._answer({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": _INFO})
        elif method == "tools/list":
            self._answer({"tools": []})

    def _do(self, actions: list[dict[str, Any]]) -> None:
        for action in actions:
            (name, value), *_ = action.items()
            getattr(self, f"_do_{name}")(value)

    def _answer(self, result: dict[str, Any]) -> None:
        kind = {"resultType": "complete"} if self._scenario.get("modern") else {}
        self._do_send({"jsonrpc": "2.0", "id": self._message.get("id"), "result": {**kind, **result}})

    def _answer_text(self, value: object) -> None:
        self._answer({"content": [{"type": "text", "text": json.dumps(value)}]})

    def _do_result(self, value: dict[str, Any]) -> None:
        self._answer(value)

    def _do_error(self, value: object) -> None:
        self._do_send({"jsonrpc": "2.0", "id": self._message.get("id"), "error": value})

    def _do_echo(self, _: object) -> None:
        self._answer_text(self._message.get("params"))

    def _do_answered(self, _: object) -> None:
        self._answer_text(self._kept)

    def _do_count(self, _: object) -> None:
        self._answer_text({"count": self._counts[str(self._message.get("method"))], "process": os.getpid()})

    def _do_file(self, path: str) -> None:
        try:
            with open(path) as file:
                self._answer_text(file.read())
        except OSError as error:
            self._answer_text(error.strerror)

    def _do_send(self, value: object) -> None:
        self._do_line(json.dumps(value))

    def _do_ask(self, value: object) -> None:
        self._do_send(value)
        while (message := self._read()) and "method" in message:
            self._waiting.append(message)  # sent before the client had read what it is asked
        self._kept = message

    def _do_line(self, value: str) -> None:
        sys.stdout.write(f"{value}\n")
        sys.stdout.flush()

    def _do_bytes(self, value: str) -> None:
        sys.stdout.buffer.write(base64.b64decode(value))
        sys.stdout.flush()

    def _do_stderr(self, value: str) -> None:
        sys.stderr.write(value)
        sys.stderr.flush()

    def _do_times(self, value: list[Any]) -> None:
        for _ in range(value[0]):
            self._do([value[1]])

    def _do_exit(self, value: int) -> None:
        os._exit(value)

    def _do_signal(self, value: int) -> None:
        os.kill(os.getpid(), value)

    def _do_close(self, _: object) -> None:
        os.close(1)

    def _do_hang(self, _: object) -> None:
        while True:
            signal.pause()

    def _do_ignore(self, value: int) -> None:
        signal.signal(value, signal.SIG_IGN)

    def _do_fork(self, _: object) -> None:
        if os.fork() == 0:
            self._do_hang(None)

    def _do_leave(self, _: object) -> None:
        if os.fork() == 0:
            os.setsid()
            self._do_hang(None)

    def _do_read(self, _: object) -> None:
        sys.stdin.readline()

    def _do_age(self, value: str) -> None:
        os.makedirs(os.path.dirname(value), exist_ok=True)
        with open(value, "w"):
            os.utime(value, (0, 0))

    def _do_touch(self, path: str) -> None:
        with open(path, "w"):
            pass

    def _do_wait(self, path: str) -> None:
        while not os.path.exists(path):
            select.select([], [], [], 0.005)


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        scenario = json.load(file)
    try:
        Server(scenario).run()
    except BrokenPipeError:
        os._exit(3)
