"""One session with a server over stdio: start it, say who asks, list its tools, call one, end it.

with Session.start(command, variables, name="git", deadline=context.deadline) as session:
    session.initialize()
    result = session.call("git_status", {"repo_path": "."})
"""

from __future__ import annotations

import time

from ferrule import ToolError
from ferrule_mcp.stdio import eras
from ferrule_mcp.stdio.connection import Connection, ServerGone
from ferrule_mcp.stdio.failures import Failures
from ferrule_mcp.stdio.lines import OutputTooLarge
from ferrule_mcp.stdio.process import ServerProcess
from ferrule_mcp.stdio.refusals import answer_inputs, answer_request, describe_declined

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from ferrule.text.json_types import JSONObject

    Listener = Callable[[JSONObject], None]

START_SECONDS = 20.0
"""That a server may take until it has answered `initialize`, unless the deadline comes first."""
_PING_SECONDS = 2.0  # in which a server that has let a call wait for too long shows that it still answers
_GRACE_SECONDS = 0.5  # that a server may take to end by itself
_PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.25)  # before the next try, where a server wants one and asks for nothing
_MAX_DECLINED = 10
_UNREADABLE = (-32700, -32600)  # what a server answers, without an id, to a message that it cannot read


class ServerError(Exception):
    """An error of JSON-RPC that the server answered with. It never leaves this distribution."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Session:
    """A session with one server, which `close` ends with all that the server has started.

    `era` is the release of the protocol that is spoken, "" before `initialize`. `declined` is what the server asked for
    and was not given, and `is_list_changed` whether it has said that its tools are others now. `deadline` may be set
    anew for the next call.

    Args:
        process: the server's.
        failures: the errors for what can go wrong.
        deadline: an instant of `time.monotonic()`, by which everything has to be answered.
        era: what the server spoke when it was added, "" where that is not known.
        roots: folders that the server is given as its roots; without any, roots are not offered.
    """

    def __init__(
        self,
        process: ServerProcess,
        failures: Failures,
        deadline: float,
        *,
        era: str = "",
        roots: Sequence[str] = (),
    ) -> None:
        self.era = era
        self.declined: list[str] = []
        self.is_list_changed = False
        self._process = process
        self._connection = Connection(process)
        self._failures = failures
        self.deadline = deadline
        self._roots = roots
        self._number = 0
        self._listeners: dict[str, Listener | None] = {}
        self._is_open = True
        self._is_in_doubt = False

    @classmethod
    def start(
        cls,
        command: Sequence[str],
        variables: Mapping[str, str],
        folder: str = "",
        *,
        name: str,
        deadline: float,
        era: str = "",
        roots: Sequence[str] = (),
        secrets: Callable[[], Sequence[str]] = tuple,
    ) -> Self:
        """Start a server.

        Args:
            command: the program, as an absolute path or a name on PATH, and its arguments.
            variables: its whole environment.
            folder: the one it works in, "" for that of this process.
            name: the server's, for errors.
            deadline: an instant of `time.monotonic()`.
            era: as in server.json; a release without a handshake is spoken at once.
            roots: folders that the administrator gives the server as its roots.
            secrets: gives the values that no error may show a part of.

        Raises:
            ToolError: SERVER_FAILED, it cannot be started.
        """
        failures = Failures(name, secrets)
        try:
            process = ServerProcess(command, variables, folder)
        except OSError as error:
            raise failures.explain_start(command, folder, error) from error
        return cls(process, failures, deadline, era=era, roots=roots)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(is_failed=kind is not None)

    @property
    def stderr_lines(self) -> list[str]:
        """The last lines of its stderr, without colours."""
        return self._process.said.last_lines(50)

    @property
    def garbage(self) -> tuple[int, list[str]]:
        """How many lines of stdout were no messages, and the first of them."""
        return self._connection.garbage_count, self._connection.garbage

    @property
    def offered(self) -> JSONObject:
        """The capabilities that the server is offered."""
        return {"roots": {}} if self._roots else {}

    def initialize(self, seconds: float = START_SECONDS) -> JSONObject:
        """Say who asks; what the server answered. Nothing to do, and {}, where the release has no handshake.

        seconds: that it may take to answer.

        Raises ToolError where it does not answer or is no server, and ServerError where it refuses.
        """
        if eras.is_envelope(self.era):
            return {}
        params = {
            "protocolVersion": eras.NEWEST_HANDSHAKE,
            "capabilities": self.offered,
            "clientInfo": eras.identify_client(),
        }
        result = self._request("initialize", params, seconds)
        era = result.get("protocolVersion")
        if era not in eras.HANDSHAKES:
            raise self._failures.explain_answer(f"speaks the release {str(era)[:40]!r} of the protocol alone")
        self.era = str(era)
        self._connection.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def renew(self, deadline: float, secrets: Callable[[], Sequence[str]] = tuple) -> bool:
        """Begin the next call of a session that stays; False where the server is gone, or does not answer any more.

        What came after the end of the last call is nobody's: it is read, and dropped.

        Args:
            deadline: of the next call, an instant of `time.monotonic()`.
            secrets: gives the values that no error of it may show a part of.
        """
        self.deadline = deadline
        self.declined = []
        self._listeners = {}
        self._failures = self._failures.renew(secrets)
        try:
            for message in self._connection.renew():
                if "method" in message:
                    self._take(message)
            self.declined = []
            return not self._is_in_doubt or self._answers()
        except (ServerGone, OutputTooLarge):
            return False

    def give_up(self) -> None:
        """Tell the server that nobody waits for the last answer any more. It may come: it is dropped then."""
        self._is_in_doubt = True
        params = {"requestId": self._number, "reason": "Its time is over."}
        self._connection.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def _answers(self) -> bool:
        """Whether the server answers at all; that it does not know the question is an answer, too."""
        try:
            self._request("ping", {}, min(_PING_SECONDS, (self.deadline - time.monotonic()) / 2))
        except ToolError:
            return False
        except ServerError:
            pass
        self._is_in_doubt = False
        return True

    def discover(self, seconds: float = START_SECONDS) -> JSONObject:
        """Ask a fresh server for what it is, as since 2026-07-28. Raises as `initialize` does."""
        self.era = eras.ENVELOPE
        result = self._request("server/discover", {}, seconds)
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or eras.ENVELOPE not in versions:
            raise self._failures.explain_answer(f"does not speak the release {eras.ENVELOPE} of the protocol")
        return result

    def list_page(self, cursor: str | None) -> JSONObject:
        """One page of `tools/list`. Raises ToolError, and ServerError."""
        return self._request("tools/list", {} if cursor is None else {"cursor": cursor})

    def await_messages(self, seconds: float) -> None:
        """Take what the server says by itself, until it has said nothing for that long. Raises ToolError."""
        while message := self._receive(min(self.deadline, time.monotonic() + seconds), "tools/list"):
            self._take(message)

    def call(
        self,
        name: str,
        arguments: JSONObject,
        on_progress: Listener | None = None,
        on_log: Listener | None = None,
    ) -> JSONObject:
        """Call a tool; the server's result as it is.

        Args:
            name: the server's own.
            arguments: the server's own, too.
            on_progress: gets the `params` of each `notifications/progress`.
            on_log: gets those of each `notifications/message`.

        Raises:
            ToolError: SERVER_FAILED, TIMEOUT, or INPUT_REQUIRED where it asks for what no tool can give.
            ServerError: the server refuses the call.
        """
        self._listeners = {"notifications/progress": on_progress, "notifications/message": on_log}
        params: JSONObject = {"name": name, "arguments": arguments}
        pauses = list(_PAUSES_SECONDS)
        while True:
            result = self._request("tools/call", {**params, "_meta": {"progressToken": self._number + 1}})
            if result.get("resultType") != "input_required":
                return result
            params |= self._answer_inputs(result, pauses.pop(0) if pauses else None)

    def close(self, *, is_failed: bool = False) -> None:
        """End the server with all that it has started. is_failed: it is not worth waiting for."""
        if self._is_open:
            self._is_open = False
            self._process.end(0 if is_failed else _GRACE_SECONDS)

    def _answer_inputs(self, result: JSONObject, pause: float | None) -> JSONObject:
        """What the next try has in addition. pause: seconds before it, None where no more are made."""
        requests = result.get("inputRequests") or {}
        listed = list(requests.values()) if isinstance(requests, dict) else [requests]
        wanted = [words for one in listed if isinstance(one, dict) and (words := describe_declined(one, self._roots))]
        self._note(wanted)
        answers = answer_inputs(result, self._roots)
        if answers is None or pause is None:
            raise self._failures.explain_inputs(wanted or ["another try"])
        if not answers:
            self.await_messages(pause)
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        return {"inputResponses": answers, **state} if answers else state

    def _request(self, method: str, params: JSONObject, seconds: float | None = None) -> JSONObject:
        """The result of a request. seconds: in which it has to come, if the deadline is later."""
        self._number += 1
        if eras.is_envelope(self.era):
            params = {**params, "_meta": {**eras.make_envelope(self.offered), **params.get("_meta", {})}}
        self._connection.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        started = time.monotonic()
        limit = self.deadline if seconds is None else min(self.deadline, started + seconds)
        while True:
            message = self._receive(limit, method)
            if message is None:
                raise self._explain_silence(time.monotonic() - started, method)
            if "method" in message:
                self._take(message)
            elif self._is_answer(message):
                return self._read_result(message, method)

    def _receive(self, limit: float, during: str) -> JSONObject | None:
        try:
            return self._connection.receive(limit)
        except ServerGone as gone:
            garbage = self._connection.garbage
            raise self._failures.explain_end(gone.status, during, self._process.said, garbage) from None
        except OutputTooLarge as excess:
            raise self._failures.explain_excess(str(excess), self._process.said) from None

    def _explain_silence(self, seconds: float, method: str) -> Exception:
        self._process.drain_stderr()
        return self._failures.explain_silence(seconds, method, self._process.said, self._connection.garbage)

    def _is_answer(self, message: JSONObject) -> bool:
        """Whether a message answers the request that waits. What answers nothing is passed over."""
        number = message.get("id")
        if number is None:
            error = message.get("error")
            return isinstance(error, dict) and error.get("code") in _UNREADABLE
        return self._is_own(number)

    def _is_own(self, number: object) -> bool:
        """Whether this is the number of the request that waits, and not of one before."""
        return type(number) is not bool and number in (self._number, str(self._number))

    def _read_result(self, message: JSONObject, method: str) -> JSONObject:
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            code = error.get("code")
            raise ServerError(code if isinstance(code, int) else 0, str(error.get("message", "")), error.get("data"))
        if not isinstance(result, dict):
            raise self._failures.explain_answer(f"has answered {method} with no object")
        return result

    def _take(self, message: JSONObject) -> None:
        """Answer a request of the server, or hand a notification on."""
        method = message["method"]
        if "id" in message:
            self._connection.send(answer_request(message, self.era, self._roots))
            declined = describe_declined(message, self._roots)
            self._note([declined] if declined else [])
        elif method == "notifications/tools/list_changed":
            self.is_list_changed = True
        elif listener := self._listeners.get(method):
            self._tell(listener, message.get("params"))

    def _tell(self, listener: Listener, params: object) -> None:
        """Hand on what a notification says, unless it is of a request before the one that waits."""
        if isinstance(params, dict) and self._is_own(params.get("progressToken", self._number)):
            listener(params)

    def _note(self, declined: Sequence[str]) -> None:
        self.declined += [one for one in declined if one not in self.declined][: _MAX_DECLINED - len(self.declined)]
