"""httpx, without its command line."""

from __future__ import annotations

import sys

_COMMAND_LINE = "httpx._main"

# `import httpx` also imports httpx's own command line, and with it click: a quarter of the whole time.
# httpx goes on without it where it cannot be imported, and None in sys.modules is Python's documented way to
# say so. Should a later httpx call the module something else, the import is slower again, and that is all.
_hidden = _COMMAND_LINE not in sys.modules and "httpx" not in sys.modules
if _hidden:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]
try:
    import httpx
finally:
    if _hidden:
        del sys.modules[_COMMAND_LINE]

__all__ = ["httpx"]
