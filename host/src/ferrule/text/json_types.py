"""Public: the types of JSON values. Import it under TYPE_CHECKING."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    JSONObject = dict[str, Any]
    """A JSON object whose shape is not ours to say, such as the arguments of a tool or its result, or a schema."""

    JSONMapping = Mapping[str, Any]
    """The same, where it is only read."""
else:
    # For annotations that a plugin evaluates: to import typing for Any takes a third of an interpreter's start.
    from _collections_abc import Mapping

    JSONObject = dict[str, object]
    JSONMapping = Mapping[str, object]
