"""httpcore, without what it imports for others, and without its log."""

from __future__ import annotations

import logging
import sys
from threading import Lock
from types import ModuleType

_lock = Lock()  # nothing is imported while it is held


class _LazyModule(ModuleType):
    """Stands for a module that is imported once something is asked of it, in whichever thread."""

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        self.step_aside()
        return getattr(import_module(self.__name__), name)

    def step_aside(self) -> None:
        """Let the name be imported from now on. What has been imported under it stays."""
        with _lock:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]


# httpcore imports certifi for pools that are given no TLS context, and anyio for asynchronous ones: together a third
# of all that it imports. Pools here are given theirs, and most are synchronous; somebody else's find both where these
# lead, and so does another thread that imports one of them meanwhile.
_deferred = [] if "httpcore" in sys.modules else [_LazyModule("certifi"), _LazyModule("anyio")]
for _module in _deferred:
    sys.modules.setdefault(_module.__name__, _module)
try:
    import httpcore
except ModuleNotFoundError as error:
    if error.name != "httpcore":
        raise
    raise ModuleNotFoundError(
        "ferrule.http needs httpcore, which comes with an extra. Install it: pip install 'ferrule[http]'",
        name="httpcore",
    ) from None
finally:
    for _module in _deferred:
        _module.step_aside()

# It would write every URL to the log, with the keys that stand in its query.
logging.getLogger("httpcore").setLevel(logging.CRITICAL + 1)

__all__ = ["httpcore"]
