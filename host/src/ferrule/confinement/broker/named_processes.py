"""Calls that ask for facts of a process by its number: answered of the process that asks, and of no other.

What they tell of others, Landlock does not see: sessions, groups, priorities, capabilities, the time that they use.
"""

from __future__ import annotations

from _struct import Struct  # struct is but its name

from ferrule.confinement.broker.family import find_family
from ferrule.confinement.kernel.system_calls import CLOCKS, NAMING, NUMBERS, buffer, call

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.confinement.broker.supervised_process import SupervisedProcess

    Check = Callable[[], None]
    Method = Callable[[SupervisedProcess, Check, list[int]], int]

_NOT_PERMITTED, _GO_ON = 1, -1
_SIGN, _CLOCK_BITS = 0x8000_0000, 3
_header = Struct("<Ii")
_OLD_CAPABILITIES, _OLD_BYTES, _BYTES = 0x1998_0330, 12, 24  # of one word a set, and of two


class NamedProcesses:
    """methods: by the name of the call. child: the process, which starts no other one."""

    def __init__(self, child: int) -> None:
        self._child = child
        self.methods: dict[str, Method] = {"capget": self._capget}
        for name, place in NAMING.items():
            self.methods[name] = _of_argument(self, place)
        for name in CLOCKS:
            self.methods[name] = self._clock

    def require(self, number: int) -> int:
        """Go on where this is the number of the process or of a thread of it; else OSError, be there one or none."""
        if find_family(_signed(number))[0] != self._child:
            raise OSError(_NOT_PERMITTED, "not permitted")
        return _GO_ON

    def _clock(self, _process: SupervisedProcess, _check: Check, arguments: list[int]) -> int:
        """A clock of a process has its number in it."""
        return self.require(~(_signed(arguments[0]) >> _CLOCK_BITS))

    def _capget(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """Make the call: the number stands in memory, where it could be another one by the time the kernel reads it."""
        version, number = _header.unpack(process.read(arguments[0], _header.size))
        if number:
            self.require(number)
        header, data = buffer(_header.pack(version, number or process.thread)), buffer(bytes(_BYTES))
        try:
            call(NUMBERS["capget"], header, data if arguments[1] else None)
        finally:
            known = _header.unpack(bytes(header))[0]
            check()
            if known != version:  # the kernel says which version it knows
                process.write(arguments[0], bytes(header)[:4])
        if arguments[1]:
            process.write(arguments[1], bytes(data)[: _OLD_BYTES if version == _OLD_CAPABILITIES else _BYTES])
        return 0


def _of_argument(named: NamedProcesses, place: int) -> Method:
    """The method of a call that has the number in a register, where nobody changes it: the kernel then makes it."""

    def method(_process: SupervisedProcess, _check: Check, arguments: list[int]) -> int:
        return named.require(arguments[place])

    return method


def _signed(number: int) -> int:
    """As the kernel takes it: an int, of which the upper half of the register is no part."""
    number &= 0xFFFF_FFFF
    return number - (1 << 32) if number & _SIGN else number
