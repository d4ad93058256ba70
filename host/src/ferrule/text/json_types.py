"""Public: the types of JSON values. Import it under TYPE_CHECKING."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    JSONObject = dict[str, Any]
    """A JSON object: the arguments of a call, a result, a schema. Its shape is what the schema of the tool says."""

    JSONMapping = Mapping[str, Any]
    """The same, where it is only read."""
else:
    # For annotations that a plugin evaluates: to import typing for Any takes a third of an interpreter's start.
    from _collections_abc import Mapping

    JSONObject = dict[str, object]
    JSONMapping = Mapping[str, object]
