"""A seccomp filter, put together from rules: what the kernel answers to which system call with which arguments."""

from __future__ import annotations

from _struct import Struct  # struct is but its name

from ferrule.confinement.kernel.system_calls import LAST, MACHINE, NUMBERS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    Case = tuple[*tuple["Test | IsGiven | IsMadeFrom", ...], int]  # conditions, and the answer

KILL, ALLOW, NOTIFY = 0x8000_0000, 0x7FFF_0000, 0x7FC0_0000
_ERROR = 0x0005_0000
_AUDIT_ARCHITECTURE = 0xC000_00B7 if MACHINE == "aarch64" else 0xC000_003E
_X32 = 0x4000_0000
_NUMBER_AT, _ARCHITECTURE_AT, _POINTER_AT, _ARGUMENTS_AT = 0, 4, 8, 16
_LOAD, _MASK, _RETURN = 0x20, 0x54, 0x06  # ld [k]; and #k; ret #k
_EQUAL, _GREATER, _AT_LEAST, _ANY_BIT = 0x15, 0x25, 0x35, 0x45
_pack = Struct("<HBBI").pack
_NO_CALL = 38  # ENOSYS


def error(number: int) -> int:
    """The answer that is an error of that number."""
    return _ERROR | number


class Test:
    """A condition on one argument, of which the low 32 bits are looked at.

    Args:
        argument: its place, from 0.
        operator: "==", "!=" or "&" (any of these bits).
        mask: bits that count.
    """

    __slots__ = ("argument", "mask", "operator", "value")
    __test__ = False

    def __init__(self, argument: int, operator: str, value: int, mask: int = 0xFFFF_FFFF) -> None:
        self.argument = argument
        self.operator = operator
        self.value = value
        self.mask = mask

    def steps(self, failed: int) -> list[bytes]:
        """The instructions, which go on to the next one where it is met. failed: how many to skip where it is not."""
        steps = [_pack(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * self.argument)]
        if self.mask != 0xFFFF_FFFF:
            steps.append(_pack(_MASK, 0, 0, self.mask))
        passed, failed = (failed, 0) if self.operator == "!=" else (0, failed)
        return [*steps, _pack(_ANY_BIT if self.operator == "&" else _EQUAL, passed, failed, self.value)]


class IsGiven:
    """Whether an argument, such as a pointer, is not 0."""

    __slots__ = ("argument",)

    def __init__(self, argument: int) -> None:
        self.argument = argument

    def steps(self, failed: int) -> list[bytes]:
        """The instructions, see `Test`."""
        low = _ARGUMENTS_AT + 8 * self.argument
        return [
            _pack(_LOAD, 0, 0, low),
            _pack(_EQUAL, 0, 2, 0),
            _pack(_LOAD, 0, 0, low + 4),
            _pack(_EQUAL, failed, 0, 0),
        ]


class IsMadeFrom:
    """Whether the instruction that makes the call lies in a part of the memory. end: the address behind its last.

    A part that lies across a border of 4 GiB holds none.
    """

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def steps(self, failed: int) -> list[bytes]:
        """The instructions, see `Test`."""
        low, high = 0xFFFF_FFFF, self.start >> 32
        last = self.end - 1 if (self.end - 1) >> 32 == high else self.start
        return [
            _pack(_LOAD, 0, 0, _POINTER_AT + 4),
            _pack(_EQUAL, 0, failed + 3, high),
            _pack(_LOAD, 0, 0, _POINTER_AT),
            _pack(_AT_LEAST, 0, failed + 1, self.start & low),
            _pack(_GREATER, failed, 0, last & low),
        ]


class Program:
    """Rules in the order in which they are asked. What no rule answers is allowed."""

    def __init__(self) -> None:
        self._steps = [
            _pack(_LOAD, 0, 0, _ARCHITECTURE_AT),
            _pack(_EQUAL, 1, 0, _AUDIT_ARCHITECTURE),
            _pack(_RETURN, 0, 0, KILL),
            _pack(_LOAD, 0, 0, _NUMBER_AT),
            _pack(_GREATER, 0, 3, LAST),
            _pack(_AT_LEAST, 0, 1, _X32),
            _pack(_RETURN, 0, 0, KILL),
            _pack(_RETURN, 0, 0, error(_NO_CALL)),
        ]

    def answer(self, names: Iterable[str], answer: int) -> None:
        """Give the same answer to these calls, whatever their arguments. A name without a number is passed over."""
        for name in names:
            number = NUMBERS.get(name)
            if number is not None:
                self._steps += (_pack(_EQUAL, 0, 1, number), _pack(_RETURN, 0, 0, answer))

    def decide(self, name: str, *cases: Case, otherwise: int = ALLOW) -> None:
        """Answer a call by the first case of which all conditions are met."""
        number = NUMBERS.get(name)
        if number is None:
            return
        steps: list[bytes] = []
        for *conditions, answer in cases:
            case = [_pack(_RETURN, 0, 0, answer)]
            for condition in reversed(conditions):
                case = [*condition.steps(len(case)), *case]
            steps += case
        steps.append(_pack(_RETURN, 0, 0, otherwise))
        self._steps += (_pack(_EQUAL, 0, len(steps), number), *steps)

    def code(self) -> bytes:
        """The program, as the kernel takes it."""
        return b"".join([*self._steps, _pack(_RETURN, 0, 0, ALLOW)])
