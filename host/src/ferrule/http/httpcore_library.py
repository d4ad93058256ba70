"""httpcore, without what it imports for others, and without its log."""

from __future__ import annotations

import logging
import sys
from types import ModuleType


class _Later(ModuleType):
    """A module that is imported once something is asked of it."""

    def __getattr__(self, name: str) -> object:
        from importlib import import_module

        return getattr(import_module(self.__name__), name)


# httpcore imports certifi for pools that are given no TLS context, and anyio for asynchronous ones: together a third
# of all that it imports. Pools here are given theirs and are synchronous; somebody else's find both where these lead.
_deferred = [name for name in ("certifi", "anyio") if name not in sys.modules and "httpcore" not in sys.modules]
for _name in _deferred:
    sys.modules[_name] = _Later(_name)
try:
    import httpcore
finally:
    for _name in _deferred:
        del sys.modules[_name]

# It would write every URL to the log, with the keys that stand in its query.
logging.getLogger("httpcore").setLevel(logging.CRITICAL + 1)

__all__ = ["httpcore"]
