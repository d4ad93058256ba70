"""The six shapes. Each function gets a document of its own, which has kept the rules, and may build on its parts."""

from __future__ import annotations

from ferrule.schema.rules.nodes import all_schemas

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_REFERENCES = ("$ref", "$dynamicRef")
_SAYING_NOTHING = {"type", "properties", "required", "title", "description", "$schema", "$comment"}


def anthropic(schema: JSONObject) -> JSONObject:
    """`{"name", "description", "input_schema"}`, the parameters as they are."""
    return {"name": schema["name"], "description": schema["description"], "input_schema": schema["parameters"]}


def openai_chat(schema: JSONObject) -> JSONObject:
    """`{"type": "function", "function": {"name", "description", "parameters"}}`; what is not said is not strict."""
    return {"type": "function", "function": _function(schema)}


def openai_responses(schema: JSONObject) -> JSONObject:
    """`{"type": "function", "name", "description", "parameters", "strict": false}`; here strict is what is not said."""
    return {"type": "function", **_function(schema), "strict": False}


def gemini(schema: JSONObject) -> JSONObject:
    """`{"functionDeclarations": [{"name", "description", "parametersJsonSchema"}]}`; no schema for no parameters."""
    declaration = {"name": schema["name"], "description": schema["description"]}
    parameters = schema["parameters"]
    if parameters["properties"] or not _SAYING_NOTHING.issuperset(parameters):
        # The draft is 2020-12 in any case, and the API refuses the keyword.
        closed = close_object(parameters)
        declaration["parametersJsonSchema"] = {key: value for key, value in closed.items() if key != "$schema"}
    return {"functionDeclarations": [declaration]}


def declare_together(forms: list[JSONObject]) -> list[JSONObject]:
    """One entry with all declarations, none without any: Vertex AI refuses several that declare functions."""
    declarations = [declaration for form in forms for declaration in form["functionDeclarations"]]
    return [{"functionDeclarations": declarations}] if declarations else []


def mcp(schema: JSONObject) -> JSONObject:
    """`{"name", "description", "inputSchema"}`."""
    parameters = close_object(schema["parameters"])
    return {"name": schema["name"], "description": schema["description"], "inputSchema": parameters}


def plain(schema: JSONObject) -> JSONObject:
    """`{"name", "description", "parameters"}`, as the tool prints it, in the plain form's words."""
    from ferrule.schema.providers.plain_schema import PlainSchema

    return PlainSchema(schema).form


def close_object(parameters: JSONObject) -> JSONObject:
    """The parameters, saying that there are no others: the host refuses such arguments at the top level, only there.

    Parameters that say it themselves stay as they are, and so do those that a reference may lead back to: an object
    inside them would be closed along with the arguments.
    """
    if "additionalProperties" in parameters or _may_be_referred_to(parameters):
        return parameters
    return {**parameters, "additionalProperties": False}


def _may_be_referred_to(parameters: JSONObject) -> bool:
    """Whether there is a reference that does not lead to a place inside the parameters."""
    return any(
        not str(schema[keyword]).startswith("#/")
        for _, schema in all_schemas({"parameters": parameters})
        for keyword in _REFERENCES
        if keyword in schema
    )


def _function(schema: JSONObject) -> JSONObject:
    parameters = close_object(schema["parameters"])
    return {"name": schema["name"], "description": schema["description"], "parameters": parameters}
