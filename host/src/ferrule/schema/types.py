"""The types of a tool's schema. Import it under TYPE_CHECKING."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject


class ParametersSchema(TypedDict, total=False):
    """The parameters of a tool: a JSON Schema of an object. Further keywords may stand beside these."""

    type: str
    properties: dict[str, JSONObject]
    required: list[str]


class ToolSchema(TypedDict):
    """What `--schema` prints, once it has been held against the rules."""

    name: str
    description: str
    parameters: ParametersSchema
