"""A session with a server over HTTP for code that is not asynchronous: what a session over stdio is, by the same names.

The SDK runs in an event loop in a thread of its own. The calling thread waits for it.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from anyio.from_thread import start_blocking_portal
from mcp import MCPError
from pydantic import ValidationError

from ferrule import ToolError
from ferrule_mcp.remote.connection import Connection
from ferrule_mcp.remote.failures import LOGIN, explain_declined, explain_failure
from ferrule_mcp.remote.guard import ServerGuard, find_network, require_confidential
from ferrule_mcp.remote.headers import HeaderAuth, Headers
from ferrule_mcp.remote.recorded_dispatcher import is_input_required
from ferrule_mcp.remote.watched_transport import Watch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import TracebackType
    from typing import TypeVar

    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import LoggingMessageNotificationParams
    from pydantic import BaseModel

    from ferrule import JSONObject
    from ferrule_mcp.remote.headers import Credentials

    Handler = Callable[[JSONObject], None]
    T = TypeVar("T")


class RemoteSession:
    """One session with a server over HTTP. `start` makes it, `close` ends it. Each method raises ToolError."""

    def __init__(self, url: str, watch: Watch, login: str) -> None:
        self._url = url
        self._login = login
        self._watch = watch
        self._stack = ExitStack()
        self._on_log: Handler | None = None

    @classmethod
    def start(
        cls,
        url: str,
        *,
        deadline: float,
        headers: Mapping[str, str] | None = None,
        credentials: Credentials | None = None,
        network: Sequence[str] | None = None,
        login: str = LOGIN,
    ) -> Self:
        """Make a session. Nothing is sent before `initialize`.

        Args:
            url: of the server, with the names of credentials in braces.
            deadline: an instant of `time.monotonic()`, by which everything ends.
            headers: with the names of credentials in braces, such as `{"Authorization": "Bearer {token}"}`.
            credentials: where the values come from; the context of a call is one.
            network: the permission of the tool; what names the server's own address where it is None.
            login: the command that logs in there, which errors name.

        Raises:
            ToolError: AUTH_MISSING where a credential is not set, INVALID_URL for a URL that cannot be used, or where a
                secret could be read on its way.
        """
        named = find_network(url)
        filled = Headers(headers or {}, credentials)
        address = filled.fill_text(url)
        if filled.are_secret or address != url:
            require_confidential(url)
        session = cls(address, Watch(), login)
        guard = ServerGuard(named if network is None else network)
        session._open(guard, deadline, HeaderAuth(filled, session._watch), filled)
        return session

    def initialize(self, era: str = "") -> JSONObject:
        """Agree on a version of the protocol.

        era: the version that the server is known to speak, which saves a request; "" where it is not known.
        Returns `era`, `server`, `instructions`, `capabilities` and `offered`: what is kept of the server.
        """
        self._run(lambda: self._connection.greet(era))
        session = self._connection.session
        server, capabilities = session.server_info, session.server_capabilities
        return {
            "era": session.protocol_version or "",
            "server": _written(server),
            "instructions": session.instructions or "",
            "capabilities": _written(capabilities),
            "offered": {},
        }

    def list_tools(self) -> list[JSONObject]:
        """All tools, each as the server describes it."""
        return self._run(self._connection.list_tools)

    @property
    def left_out(self) -> list[str]:
        """The names of tools that `list_tools` has left out: they ask for headers that cannot be sent."""
        return self._connection.left_out

    def call(
        self, name: str, arguments: JSONObject, on_progress: Handler | None = None, on_log: Handler | None = None
    ) -> JSONObject:
        """Call a tool, and return its result as the server sent it.

        Args:
            name: the server's own name of the tool.
            arguments: of the call.
            on_progress: gets `{"progress", "total", "message"}` of each report.
            on_log: gets `{"level", "logger", "data"}` of each log message.

        Returns:
            A result of the protocol, with `content`, `structuredContent` and `isError`.

        Raises:
            ToolError: INPUT_REQUIRED where the server asks for something during the call, INVALID_INPUT where it
                refuses the arguments, TOOL_ERROR for its other errors, and what `initialize` raises.
        """
        self._on_log = on_log
        result = self._run(lambda: self._connection.call(name, arguments, _progress_handler(on_progress)))
        if is_input_required(result):
            raise explain_declined(_describe_requests(result))
        return result

    def close(self) -> None:
        """End the session, within two seconds."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, guard: ServerGuard, deadline: float, auth: HeaderAuth, headers: Headers) -> None:
        try:
            headers.fill()  # a credential that is not set is reported before anything is sent
        except ToolError as error:
            error.hint = f"Log in by `{self._login}`. {error.hint or ''}".strip()
            raise
        connection = Connection(
            self._url, deadline=deadline, guard=guard, auth=auth, watch=self._watch, on_log=self._log
        )
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            self._connection = stack.enter_context(self._portal.wrap_async_context_manager(connection))
            self._stack = stack.pop_all()

    def _run(self, work: Callable[[], Awaitable[T]]) -> T:
        self._watch.clear()
        try:
            return self._portal.call(work)
        except (MCPError, ValidationError, TimeoutError, RuntimeError) as error:
            raise explain_failure(error, self._watch, self._url, self._login) from None

    async def _log(self, params: LoggingMessageNotificationParams) -> None:
        if self._on_log is not None:
            self._on_log(_written(params))


def _written(model: BaseModel | None) -> JSONObject:
    return {} if model is None else model.model_dump(by_alias=True, mode="json", exclude_none=True)


def _progress_handler(report: Handler | None) -> ProgressFnT | None:
    if report is None:
        return None

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        report({"progress": progress, "total": total, "message": message})

    return tell


def _describe_requests(result: JSONObject) -> str:
    """What a result of the kind `input_required` asks for, in words."""
    asked = result.get("inputRequests")
    methods = (
        {one.get("method") for one in asked.values() if isinstance(one, dict)} if isinstance(asked, dict) else set()
    )
    words = {
        "elicitation/create": "an answer of the user",
        "sampling/createMessage": "a text of a model",
        "roots/list": "the folders of the client",
    }
    return " and ".join(text for method, text in words.items() if method in methods) or "more input"
