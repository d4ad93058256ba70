"""System calls for which Python has no function, through what ctypes itself is made of.

Importing all of ctypes takes a fifth of an interpreter's start, and `_ctypes` a twentieth.
"""

from __future__ import annotations

import os
import sys
from _ctypes import (
    FUNCFLAG_CDECL,
    FUNCFLAG_USE_ERRNO,
    Array,
    CFuncPtr,
    _SimpleCData,
    addressof,
    dlopen,
    dlsym,
    get_errno,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Final


class _Long(_SimpleCData):  # type: ignore[type-arg] # ctypes makes the type from _type_
    _type_ = "l"


class _Word(_SimpleCData):  # type: ignore[type-arg] # ctypes makes the type from _type_
    _type_ = "L"


class _Byte(_SimpleCData):  # type: ignore[type-arg] # ctypes makes the type from _type_
    _type_ = "c"


class _Function(CFuncPtr):
    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_USE_ERRNO
    _restype_ = _Long


_call = _Function(dlsym(dlopen(None, 0), "syscall"))  # type: ignore[arg-type] # typeshed wants a name
_lengths: dict[int, type] = {}
_MAX_INT = 1 << 31  # above which a number would be cut to it

# The two architectures for which the numbers are known: of `clone` and its like, and as a filter sees them.
MACHINE: Final = os.uname().machine if sys.platform == "linux" else ""
IS_KNOWN = MACHINE in ("x86_64", "aarch64") and sys.maxsize > 1 << 32


def buffer(data: bytes) -> Array[_Byte]:
    """Memory that the kernel reads or writes, with its first content."""
    size = len(data)
    kind = _lengths.get(size)
    if kind is None:
        kind = _lengths[size] = type("_Buffer", (Array,), {"_type_": _Byte, "_length_": size})
    memory: Array[_Byte] = kind()
    memoryview(memory).cast("B")[:] = data
    return memory


def address(memory: Array[_Byte]) -> int:
    """Where it is."""
    return addressof(memory)


def call(number: int, *arguments: int | bytes | Array[_Byte] | None) -> int:
    """Make a system call; what it returns. An argument is a number, memory, or bytes that are only read.

    Raises OSError.
    """
    value = int(_call(number, *map(_argument, arguments)))
    if value == -1:
        error = get_errno()
        raise OSError(error, os.strerror(error))
    return value


def _argument(value: int | bytes | Array[_Byte] | None) -> _Word | bytes | int:
    if isinstance(value, bytes):
        return value
    if isinstance(value, int):
        return value if -_MAX_INT <= value < _MAX_INT else _Word(value)
    return 0 if value is None else _Word(addressof(value))
