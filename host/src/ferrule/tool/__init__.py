"""What a plugin sees of the host, and a plugin as the host loads it: hookspecs, context, credentials, result policy.

The public decorator `ferrule.tool` has the name of this room, so the room can be called, and does what that does.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class _Room(type(sys)):  # type: ignore[misc]  # the class of modules, without importing types
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # By its name alone: the decorator stands on a higher floor, and a room knows none of those.
        decorator = __import__("ferrule.function_tool.decorator", fromlist=["tool"])
        return decorator.tool(*arguments, **options)


sys.modules[__name__].__class__ = _Room
