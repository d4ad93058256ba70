"""`typing`, loaded when something of it is first used: to import it costs a call as much as the interpreter's start.

A module of functions takes names such as `Annotated` from it, for annotations that a call does not evaluate. Until one
of them is used, the module holds a stand-in in each name's place. That is done only where its code shows that it uses
the name in annotations alone, so that no code of it sees the stand-in. All else that is taken from `typing`, by
whatever module, loads it, and puts the names themselves in the places of the stand-ins. Python 3.15 does this for
imports that are marked as lazy (PEP 810).
"""

from __future__ import annotations

import sys
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import PathFinder
from _thread import RLock

TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import CodeType as _Code
    from types import FrameType
    from types import ModuleType as _Module
    from typing import Any
else:  # what `types` names, without importing it
    _Module, _Code = type(sys), type((lambda: None).__code__)

_NAME = "typing"
_NAMES = frozenset(("Annotated", "Any", "Dict", "List", "Literal", "Optional", "Union"))
_FUTURE_ANNOTATIONS = 0x1000000  # of a code's flags: its annotations are texts
_MAX_NAMES = 256  # of a code, so that each has a number of one byte


def _hold_class() -> None:
    """Its code holds that of a class, which begins by reading a name and storing another one."""

    class Sample:
        pass


# To compile a sample now would cost more than all else here: it makes the types of the syntax tree.
_LOAD, _STORE = _hold_class.__code__.co_consts[1].co_code[2:6:2]

_lock = RLock()


class StandIn:
    """What stands in the place of a name of `typing`. name: which. Any use of it is one of the name's own object."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _own(self) -> Any:
        return getattr(__import__(_NAME), self.name)

    def __getattr__(self, name: str) -> object:
        return getattr(self._own(), name)

    def __getitem__(self, key: object) -> object:
        return self._own()[key]

    def __or__(self, other: object) -> object:
        return self._own() | other

    def __ror__(self, other: object) -> object:
        return other | self._own()


class _Borrower(_Module):
    """A module with stand-ins, which others cannot take from it."""

    def __getattribute__(self, name: str) -> object:
        found = super().__getattribute__(name)
        return found._own() if type(found) is StandIn else found


class _LateTyping(_Module):
    """The module itself, before it is executed."""

    TYPE_CHECKING = False

    def __getattr__(self, name: str) -> object:
        if name == "__path__":  # which the import of any name looks for
            raise AttributeError(name)
        if name in _NAMES and _may_stand_in(name, sys._getframe(1)):
            return StandIn(name)
        self._load()
        return getattr(self, name)

    def _load(self) -> None:
        with _lock:
            if type(self) is not _LateTyping:
                return  # by another thread
            module: _Module = self
            module.__class__ = _Loading
            try:
                self.__spec__.loader.exec_module(self)  # type: ignore[union-attr] # looked at in `defer`
            except BaseException:
                module.__class__ = _LateTyping
                raise
            for one in list(sys.modules.values()):
                if type(one) is _Borrower:
                    _give_back(one, module)
            module.__class__ = _Module


class _Loading(_Module):
    """The same while it is executed: other threads wait for it."""

    def __getattr__(self, name: str) -> object:
        with _lock:
            if type(self) is _Loading:  # this thread executes it
                raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
        return getattr(self, name)


def defer() -> None:
    """From now on `typing` is loaded when it is first used, if it is not loaded yet."""
    spec = None if _NAME in sys.modules else PathFinder.find_spec(_NAME)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        if type(module) is _Module:
            module.__class__ = _LateTyping
            sys.modules[_NAME] = module


def _give_back(module: _Module, owner: _Module) -> None:
    """Put the owner's names in the places of a module's stand-ins."""
    for name, value in list(vars(module).items()):
        if type(value) is StandIn:
            setattr(module, name, vars(owner)[value.name])
    module.__class__ = _Module


def _may_stand_in(name: str, frame: FrameType) -> bool:
    """Whether a module takes the name just now, and uses it in annotations alone. It is one with stand-ins then."""
    code, module = frame.f_code, sys.modules.get(frame.f_globals.get("__name__", ""))
    if frame.f_locals is not frame.f_globals or type(module) not in (_Module, _Borrower):
        return False
    if vars(module) is not frame.f_globals or not _is_for_annotations(code, name, frame.f_lasti + 2):
        return False
    module.__class__ = _Borrower
    return True


def _is_for_annotations(code: _Code, name: str, place: int) -> bool:
    """Whether a module's code stores the name at this place as what it is, and nothing else uses it."""
    names = code.co_names
    if not code.co_flags & _FUTURE_ANNOTATIONS or len(names) > _MAX_NAMES:
        return False
    number = names.index(name)
    if code.co_code[place : place + 2] != bytes((_STORE, number)):
        return False
    steps = code.co_code
    used, found = bytes((_LOAD, number)), -1
    while (found := steps.find(used, found + 1)) >= 0:
        if not found % 2:
            return False
    return not any(_names(inner, name) for inner in code.co_consts if type(inner) is _Code)


def _names(code: _Code, name: str) -> bool:
    """Whether the name stands in the code of a function or class, or in one within it."""
    return name in code.co_names or any(_names(inner, name) for inner in code.co_consts if type(inner) is _Code)
