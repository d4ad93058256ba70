"""The tool as the host sees it."""

import json
from pathlib import Path

import pytest

import ferrule_brave
from ferrule_dev.testing import schema_of

pytestmark = pytest.mark.process


SCHEMA = {
    "name": "web_search_brave",
    "description": (
        "Search the web using Brave Search API and use the results to inform responses. Provides up-to-date"
        " information for current events and recent data. Returns search result information formatted as search"
        " result blocks, including links as markdown hyperlinks."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The search query to use", "minLength": 2},
            "count": {
                "type": "integer",
                "description": "Number of results to return (1-20)",
                "minimum": 1,
                "maximum": 20,
                "default": 10,
            },
            "offset": {
                "type": "integer",
                "description": "Result offset for pagination",
                "minimum": 0,
                "default": 0,
            },
            "allowed_domains": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only include search results from these domains",
            },
            "blocked_domains": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Never include search results from these domains",
            },
        },
        "required": ["query"],
    },
}


def test_the_schema_is_the_specified_one() -> None:
    file = Path(ferrule_brave.__file__).with_name("schema.json")
    assert schema_of("web_search_brave") == json.loads(file.read_bytes()) == ferrule_brave.schema() == SCHEMA


def test_it_needs_a_key_that_is_secret() -> None:
    (key,) = ferrule_brave.credentials()
    assert (key.name, key.environment, key.path, key.secret) == (
        "api_key",
        "BRAVE_API_KEY",
        "web_search.brave.api_key",
        True,
    )
    assert key.url == "https://brave.com/search/api/"


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        pytest.param({"query": " \n "}, "query: it is blank", id="blank"),
        pytest.param({"query": "q" * 401}, "query: Brave Search takes 400 characters", id="too-long"),
        pytest.param({"query": "q " * 51}, "and 50 words at most", id="too-many-words"),
        pytest.param({"query": "q", "offset": 200}, "offset: Brave Search serves the first 200 results", id="too-far"),
        pytest.param({"query": "q", "offset": 191, "count": 10}, "and offset + count is 201", id="too-far"),
        pytest.param({"query": "q", "offset": 200}, "and offset is 200", id="where-nothing-is"),
        pytest.param({"query": "q", "offset": 199, "count": 2}, "offset + count is 201", id="one-too-far"),
        pytest.param({"query": "q", "allowed_domains": ["no domain"]}, "allowed_domains: 'no domain'", id="domain"),
    ],
)
def test_arguments_that_brave_cannot_serve_are_refused(arguments: dict[str, object], finding: str) -> None:
    (found,) = ferrule_brave.validate(arguments)
    assert finding in found


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "q" * 400},
        {"query": "q " * 50},
        {"query": "q", "offset": 190},
        {"query": "q", "offset": 180, "count": 20},
        {"query": "q", "offset": 195},
        {"query": "q", "allowed_domains": [], "blocked_domains": [""]},
    ],
)
def test_all_that_brave_can_serve_is_taken(arguments: dict[str, object]) -> None:
    assert ferrule_brave.validate(arguments) == []
