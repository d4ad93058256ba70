"""Everything that is worth a warning: names and descriptions here, keywords and shapes beside it."""

from __future__ import annotations

from ferrule.schema.rules import ignored_keywords, structure
from ferrule.schema.rules.findings import Finding, shown
from ferrule.schema.rules.nodes import all_nodes
from ferrule.text.naming import is_tool_name

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
    for node in all_nodes(document):
        if isinstance(node.schema, dict):
            for rule in _NODE_RULES:
                yield from rule(node, node.schema)


def tool_name_convention(document: object) -> Iterator[Finding]:
    """snake_case, a letter first, and no longer than providers take."""
    name = document.get("name") if isinstance(document, dict) else None
    if not isinstance(name, str) or not is_tool_name(name):
        return
    problems = []
    if name != name.lower():
        problems.append("it is not snake_case, so its executable is not the kebab-case that people look for")
    if name[0].isdigit():
        problems.append("it starts with a digit, and Gemini refuses every request with such a name in it")
    elif not name[0].isalpha():
        problems.append("it does not start with a letter, as the names of tools do")
    if len(name) > LONGEST_NAME:
        problems.append(f"it has {len(name)} characters, and OpenAI refuses a request with more than {LONGEST_NAME}")
    if problems:
        yield Finding(
            "tool-name-convention",
            "/name",
            f"The name {shown(name)} is against the convention: {'; '.join(problems)}.",
            _rename(name[:LONGEST_NAME]),
        )


def tool_description(document: object) -> Iterator[Finding]:
    """There is a description, and OpenAI takes it."""
    text = document.get("description") if isinstance(document, dict) else None
    if not isinstance(text, str):
        return
    if not text.strip():
        yield Finding(
            "description-missing",
            "/description",
            "The tool's description is empty: it is all that a model has to choose the tool by.",
            "Say what the tool does, when to use it, and what it answers.",
        )
    if len(text) > LONGEST_DESCRIPTION:
        yield Finding(
            "description-too-long",
            "/description",
            f"The tool's description has {len(text):,} characters, and OpenAI has refused every request with "
            f"one of more than {LONGEST_DESCRIPTION:,}.",
            "Shorten it, or move what concerns one parameter into its description.",
        )


def parameter_name(node: Node, _schema: dict[object, object]) -> Iterator[Finding]:
    """A name that no provider refuses, and then one in snake_case."""
    name = node.name
    if not isinstance(name, str) or not node.plain:
        return
    providers = refusing(name)
    if providers:
        verb = "refuses" if len(providers) == 1 else "refuse"
        yield Finding(
            "parameter-name-refused",
            node.pointer,
            f"{' and '.join(providers)} {verb} every request with a parameter called {shown(name)} in it.",
            _rename(name[:LONGEST_NAME]),
        )
    elif name != name.lower():
        yield Finding(
            "parameter-name-convention",
            node.pointer,
            f"The parameter {shown(name)} is not snake_case: no provider refuses it, but models are apt to "
            "write it like the parameters of other tools.",
            _rename(name),
        )


def parameter_description(node: Node, schema: dict[object, object]) -> Iterator[Finding]:
    """Each parameter, nested ones too, says what it is for."""
    text = schema.get("description")
    if node.name is None or not node.plain or (isinstance(text, str) and text.strip()):
        return
    yield Finding(
        "description-missing",
        f"{node.pointer}/description",
        f"The parameter {shown(node.name)} has no description: a model guesses what to put there.",
        "Say what it is, in which form, and what happens without it.",
    )


def snake_case(name: str) -> str:
    """`notebookPath` -> `notebook_path`; what is neither a letter nor a digit of ASCII separates words."""
    text = ""
    for index, char in enumerate(name):
        before, after = name[index - 1 : index], name[index + 1 : index + 2]
        if char.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower())):
            text += "_"
        text += char.lower() if char.isascii() and char.isalnum() else "_"
    return "_".join(word for word in text.split("_") if word)


def refusing(name: str) -> tuple[str, ...]:
    """The providers that refuse the name of a parameter; none where nobody does."""
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
