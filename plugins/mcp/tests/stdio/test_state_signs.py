"""Tools that depend on what their server remembers, by names and descriptions as servers in use have them."""

import pytest

from ferrule_mcp.stdio.state_signs import keeps_state

REMEMBERING = {
    "thoughts": [("sequentialthinking", "A tool for dynamic problem-solving through thoughts.")],
    "a shell": [
        ("start_process", "Start a new terminal process."),
        ("read_process_output", "Read output from a running process."),
        ("interact_with_process", "Send input to it."),
    ],
    "a browser": [
        ("browser_navigate", "Navigate to a URL"),
        ("browser_click", "Click"),
        ("browser_snapshot", "Capture accessibility snapshot of the current page"),
    ],
    "pages": [
        ("click", "Clicks on the provided element"),
        ("navigate_page", "Go to a URL"),
        ("take_snapshot", "Take a text snapshot of the currently selected page"),
        ("select_page", "Select a page as context for future tool calls"),
    ],
    "a project": [("activate_project", "Activates the project with the given name or path.")],
    "a folder": [("git_set_working_dir", "Set the session working directory for all git operations.")],
    "switches": [("toggle-simulated-logging", "Toggles simulated, random-leveled logging on or off.")],
    "a database": [("execute_query", "Execute a SQL query on the in-memory database.")],
    "a connection": [("dbConnect", "Opens it."), ("connect_database", "Connect to a database.")],
    "transactions": [("begin_transaction", "Begin."), ("rollback", "Roll back.")],
    "order": [("query", "You must call login first before any query.")],
}
FORGETTING = [
    ("read_text_file", "Read the complete contents of a file from the file system as text."),
    ("list_directory", "Get a detailed listing of all files and directories in a specified path."),
    ("create_entities", "Create multiple new entities in the knowledge graph"),
    ("git_commit", "Records changes to the repository"),
    ("git_status", "Shows the working tree status"),
    ("get_current_time", "Get current time in a specific timezone"),
    ("fetch", "Fetches a URL from the internet and optionally extracts its contents as markdown."),
    ("read_query", "Execute a SELECT query on the SQLite database"),
    ("take_screenshot", "Renders a web page and returns a picture of it."),
    ("search_notes", "Search for notes by name"),
    ("convert_to_markdown", "Convert a resource described by an http:, https:, file: or data: URI to markdown"),
    ("calculate", "Calculates/evaluates the given expression."),
    ("get-resource-links", "Returns up to ten resource links that reference different types of resources"),
]


def describe(pairs: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "description": description} for name, description in pairs]


@pytest.mark.parametrize("pairs", REMEMBERING.values(), ids=REMEMBERING)
def test_what_a_process_remembers_is_seen(pairs: list[tuple[str, str]]) -> None:
    assert keeps_state(describe(pairs)) == [name for name, _ in pairs]


@pytest.mark.parametrize("pair", FORGETTING, ids=[name for name, _ in FORGETTING])
def test_a_tool_that_depends_on_nothing_is_not_named(pair: tuple[str, str]) -> None:
    assert keeps_state(describe([pair])) == []


def test_a_tool_without_a_description_is_judged_by_its_name() -> None:
    assert keeps_state([{"name": "activateThing"}, {"name": "thing", "description": None}]) == ["activateThing"]
