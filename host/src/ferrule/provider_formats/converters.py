"""The five shapes. Each function gets a document of its own, which has kept the rules, and may build on its parts."""

from __future__ import annotations

from ferrule.schema.rules.nodes import all_nodes

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

_REFERENCES = ("$ref", "$dynamicRef")
_SAYING_NOTHING = {"type", "properties", "required", "title", "description", "$schema", "$comment"}


def anthropic(schema: dict[str, Any]) -> dict[str, Any]:
    """`{"name", "description", "input_schema"}`, the parameters as they are."""
    return {"name": schema["name"], "description": schema["description"], "input_schema": schema["parameters"]}


def openai_chat(schema: dict[str, Any]) -> dict[str, Any]:
    """`{"type": "function", "function": {"name", "description", "parameters"}}`; what is not said is not strict."""
    return {"type": "function", "function": _function(schema)}


def openai_responses(schema: dict[str, Any]) -> dict[str, Any]:
    """`{"type": "function", "name", "description", "parameters", "strict": false}`; here strict is what is not said."""
    return {"type": "function", **_function(schema), "strict": False}


def gemini(schema: dict[str, Any]) -> dict[str, Any]:
    """`{"functionDeclarations": [{"name", "description", "parametersJsonSchema"}]}`; no schema for no parameters."""
    declaration = {"name": schema["name"], "description": schema["description"]}
    parameters = schema["parameters"]
    if parameters["properties"] or not _SAYING_NOTHING.issuperset(parameters):
        # The draft is 2020-12 in any case, and the API refuses the keyword.
        declaration["parametersJsonSchema"] = {
            keyword: value for keyword, value in closed(parameters).items() if keyword != "$schema"
        }
    return {"functionDeclarations": [declaration]}


def one_by_one(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An entry for each tool."""
    return forms


def declared_together(forms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One entry with all declarations, none without any: Vertex AI refuses several that declare functions."""
    declarations = [declaration for form in forms for declaration in form["functionDeclarations"]]
    return [{"functionDeclarations": declarations}] if declarations else []


def mcp(schema: dict[str, Any]) -> dict[str, Any]:
    """`{"name", "description", "inputSchema"}`."""
    return {"name": schema["name"], "description": schema["description"], "inputSchema": closed(schema["parameters"])}


def closed(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, saying that there are no others: the host refuses such arguments at the top level, only there.

    Parameters that say it themselves stay as they are, and so do those that a reference may lead back to: an object
    inside them would be closed along with the arguments.
    """
    if "additionalProperties" in parameters or _may_be_referred_to(parameters):
        return parameters
    return {**parameters, "additionalProperties": False}


def _may_be_referred_to(parameters: dict[str, Any]) -> bool:
    """Whether there is a reference that does not lead to a place inside the parameters."""
    return any(
        not str(node.schema[keyword]).startswith("#/")
        for node in all_nodes({"parameters": parameters})
        if isinstance(node.schema, dict)
        for keyword in _REFERENCES
        if keyword in node.schema
    )


def _function(schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": schema["name"], "description": schema["description"], "parameters": closed(schema["parameters"])}
