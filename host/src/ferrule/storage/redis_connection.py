"""A connection to a Redis server that costs a bounded time, also where the server, the network or the name hangs.

The protocol is hiredis's; redis-py, which wraps the same, takes ten interpreter starts to import.
"""

from __future__ import annotations

import time

from ferrule.storage.errors import StorageError
from ferrule.storage.threads import NoThread, run_within

TYPE_CHECKING = False

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from typing import TypeAlias
    from urllib.parse import SplitResult

    import hiredis

    Command: TypeAlias = tuple[str | int | float | bytes, ...]
    Reply: TypeAlias = bytes | int | list["Reply"] | None

_CHUNK_BYTES = 1 << 16
_PORT = 6379
_LAST_READ_SECONDS = 0.001
_SCHEMES = ("redis", "rediss", "unix")


class RedisConnection:
    """Commands to one server. url: `redis://[user:password@]host[:port][/db]`, `rediss://…`, `unix:///path[?db=N]`.

    seconds: all the time that connecting and asking may take together; a wait in which the caller sleeps is not in it.
    Raises StorageError where the URL is none, or hiredis is not installed.
    """

    def __init__(self, url: str, seconds: float) -> None:
        self._url = _parsed(url)
        self._left = seconds
        self._socket: socket.socket | None = None
        self._reader = _reader()

    @property
    def place(self) -> str:
        """Where it is, without its password."""
        if self._url.scheme == "unix":
            return f"unix://{self._url.path}"
        return f"{self._url.scheme}://{self._url.hostname}:{self._url.port or _PORT}/{_database(self._url)}"

    def allow(self, seconds: float) -> None:
        """From now on, so much time may be taken. For a connection that is kept."""
        self._left = seconds

    def ask(self, *commands: Command) -> list[Reply]:
        """Send commands together and return the reply to each: bytes, an integer, a list of these, or None.

        Raises StorageError where one is refused, or the time is over; after that each command fails.
        """
        import socket  # noqa: F401 - before the time runs: what an import takes is no fault of the server's

        started = time.monotonic()
        try:
            if self._socket is None:
                self._socket = self._connected()
            return self._exchange(self._socket, commands, started + self._left)
        except (OSError, ValueError) as error:
            self.close()
            raise StorageError(f"Redis cannot be used: {_reason(error)}") from None
        except BaseException:
            self.close()  # a reply that is still to come must not be taken for that to a later command
            raise
        finally:
            self._left -= time.monotonic() - started

    def poll(self, *commands: Command) -> list[Reply]:
        """`ask` without counting the time that it takes, for a caller that sleeps between two of these."""
        left = self._left
        answers = self.ask(*commands)
        self._left = left
        return answers

    def close(self) -> None:
        """Hang up, for good."""
        self._left = 0.0
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        if self._left <= 0:
            raise TimeoutError
        try:
            # In a thread, since a name may take long to be looked up.
            return run_within(self._left, self._connect, lambda late: late.close())
        except NoThread:
            raise StorageError("Redis cannot be used: there is no room for a thread") from None

    def _connect(self) -> socket.socket:
        limit = time.monotonic() + self._left
        connected = self._reached(limit)
        try:
            if self._url.scheme == "rediss":
                import ssl

                context = ssl.create_default_context()
                connected = context.wrap_socket(connected, server_hostname=self._url.hostname)
            self._introduce(connected, limit)
        except BaseException:
            connected.close()
            raise
        return connected

    def _reached(self, limit: float) -> socket.socket:
        import socket

        if self._url.scheme != "unix":
            address = (self._url.hostname or "localhost", self._url.port or _PORT)
            connected = socket.create_connection(address, _remaining(limit))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connected
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.settimeout(_remaining(limit))
            connected.connect(self._url.path)
        except BaseException:
            connected.close()
            raise
        return connected

    def _introduce(self, connected: socket.socket, limit: float) -> None:
        from urllib.parse import unquote

        commands: list[Command] = []
        if self._url.password:
            user = (unquote(self._url.username),) if self._url.username else ()
            commands.append(("AUTH", *user, unquote(self._url.password)))
        if _database(self._url):
            commands.append(("SELECT", _database(self._url)))
        if commands:
            self._exchange(connected, commands, limit)

    def _exchange(self, connected: socket.socket, commands: Sequence[Command], limit: float) -> list[Reply]:
        import hiredis

        connected.settimeout(_remaining(limit))
        connected.sendall(b"".join(hiredis.pack_command(command) for command in commands))  # type: ignore[arg-type] # hiredis takes tuples of these
        try:
            answers = [self._answer(connected, limit) for _ in commands]
        except hiredis.HiredisError:
            raise StorageError("Redis cannot be used: something else answers there") from None
        refusal = next((answer for answer in answers if isinstance(answer, hiredis.ReplyError)), None)
        if refusal is not None:
            # Only the word in front: what comes after it may repeat what was sent.
            raise StorageError(f"Redis refused a command: {str(refusal).split(' ', 1)[0]}")
        return answers

    def _answer(self, connected: socket.socket, limit: float) -> Reply:
        is_over = False
        while (answer := self._reader.gets()) is False:
            if is_over:
                raise TimeoutError
            # This process may be the one that is late: what has come by the end of the time still counts.
            is_over = time.monotonic() >= limit
            connected.settimeout(max(_LAST_READ_SECONDS, limit - time.monotonic()))
            data = connected.recv(_CHUNK_BYTES)
            if not data:
                raise ConnectionResetError(0, "it hung up")
            self._reader.feed(data)
        reply: Reply = answer
        return reply


def _reader() -> hiredis.Reader:
    try:
        import hiredis
    except ImportError:
        raise StorageError("Redis cannot be used: hiredis is not installed; install ferrule[redis]") from None
    return hiredis.Reader(notEnoughData=False)


def _parsed(url: str) -> SplitResult:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in _SCHEMES and (parts.port or True) and _database(parts) >= 0
    except ValueError:
        is_usable = False
    if not is_usable or (parts.scheme == "unix") == bool(parts.hostname):
        raise StorageError("the setting for Redis is no URL such as redis://HOST:6379/0")
    return parts


def _database(parts: SplitResult) -> int:
    text = parts.query.removeprefix("db=") if parts.scheme == "unix" else parts.path.strip("/")
    return int(text) if text else 0


def _remaining(limit: float) -> float:
    left = limit - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it is too slow"
    text = getattr(error, "strerror", None)
    return text if isinstance(text, str) else type(error).__name__
