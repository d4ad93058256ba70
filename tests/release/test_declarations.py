"""What the tools of the project declare: all that listing and clients ask of a tool, and nothing that is not so."""

import pytest

from ferrule.discovery import InstalledTool, scan
from ferrule.installed.tool_warnings import unknown_keys
from ferrule.plugin.declaration import HINTS, read_declaration
from ferrule.schema.arguments import prepare
from ferrule_dev.testing import run_tool
from ferrule_testkit.schemas.declared_results import require_declared_shape
from ferrule_testkit.schemas.tool_schemas import SHIPPED

TOOLS = {name: claim for name, (claim, *_) in scan().items() if name in SHIPPED}
OF_WHAT_IS_STORED = {"artifact_read", "get_research_session", "research_export"}
"""Tools whose required argument names what an earlier call has stored."""


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_shipped_tool_declares_what_clients_ask_and_its_examples_fit_its_schema(tool: InstalledTool) -> None:
    declared = read_declaration(tool.value)
    assert declared.title
    assert all(isinstance(getattr(declared, hint), bool) for hint in HINTS)
    assert unknown_keys(declared) == []
    assert declared.examples or tool.name in OF_WHAT_IS_STORED
    for example in declared.examples:
        prepare(dict(example), SHIPPED[tool.name]["parameters"])


def test_only_the_tools_that_write_notes_and_steps_are_not_read_only() -> None:
    writing = [name for name, tool in TOOLS.items() if not read_declaration(tool.value).read_only]
    assert (writing, len(TOOLS)) == (["opennotes_create", "sequential_search"], len(SHIPPED))


@pytest.mark.process
def test_the_example_answers_what_it_declares() -> None:
    (example,) = read_declaration(TOOLS["example"].value).examples
    require_declared_shape("example", run_tool("example", example).document)
