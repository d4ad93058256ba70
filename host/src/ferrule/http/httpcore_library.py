"""httpcore, without what it imports for others, and without its log."""

from __future__ import annotations

import sys
from threading import Lock, get_ident
from types import ModuleType

_lock = Lock()  # nothing is imported while it is held


class _LazyModule(ModuleType):
    """Stands for a module that is imported once something is asked of it, in whichever thread."""

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        # Other modules that are imported meanwhile, such as trio's, keep what they get, and want the real ones.
        if name in _ANSWERS and _importing == get_ident() and sys._getframe(1).f_globals["__name__"] == "dataclasses":
            return _ANSWERS[name]
        self.step_aside()
        return getattr(import_module(self.__name__), name)

    def step_aside(self) -> None:
        """Let the name be imported from now on. What has been imported under it stays."""
        with _lock:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]


# httpcore imports certifi for pools that are given no TLS context, and anyio for asynchronous ones: together a third
# of all that it imports. Pools here are given theirs, and most are synchronous. Its log and the dataclasses of h11
# import traceback and inspect, which are for what goes wrong and for docstrings: a fifth of the rest. What needs one of
# them later finds it where these lead, and so does another thread that imports one at the same time.
_MODULES = ("certifi", "anyio", "inspect", "traceback")
_deferred = [] if "httpcore" in sys.modules else [_LazyModule(name) for name in _MODULES if name not in sys.modules]
# What dataclasses ask `inspect` for while this thread imports: the docstring of a class without one, and what it has.
_ANSWERS = {
    "signature": lambda *_, **__: "",
    "get_annotations": lambda one: dict(vars(one).get("__annotations__", {})),
}
_importing = get_ident()
for _module in _deferred:
    sys.modules.setdefault(_module.__name__, _module)
try:
    import logging

    import httpcore
except ModuleNotFoundError as error:
    if error.name != "httpcore":
        raise
    raise ModuleNotFoundError(
        "ferrule.http needs httpcore, which comes with an extra. Install it: pip install 'ferrule[http]'",
        name="httpcore",
    ) from None
finally:
    _importing = 0
    for _module in _deferred:
        _module.step_aside()

# It would write every URL to the log, with the keys that stand in its query.
logging.getLogger("httpcore").setLevel(logging.CRITICAL + 1)

__all__ = ["httpcore"]
