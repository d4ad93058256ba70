"""Connections and messages of a call, made by the supervising process once it has judged where they go."""

from __future__ import annotations

import os
from _struct import Struct  # struct is but its name
from fcntl import F_GETFL, F_SETFL, fcntl
from time import monotonic

from ferrule.confinement.broker import side_thread, sockets
from ferrule.confinement.broker.address_judge import AddressJudge
from ferrule.confinement.later import Later
from ferrule.confinement.refused_network import WAITING

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.confinement.broker.name_relay import NameRelay
    from ferrule.confinement.broker.sockets import Address
    from ferrule.confinement.broker.supervised_process import SupervisedProcess
    from ferrule.confinement.policy import Policy

    Check = Callable[[], None]
    Watch = Callable[[int, "Callable[[], None] | None"], None]

_MAX_ADDRESS_BYTES, _MAX_DATAGRAM_BYTES, _MAX_PIECE_BYTES = 128, 1 << 16, 1 << 18
_MAX_PIECES, _MAX_MESSAGES, _MAX_SECONDS_OF_MESSAGES = 1024, 64, 0.01
_message, _piece = Struct("<QI4xQQQQ8x"), Struct("<QQ")
_LENGTH_AT = _message.size
_MESSAGE_BYTES = _message.size + 8  # with its length, of `sendmmsg`
_NOT_PERMITTED, _TRY_AGAIN, _NO_ACCESS, _INVALID, _TOO_LONG, _NOT_SUPPORTED = 1, 11, 13, 22, 90, 95
_NO_FAMILY, _IN_PROGRESS = 97, 115
_OUT_OF_BAND, _DONT_WAIT, _END_OF_RECORD, _CONFIRM, _NO_SIGNAL, _MORE = 0x1, 0x40, 0x80, 0x800, 0x4000, 0x8000
# With each of these the kernel has its own copy of the data when the call returns. With MSG_ZEROCOPY it would send from
# this process's memory later, which holds other things by then; MSG_FASTOPEN would connect to what has not been judged.
SEND_FLAGS = _OUT_OF_BAND | _DONT_WAIT | _END_OF_RECORD | _CONFIRM | _NO_SIGNAL | _MORE
_FLAGS_MASK = 0xFFFF_FFFF
_INTERNET = (sockets.INET, sockets.INET6)
_MAX_LOOKUPS = 20  # of the names that a policy has, in one call


class SocketCalls:
    """The calls, by name.

    Args:
        deny: is told what was refused, and where it was to go.
        watch: has a function called whenever there is something to read from a descriptor, and with None no more.
        relayed: is told of each connection to a relay to a proxy by the port that it comes from.
    """

    def __init__(
        self,
        policy: Policy,
        deny: Callable[[str, str], None],
        watch: Watch,
        relayed: Callable[[int], None] | None = None,
    ) -> None:
        self._judge = AddressJudge(policy)
        self._deny = deny
        self._watch = watch
        self._relayed = relayed
        self._lookups = 0
        self._name_relays: dict[str, NameRelay] = {}  # by the address of the name server

    def connect(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
        """As the kernel's calls of these names; they raise OSError."""
        number, address, size = arguments[:3]
        data = process.read(address, _address_size(size))
        file = process.descriptor(number)
        return _closing(file, lambda: self._connect(file, check, data))

    def bind(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
        """See `connect`."""
        number, address, size = arguments[:3]
        data = process.read(address, _address_size(size))
        file = process.descriptor(number)
        return _closing(file, lambda: self._bind(file, check, data))

    def listen(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
        """See `connect`. A socket that is not bound would wait at every address of the machine."""
        file = process.descriptor(arguments[0])

        def make() -> int:
            check()
            self._require_own(sockets.own_address(file))
            return sockets.listen(file, arguments[1])

        return _closing(file, make)

    def sendto(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
        """See `connect`."""
        number, buffer, size, flags, address, address_size = arguments
        target = process.read(address, _address_size(address_size)) if address else b""
        file = process.descriptor(number)

        def make() -> int | Later:
            data = process.read(buffer, _size_for(file, size))
            return self._send(file, check, data, flags, target)

        return _closing(file, make)

    def sendmsg(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
        """See `connect`. Descriptors are not passed on."""
        number, header, flags = arguments[:3]
        file = process.descriptor(number)

        def make() -> int | Later:
            target, data = _read_message(process, file, process.read(header, _message.size))
            return self._send(file, check, data, flags, target)

        return _closing(file, make)

    def sendmmsg(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
        """See `connect`. What could be sent counts, as far as it is a message or more."""
        number, headers, count, flags = arguments[:4]
        file = process.descriptor(number)

        def make() -> int | Later:
            sent, limit = 0, monotonic() + _MAX_SECONDS_OF_MESSAGES
            for place in range(min(count & 0xFFFF_FFFF, _MAX_MESSAGES)):
                if sent and monotonic() > limit:
                    break
                header = headers + place * _MESSAGE_BYTES
                try:
                    target, data = _read_message(process, file, process.read(header, _message.size))
                    size = self._send(file, check, data, flags | (_DONT_WAIT if sent else 0), target)
                except OSError:
                    if sent:
                        break
                    raise
                if isinstance(size, Later):
                    size.finish = make
                    return size
                process.write(header + _LENGTH_AT, size.to_bytes(4, "little"))
                sent += 1
            return sent

        return _closing(file, make)

    def begin(self) -> None:
        """Another call begins."""
        for relay in self._name_relays.values():
            relay.begin()

    def close(self) -> None:
        """Let go of everything."""
        for relay in self._name_relays.values():
            for file in relay.files:
                self._watch(file, None)
            relay.close()
        self._name_relays.clear()

    def _connect(self, file: int, check: Check, data: bytes) -> int | Later:
        check()
        if sockets.domain(file) not in _INTERNET:
            raise OSError(_NO_ACCESS, "no internet socket")
        if sockets.family_of(data) == sockets.UNSPECIFIED:  # it is to be connected to nothing
            return sockets.connect(file, sockets.NOWHERE)
        is_stream = sockets.kind(file) == sockets.STREAM
        address, data = sockets.parse_address(data), sockets.plain(data)
        if is_stream and self._judge.is_relay(address.text, address.port):
            return self._connect_to_relay(file, data)
        if not is_stream and self._asks_for_names(address):
            return sockets.connect(file, self._name_relay(address).address(sockets.family_of(data)))
        go_on = (lambda: _connect_stream(file, data)) if is_stream else (lambda: sockets.connect(file, data))
        # Resolving a name connects datagram sockets to all of its addresses, to see which route they would take.
        return self._reach(address, go_on, is_told=is_stream)

    def _connect_to_relay(self, file: int, data: bytes) -> Later:
        """Connect, and tell from where before the call can send anything there."""
        later = _connect_stream(file, data)
        finish = later.finish

        def finish_and_tell() -> int | Later:
            try:
                return finish()
            finally:
                if self._relayed is not None:
                    self._relayed(sockets.own_address(file).port)

        later.finish = finish_and_tell
        return later

    def _bind(self, file: int, check: Check, data: bytes) -> int:
        check()
        if sockets.domain(file) not in _INTERNET:
            raise OSError(_NO_ACCESS, "no internet socket")
        self._require_own(sockets.parse_address(data))
        return sockets.bind(file, sockets.plain(data))

    def _asks_for_names(self, address: Address) -> bool:
        """Whether this is a name server, and the call may not ask it everything."""
        judge = self._judge
        return judge.is_name_server(address.text, address.port) and not judge.allows(address.text, address.port)

    def _name_relay(self, server: Address) -> NameRelay:
        """What stands instead of a name server."""
        if server.text not in self._name_relays:
            from ferrule.confinement.broker.name_relay import NameRelay

            relay = self._name_relays[server.text] = NameRelay(server.text, self._judge.allows_name, self._deny)
            for file, take in relay.files.items():
                self._watch(file, take)
        return self._name_relays[server.text]

    def _require_own(self, address: Address) -> None:
        if not self._judge.allows_own(address.text):
            self._deny("connect", f"{address} {WAITING}")
            raise OSError(_NO_ACCESS, "not permitted")

    def _send(self, file: int, check: Check, data: bytes, flags: int, target: bytes) -> int | Later:
        check()
        flags &= _FLAGS_MASK
        if flags & ~SEND_FLAGS:
            raise OSError(_NOT_SUPPORTED, "no flag that is made for a call")
        is_internet = sockets.domain(file) in _INTERNET
        if not is_internet or sockets.kind(file) == sockets.STREAM or not target:
            return self._send_now(file, data, flags, b"")  # it goes to where the socket is connected to
        address, plain = sockets.parse_address(target), sockets.plain(target)
        if self._asks_for_names(address):
            plain = self._name_relay(address).address(sockets.family_of(plain))
            return self._send_now(file, data, flags, plain)
        return self._reach(address, lambda: self._send_now(file, data, flags, plain), is_told=True)

    def _send_now(self, file: int, data: bytes, flags: int, target: bytes) -> int | Later:
        try:
            return sockets.send(file, data, flags, target)
        except OSError as error:
            may_wait = not (flags & _DONT_WAIT or fcntl(file, F_GETFL) & os.O_NONBLOCK)
            if error.errno != _TRY_AGAIN or not may_wait:
                raise
        return Later(file, lambda: self._send_now(file, data, flags, target), _nothing_to_leave)

    def _reach(self, address: Address, go_on: Callable[[], int | Later], *, is_told: bool) -> int | Later:
        """Go on where the address may be reached, for which names may have to be looked up first."""

        def judge() -> int | Later:
            if self._judge.allows(address.text, address.port):
                return go_on()
            if is_told:
                self._deny("connect", str(address))
            raise OSError(_NO_ACCESS, "not permitted")

        names = self._judge.names(address.port)
        if not names or self._judge.allows(address.text, address.port) or self._lookups >= _MAX_LOOKUPS:
            return judge()
        self._lookups += 1
        later = side_thread.begin(lambda: _look_up(self._judge, names))
        later.finish = judge
        return later


def _look_up(judge: AddressJudge, names: list[str]) -> int:
    """What cannot be found stays unknown."""
    from _socket import getaddrinfo

    for name in names:
        try:
            judge.learn(name, {str(found[4][0]) for found in getaddrinfo(name, None)})
        except (OSError, UnicodeError):
            continue
    return 0


def _connect_stream(file: int, data: bytes) -> Later:
    """Connect, and wait only for as long as nothing else has to be done.

    Whether the kernel waits is said by a flag of the socket, which other threads of the call can change at any time. So
    it is asked to connect in a thread that may be kept waiting.
    """
    flags = fcntl(file, F_GETFL)
    later = side_thread.begin(_connection(file, data, flags))
    begun = later.finish

    def finish() -> int | Later:
        try:
            return begun()
        except OSError as error:
            if error.errno != _IN_PROGRESS or flags & os.O_NONBLOCK:
                raise
        return Later(file, lambda: _connected(file), _nothing_to_leave)

    later.finish = finish
    later.give_up = lambda: sockets.shut_down(file)
    return later


def _connection(file: int, data: bytes, flags: int) -> Callable[[], int]:
    """The work of such a thread. flags: those of the socket."""
    own = os.dup(file)

    def connect() -> int:
        try:
            fcntl(own, F_SETFL, flags | os.O_NONBLOCK)
            return sockets.connect(own, data)
        finally:
            if not flags & os.O_NONBLOCK:
                fcntl(own, F_SETFL, flags)
            os.close(own)

    return connect


def _connected(file: int) -> int:
    error = sockets.take_error(file)
    if error:
        raise OSError(error, os.strerror(error))
    return 0


def _nothing_to_leave() -> None:
    pass


def _closing(file: int, make: Callable[[], int | Later]) -> int | Later:
    """What is made with a descriptor, which is closed as soon as it is not needed any more."""
    try:
        value = make()
    except BaseException:
        os.close(file)
        raise
    if not isinstance(value, Later):
        os.close(file)
        return value
    finish, give_up = value.finish, value.give_up

    def give_up_and_close() -> None:
        give_up()
        os.close(file)

    value.finish, value.give_up = lambda: _closing(file, finish), give_up_and_close
    return value


def _address_size(size: int) -> int:
    size &= 0xFFFF_FFFF
    if size > _MAX_ADDRESS_BYTES:
        raise OSError(_INVALID, "no address")
    return size


def _size_for(file: int, size: int) -> int:
    """How much of a message is sent: of a stream a part will do."""
    if sockets.kind(file) == sockets.STREAM:
        return min(size, _MAX_PIECE_BYTES)
    if size > _MAX_DATAGRAM_BYTES:
        raise OSError(_TOO_LONG, "message too long")
    return size


def _read_message(process: SupervisedProcess, file: int, header: bytes) -> tuple[bytes, bytes]:
    """Where a message goes, and its content."""
    name, name_size, pieces, count, _, control_size = _message.unpack(header)
    if control_size:
        raise OSError(_NOT_PERMITTED, "nothing but bytes can be sent")
    if count > _MAX_PIECES:
        raise OSError(_TOO_LONG, "too many pieces")
    table = process.read(pieces, _piece.size * count)
    left = _size_for(file, sum(size for _, size in _piece.iter_unpack(table)))
    data = bytearray()
    for address, size in _piece.iter_unpack(table):
        data += process.read(address, min(size, left - len(data)))
    return process.read(name, _address_size(name_size)) if name else b"", bytes(data)
