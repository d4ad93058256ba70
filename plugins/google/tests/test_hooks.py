"""The tool as the host sees it."""

import json
from pathlib import Path

import pytest

import ferrule_google
from ferrule_dev.testing import schema_of

pytestmark = pytest.mark.process


SCHEMA = {
    "name": "web_search_google",
    "description": (
        "Search the web using Google Custom Search API and use the results to inform responses. Provides up-to-date"
        " information for current events and recent data. Returns search result information formatted as search"
        " result blocks, including links as markdown hyperlinks."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The search query to use", "minLength": 2},
            "num": {
                "type": "integer",
                "description": "Number of results to return (1-10)",
                "minimum": 1,
                "maximum": 10,
                "default": 10,
            },
            "start": {
                "type": "integer",
                "description": "Result index offset for pagination (1-based, max 91)",
                "minimum": 1,
                "maximum": 91,
                "default": 1,
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
    file = Path(ferrule_google.__file__).with_name("schema.json")
    assert schema_of("web_search_google") == json.loads(file.read_bytes()) == ferrule_google.schema() == SCHEMA


def test_it_needs_a_secret_key_and_an_engine_that_may_be_shown() -> None:
    key, engine = ferrule_google.credentials()
    assert (key.name, key.environment, key.path, key.secret) == (
        "api_key",
        "GOOGLE_SEARCH_API_KEY",
        "web_search.google.api_key",
        True,
    )
    assert (engine.name, engine.environment, engine.path, engine.secret) == (
        "engine_id",
        "GOOGLE_SEARCH_ENGINE_ID",
        "web_search.google.engine_id",
        False,
    )


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        pytest.param({"query": "  "}, "query: it is blank", id="blank"),
        pytest.param({"query": "q" * 2049}, "takes 2,048 characters at most", id="too-long"),
        pytest.param({"query": "q", "start": 92}, "with start 92, num can be 9 at most", id="too-far"),
        pytest.param({"query": "q", "blocked_domains": ["example"]}, "blocked_domains: 'example'", id="domain"),
    ],
)
def test_arguments_that_google_cannot_serve_are_refused(arguments: dict[str, object], finding: str) -> None:
    (found,) = ferrule_google.validate(arguments)
    assert finding in found


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "q", "start": 91},
        {"query": "q", "start": 90},
        {"query": "q" * 1000, "allowed_domains": ["", "example.com"]},
    ],
)
def test_all_that_google_can_serve_is_taken(arguments: dict[str, object]) -> None:
    assert ferrule_google.validate(arguments) == []
