"""Everything that is worth a warning: names and descriptions here, keywords and shapes beside it."""

from __future__ import annotations

from ferrule.schema.rules import ignored_keywords, structure
from ferrule.schema.rules.findings import GEMINI, OPENAI, Finding, format_value
from ferrule.schema.rules.nodes import all_schemas
from ferrule.text.names import is_tool_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.schema.rules.nodes import Node

LONGEST_NAME = 64
"""Characters of a tool's name at OpenAI, and of a parameter's at Anthropic and Gemini."""

LONGEST_DESCRIPTION = 1024
"""Characters of a tool's description at OpenAI."""


def advice(document: object) -> Iterator[Finding]:
    """The warnings of a schema, whatever it is: those of the tool, then those of `parameters` in order."""
    yield from tool_name_convention(document)
    yield from tool_description(document)
    for node, schema in all_schemas(document):
        for rule in _NODE_RULES:
            yield from rule(node, schema)


def tool_name_convention(document: object) -> Iterator[Finding]:
    """snake_case, a letter first, and no longer than providers take."""
    name = document.get("name") if isinstance(document, dict) else None
    if not isinstance(name, str) or not is_tool_name(name):
        return
    problems: list[str] = []
    refused_by: tuple[str, ...] = ()
    if name != name.lower():
        problems.append("it is not snake_case, so its executable is not the kebab-case that people look for")
    if name[0].isdigit():
        problems.append("it starts with a digit, and Gemini refuses every request with such a name in it")
        refused_by = (GEMINI,)
    elif not name[0].isalpha():
        problems.append("it does not start with a letter, as the names of tools do")
    if len(name) > LONGEST_NAME:
        problems.append(f"it has {len(name)} characters, and OpenAI refuses a request with more than {LONGEST_NAME}")
        refused_by += (OPENAI,)
    if problems:
        message = f"The name {format_value(name)} is against the convention: {'; '.join(problems)}."
        yield Finding("tool-name-convention", "/name", message, _rename(name[:LONGEST_NAME]), refused_by=refused_by)


def tool_description(document: object) -> Iterator[Finding]:
    """There is a description, and OpenAI takes it."""
    text = document.get("description") if isinstance(document, dict) else None
    if not isinstance(text, str):
        return
    if not text.strip():
        message = "The tool's description is empty: it is all that a model has to choose the tool by."
        fix = "Say what the tool does, when to use it, and what it answers."
        yield Finding("description-missing", "/description", message, fix)
    if len(text) > LONGEST_DESCRIPTION:
        refused = f"OpenAI has refused every request with one of more than {LONGEST_DESCRIPTION:,}"
        message = f"The tool's description has {len(text):,} characters, and {refused}."
        fix = "Shorten it, or move what concerns one parameter into its description."
        yield Finding("description-too-long", "/description", message, fix, refused_by=(OPENAI,))


def parameter_name(node: Node, _schema: dict[object, object]) -> Iterator[Finding]:
    """A name that no provider refuses, and then one in snake_case."""
    name = node.name
    if not isinstance(name, str) or not node.plain:
        return
    providers = find_refusals(name)
    if providers:
        refuse = f"{' and '.join(providers)} {'refuses' if len(providers) == 1 else 'refuse'}"
        message = f"{refuse} every request with a parameter called {format_value(name)} in it."
        yield Finding(
            "parameter-name-refused", node.pointer, message, _rename(name[:LONGEST_NAME]), refused_by=providers
        )
    elif name != name.lower():
        cost = "no provider refuses it, but models are apt to write it like the parameters of other tools"
        message = f"The parameter {format_value(name)} is not snake_case: {cost}."
        yield Finding("parameter-name-convention", node.pointer, message, _rename(name))


def parameter_description(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """Each parameter, nested ones too, says what it is for."""
    text = schema.get("description")
    if node.name is None or not node.plain or (isinstance(text, str) and text.strip()):
        return
    message = f"The parameter {format_value(node.name)} has no description: a model guesses what to put there."
    fix = "Say what it is, in which form, and what happens without it."
    yield Finding("description-missing", f"{node.pointer}/description", message, fix)


def snake_case(name: str) -> str:
    """`notebookPath` -> `notebook_path`; what is neither a letter nor a digit of ASCII separates words."""
    text = ""
    for index, char in enumerate(name):
        before, after = name[index - 1 : index], name[index + 1 : index + 2]
        if char.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower())):
            text += "_"
        text += char.lower() if char.isascii() and char.isalnum() else "_"
    return "_".join(word for word in text.split("_") if word)


def find_refusals(name: str) -> tuple[str, ...]:
    """The providers that refuse the name of a parameter; empty where none does."""
    if not 0 < len(name) <= LONGEST_NAME or not is_tool_name(name.replace(".", "_").replace("-", "_")):
        return ("Anthropic", "Gemini")
    if not is_tool_name(name) or name[0].isdigit():
        return ("Gemini",)
    return ()


def _rename(name: str) -> str:
    better = snake_case(name)
    if better and better != name and better[0].isalpha():
        return f"Call it {better}."
    return f"Use a name in snake_case, a letter first, with at most {LONGEST_NAME} characters."


_NODE_RULES = (
    parameter_name,
    parameter_description,
    structure.misplaced_keyword,
    structure.array_without_items,
    structure.object_without_properties,
    structure.nested_object,
    structure.nesting_depth,
    structure.integer_enum,
    structure.empty_enum,
    ignored_keywords.unused_keyword,
    ignored_keywords.unused_composition,
    ignored_keywords.unused_conditional,
    ignored_keywords.unused_format,
    ignored_keywords.unsupported_keyword,
)
