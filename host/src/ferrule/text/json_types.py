"""Public: the types of JSON values. Import it under TYPE_CHECKING."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JSONObject = dict[str, Any]
"""A JSON object: the arguments of a call, a result, a schema. Its shape is what the schema of the tool says."""
"""A JSON object whose shape is not ours to say, such as the arguments of a tool or its result."""

JSONMapping = Mapping[str, Any]
"""The same, where it is only read."""
