"""Asking a model's stand-in that was written by others: the whole loop, with the real search tool where one is used."""

import math
import os
from collections.abc import Iterator

import pytest

from ferrule_ask import Client
from ferrule_dev.testing import Environment, Server
from ferrule_testkit.model.aimock import Aimock, answering, calling, failing
from ferrule_testkit.search.server import BRAVE_KEY, Brave, endpoints, some_hits

pytestmark = pytest.mark.slow


SEARCH = "web_search_brave"
QUERY = {"query": "price of tea"}
FENCED = 'Like so:\n\n```python\n[x for x in "a\\b"]\n```\n\n\u201cdone\u201d \\u0041 \U0001f375'
FIXTURES = [
    answering("plain", {"content": "Paris.", "usage": {"input_tokens": 12, "output_tokens": 3}}),
    answering("fenced", {"content": FENCED}),
    answering("tea", calling((SEARCH, QUERY), text="Let me look."), hasToolResult=False),
    answering("tea", {"content": "Ten pence."}, hasToolResult=True),
    answering("twice", calling((SEARCH, QUERY), (SEARCH, {"query": "coffee"})), hasToolResult=False),
    answering("twice", {"content": "Ten and twelve."}, hasToolResult=True),
    answering("strange", calling(("launch_rocket", {"to": "Mars"})), hasToolResult=False),
    answering("strange", {"content": "I cannot."}, hasToolResult=True),
    answering("wordless", calling((SEARCH, {})), hasToolResult=False),
    answering("wordless", {"content": "I asked wrongly."}, hasToolResult=True),
    answering("forever", calling((SEARCH, QUERY), text="Let me look."), hasToolResult=False),
    answering("forever", calling((SEARCH, QUERY), text="Ten pence, I think."), hasToolResult=True),
    failing("limited", 429, "Slow down.", retry_after=1, sequenceIndex=0),
    answering("limited", {"content": "At last."}, sequenceIndex=1),
    *(
        failing("queue", status, "Slow down.", retry_after=1, sequenceIndex=n)
        for n, status in enumerate([429, 529] * 2)
    ),
    answering("queue", {"content": "Your turn."}, sequenceIndex=4),
    failing("crowded", 529, "Overloaded"),
    failing("late", 429, "Slow down.", retry_after=50),
    failing("unpaid", 402, "Your credit balance is too low."),
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    with Aimock(tmp_path_factory.mktemp("aimock"), *FIXTURES) as server:
        yield server


@pytest.fixture
def web() -> Iterator[Server]:
    with Server() as server:
        server.route("*", Brave(some_hits(7)))
        yield server


@pytest.fixture
def client(
    aimock: Aimock, web: Server, ferrule_environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    """The installed tools, with a key for one search, and budgets that are long for a busy machine."""
    for name in [one for one in os.environ if one.startswith(("ANTHROPIC_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    for name, value in {**endpoints(web), "BRAVE_API_KEY": BRAVE_KEY, "ANTHROPIC_API_KEY": "sk-any"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", aimock.url)
    monkeypatch.setenv("FERRULE_ASK_TOOLS", "web_search_brave")
    with Client() as client:
        yield client


def test_a_question_that_needs_no_tool_is_answered_with_one_request(
    client: Client, aimock: Aimock, web: Server
) -> None:
    answer = client.ask("France", "plain: What is the capital?")
    assert (answer.code, answer.text, answer.tool) == (None, "Paris.", None)
    assert (answer.input_tokens, answer.output_tokens) == (12, 3)
    [sent] = aimock.journal("plain: What")
    assert sent["path"].startswith("/v1/messages")
    assert "Context: France\n\nQuestion: plain: What is the capital?" in str(sent["body"]).replace("\\n", "\n")
    assert not web.requests


def test_code_fences_and_escapes_arrive_as_they_were(client: Client) -> None:
    assert client.ask(None, "fenced: What is a list comprehension?").text == FENCED


def test_a_search_is_made_and_its_results_are_answered_from(client: Client, aimock: Aimock, web: Server) -> None:
    answer = client.ask("tea", "What does it cost?")
    assert (answer.code, answer.text, answer.tool, answer.tool_input) == (None, "Ten pence.", SEARCH, QUERY)
    assert len(web.requests) == 1
    first, second = aimock.journal("Question: What does it cost?")
    assert [tool["function"]["name"] for tool in first["body"]["tools"]] == [SEARCH]
    assert second["body"]["tools"] == first["body"]["tools"]
    results = str(second["body"]["messages"][-1]["content"])
    assert results.startswith("Search Results:\n\n1. Title 0\n   https://www.example.com/0\n   Text 0")
    assert results.count("https://") == 5
    assert BRAVE_KEY not in str(second)


def test_of_two_calls_one_is_made_and_both_get_a_result(client: Client, aimock: Aimock, web: Server) -> None:
    answer = client.ask(None, "twice")
    assert (answer.code, answer.text, answer.tool_input) == (None, "Ten and twelve.", QUERY)
    assert len(web.requests) == 1
    results = [one for one in aimock.journal("twice")[1]["body"]["messages"] if one["role"] == "tool"]
    assert [one["tool_call_id"] for one in results] == ["toolu_00", "toolu_01"]
    assert results[0]["content"].startswith("Search Results:")
    assert results[1]["content"].startswith("Tool call limit reached")


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [("strange", "I cannot.", "launch_rocket"), ("wordless", "I asked wrongly.", "query")],
    ids=["an-unknown-tool", "arguments-that-are-wrong"],
)
def test_what_cannot_be_called_is_told_to_the_model(
    client: Client, aimock: Aimock, web: Server, question: str, text: str, told: str
) -> None:
    answer = client.ask(None, question)
    assert (answer.code, answer.text) == (None, text)
    assert told in str(aimock.journal(question)[1]["body"]["messages"][-1]["content"])
    assert not web.requests


def test_a_model_that_never_stops_calling_gets_one_call(client: Client, aimock: Aimock, web: Server) -> None:
    answer = client.ask(None, "forever")
    assert (answer.text, answer.code) == (None, "EMPTY_ANSWER")  # what it says before a further call is no answer
    assert (len(web.requests), len(aimock.journal("forever"))) == (1, 2)


def test_a_search_that_fails_is_no_failure_of_the_answer(client: Client, aimock: Aimock, web: Server) -> None:
    web.page("*", "{}", status=500)
    answer = client.ask("tea", "What if the web is away?")
    assert (answer.code, answer.text) == (None, "Ten pence.")
    assert (answer.tool_outcome, answer.tool_code, answer.is_good) == ("failed", "API_ERROR", False)
    told = aimock.journal("What if the web is away?")[1]["body"]["messages"][-1]["content"]
    assert "Search unavailable. Please answer from your knowledge." in str(told)


def test_a_rate_limit_that_is_over_in_time_is_waited_for(client: Client, aimock: Aimock) -> None:
    answer = client.ask(None, "limited")
    assert (answer.code, answer.text) == (None, "At last.")
    assert len(aimock.journal("limited")) == 2


def test_a_rate_limit_that_lasts_longer_than_the_budget_is_not_waited_for(client: Client, aimock: Aimock) -> None:
    answer = client.ask(None, "late")
    assert (answer.text, answer.code) == (None, "RATE_LIMIT")
    assert "50 seconds" in str(answer.error)
    assert len(aimock.journal("late")) == 1


def test_with_patience_a_refusal_is_waited_for_as_often_as_it_comes(client: Client, aimock: Aimock) -> None:
    answer = client.ask(None, "queue", patience=math.inf)
    assert (answer.code, answer.text) == (None, "Your turn.")
    assert len(aimock.journal("queue")) == 5


def test_an_overloaded_server_is_asked_three_times(client: Client, aimock: Aimock) -> None:
    assert client.ask(None, "crowded").code == "OVERLOADED"
    assert len(aimock.journal("crowded")) == 3


def test_an_empty_account_is_said_at_once(client: Client, aimock: Aimock) -> None:
    answer = client.ask(None, "unpaid")
    assert (answer.code, len(aimock.journal("unpaid"))) == ("BILLING", 1)


def test_an_error_in_another_shape_is_an_error_all_the_same(client: Client) -> None:
    answer = client.ask(None, "nothing fits this")
    assert (answer.text, answer.code) == (None, "API_ERROR")
    assert "404" in str(answer.error)


@pytest.mark.parametrize(
    ("rates", "code"),
    [
        ({"rateLimitRate": 1}, "RATE_LIMIT"),
        ({"dropRate": 1}, "API_ERROR"),
        ({"malformedRate": 1}, "API_ERROR"),
        ({"disconnectRate": 1}, "NETWORK_ERROR"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_chaos_becomes_a_code(client: Client, aimock: Aimock, rates: dict[str, float], code: str) -> None:
    aimock.be_chaotic(**rates)
    try:
        answer = client.ask(None, "plain")
    finally:
        aimock.be_chaotic()
    assert (answer.text, answer.code) == (None, code)
    assert client.ask(None, "plain").text == "Paris."


@pytest.mark.parametrize(
    ("model", "variable", "key", "path"),
    [
        ("openai/gpt-x", "OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1"),
        ("openai-chat/gpt-x", "OPENAI_BASE_URL", "OPENAI_API_KEY", "/v1"),
        ("openrouter/vendor/x", "OPENROUTER_BASE_URL", "OPENROUTER_API_KEY", "/v1"),
        ("ollama/llama", "OLLAMA_BASE_URL", "", "/v1"),
        ("gemini/gemini-x", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", ""),
    ],
)
def test_every_provider_s_model_searches_and_answers(
    client: Client, aimock: Aimock, monkeypatch: pytest.MonkeyPatch, model: str, variable: str, key: str, path: str
) -> None:
    monkeypatch.setenv(variable, aimock.url + path)
    if key:
        monkeypatch.setenv(key, "sk-any")
    question = f"What does tea cost, {model}?"

    answer = client.ask("tea", question, model=model)

    assert (answer.code, answer.text, answer.tool, answer.tool_input) == (None, "Ten pence.", SEARCH, QUERY)
    assert len(aimock.journal(question)) == 2
