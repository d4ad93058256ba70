"""Models of several makers: what is sent to each one's API, and what comes of the replies that it documents."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ferrule.errors import ConfigurationMalformed
from ferrule_ask import Answer, Client
from ferrule_ask.models import registry
from ferrule_ask.models.openai.common import read_limits
from ferrule_ask.pace.stated_limits import StatedLimit
from ferrule_ask.settings import AskOverrides, Reader
from ferrule_ask.tools.protocols import ToolOffer
from ferrule_dev.testing import Server
from ferrule_dev.testing.http_server import Exchange
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools

REPLIES = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parent / "replies").glob("*.json"))
}
KEY = "a-key-of-the-tests-0123"
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]


class Service:
    """A provider's server, which gives documented replies one after the other."""

    def __init__(self, name: str, web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = name
        self.facts: Mapping[str, Any] = REPLIES[name]
        self._web = web
        monkeypatch.setenv(self.facts["variable"], web.url)
        monkeypatch.setenv(self.facts["key"], KEY)

    def ask(self, replies: Sequence[Any], **settings: Any) -> Answer:
        """Ask with these replies to come: names of recorded ones, or (status, document)."""
        script = [(200, self.facts[one]) if isinstance(one, str) else one for one in replies]
        steps = iter(script)

        def reply(exchange: Exchange) -> None:
            exchange.read_body()
            status, document = next(steps)
            exchange.answer(json.dumps(document).encode(), "application/json", status=status)

        self._web.route(self.facts["path"], reply)
        schema = settings.pop("schema", None)
        with Client(**{"toolbox": MemoryTools(), "model": f"{self.name}/some-model", **settings}) as client:
            return client.ask(None, "How much?", schema=schema)

    @property
    def bodies(self) -> list[Any]:
        """What was sent."""
        return [json.loads(request.body) for request in self._web.requests]

    @property
    def keys(self) -> set[str]:
        """The keys that came."""
        return {request.headers[self.facts["header"]].removeprefix("Bearer ") for request in self._web.requests}


@pytest.fixture
def web() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(params=sorted(REPLIES))
def service(request: pytest.FixtureRequest, web: Server, monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(request.param, web, monkeypatch)


def test_a_tool_is_called_and_the_answer_has_its_usage(service: Service) -> None:
    answer = service.ask(["calls", "says"])

    assert (answer.code, answer.text, answer.tool) == (None, "Ninety-five.", SEARCH)
    assert answer.tool_input == {"query": "price"}
    assert (answer.input_tokens, answer.output_tokens) == (82 + 19, 17 + 10)
    assert [(one["tool"], one["outcome"]) for one in answer.tool_calls] == [(SEARCH, "ok")]
    assert service.keys == {KEY}


def test_what_the_provider_cites_is_a_source(service: Service) -> None:
    (source,) = service.ask(["says"]).sources

    assert (source["url"], source["title"], source["cited"]) == ("https://www.example.com/0", "Title 0", True)


def test_the_second_request_has_the_call_as_it_came_and_its_result(service: Service) -> None:
    service.ask(["calls", "says"])

    first, second = map(json.dumps, service.bodies)
    signature = {"gemini": "CpgB", "openai": "gAAB", "openai-chat": "call_abc123"}[service.name]
    assert SEARCH in first
    assert signature not in first
    assert signature in second
    assert "95,234 dollars" in second


def test_calls_go_on_as_often_as_they_may(service: Service) -> None:
    answer = service.ask(["calls", "calls", "calls", "says"], max_calls=3)

    assert (answer.text, len(answer.tool_calls)) == ("Ninety-five.", 3)
    last = json.dumps(service.bodies[-1])
    assert last.count("95,234 dollars") == 3
    assert any(word in last for word in ('"tool_choice": "none"', '"mode": "NONE"'))


@pytest.mark.parametrize(("reply", "code"), [("refuses", "REFUSAL"), ("is_cut", "MAX_TOKENS")])
def test_a_reply_that_is_no_answer_says_why(service: Service, reply: str, code: str) -> None:
    assert service.ask([reply]).code == code


def test_an_answer_has_the_value_of_its_schema(service: Service) -> None:
    answer = service.ask(["calls", "typed"], schema={"type": "integer"})

    assert (answer.code, answer.value) == (None, 95)
    assert '"value"' in json.dumps(service.bodies[-1])


@pytest.mark.parametrize("place", range(5))
def test_an_error_has_its_code_and_never_the_key(service: Service, place: int) -> None:
    status, document, code = service.facts["errors"][place]
    told = json.loads(json.dumps(document).replace("KEY.", f"{KEY}."))

    answer = service.ask([(status, told)])

    assert answer.code == code
    assert answer.error is not None
    assert KEY not in answer.error
    assert "ANTHROPIC" not in answer.error


@pytest.mark.parametrize("body", [[], {}, {"choices": [], "output": {}, "candidates": 5}])
def test_what_is_no_reply_names_the_setting_to_look_at(service: Service, body: Any) -> None:
    answer = service.ask([(200, body)])

    assert answer.code == "API_ERROR"
    assert service.facts["variable"] in str(answer.error)


def test_without_a_key_nothing_is_sent(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(service.facts["key"])

    answer = service.ask([])

    assert (answer.code, service.bodies) == ("AUTH_MISSING", [])
    assert service.facts["key"] in str(answer.error)


def test_a_provider_that_the_settings_describe_is_asked_without_a_key(
    web: Server, ferrule_settings: Callable[[str], object]
) -> None:
    ferrule_settings(f'[ask.providers.local]\nbase_url = "{web.url}/v1"\n')
    web.page("/v1/chat/completions", json.dumps(REPLIES["openai-chat"]["says"]))

    with Client(toolbox=MemoryTools(), model="local/vendor/llama") as client:
        answer = client.ask(None, "How much?")

    (request,) = web.requests
    assert answer.text == "Ninety-five."
    assert json.loads(request.body)["model"] == "vendor/llama"
    assert "authorization" not in request.headers


AZURE_KEY = "an-azure-key-of-the-tests-0123"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("facts", "reply", "target"),
    [
        pytest.param(
            'base_url = "{}/openai/deployments/{{model}}"\napi_version = "2024-10-21"\n',
            "openai-chat",
            "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
            id="dated version",
        ),
        pytest.param('base_url = "{}/openai/v1"\n', "openai-chat", "/openai/v1/chat/completions", id="v1, chat"),
        pytest.param(
            'base_url = "{}/openai/v1/"\napi = "openai"\n', "openai", "/openai/v1/responses", id="v1, responses"
        ),
        pytest.param(
            'base_url = "{}/openai"\napi = "openai"\napi_version = "2025-04-01-preview"\n',
            "openai",
            "/openai/responses?api-version=2025-04-01-preview",
            id="dated version, responses",
        ),
    ],
)
def test_azure_gets_its_key_in_its_header_and_its_version_in_the_query(
    facts: str,
    reply: str,
    target: str,
    stream: bool,
    web: Server,
    ferrule_settings: Callable[[str], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = '[ask.providers.azure]\nkey = "AZURE_OPENAI_API_KEY"\nkey_header = "api-key"\n'
    ferrule_settings(table + facts.format(web.url))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", AZURE_KEY)
    web.page(target, json.dumps(REPLIES[reply]["says"]), "application/json")

    with Client(toolbox=no_tools(), model="azure/my gpt", stream=stream) as client:
        assert client.ask(None, "How much?").text == "Ninety-five."

    (request,) = web.requests
    assert request.target == target
    assert json.loads(request.body)["model"] == "my gpt"
    assert [name for name, value in request.headers.items() if AZURE_KEY in value] == ["api-key"]


def test_an_unknown_deployment_is_an_unknown_model(web: Server, ferrule_settings: Callable[[str], object]) -> None:
    ferrule_settings(f'[ask.providers.azure]\nbase_url = "{web.url}/openai/v1"\n')
    said = {"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}}
    web.page("/openai/v1/chat/completions", json.dumps(said), "application/json", status=404)
    with Client(toolbox=no_tools(), model="azure/gone") as client:
        assert client.ask(None, "How much?").code == "MODEL_NOT_FOUND"


@pytest.mark.parametrize(("api", "path"), [("openai", "/responses"), ("gemini", "/v1beta/models/m:generateContent")])
def test_a_server_that_wants_no_key_gets_no_header_of_one(
    api: str, path: str, web: Server, ferrule_settings: Callable[[str], object]
) -> None:
    ferrule_settings(f'[ask.providers.local]\nbase_url = "{web.url}"\napi = "{api}"\n')
    web.page(path, json.dumps(REPLIES[api]["says"]), "application/json")
    with Client(toolbox=no_tools(), model="local/m") as client:
        assert client.ask(None, "How much?").text == "Ninety-five."
    assert not {"authorization", "x-goog-api-key"} & set(web.requests[0].headers)


@pytest.mark.parametrize(
    ("table", "model", "words"),
    [
        ("", "unheard-of/model", "There is no provider 'unheard-of'"),
        ('[ask.providers.x]\napi = "smoke"\n', "x/model", "no installed provider"),
        ("[ask.providers]\nx = 5\n", "x/model", "a table for each provider"),
        ('[ask.providers.x]\nkey_header = "api key"\n', "x/model", "a header has no blanks"),
        ('[ask.providers.x]\nurl = "http://h"\n', "x/model", "base_url, api, key"),
    ],
)
def test_a_provider_that_is_not_there_is_told(
    table: str, model: str, words: str, ferrule_settings: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    ferrule_settings(table)
    with pytest.raises(ConfigurationMalformed, match=words):
        Reader(AskOverrides(model=model)).settings()


def test_a_gateway_s_model_may_have_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.example")
    settings = Reader(AskOverrides(model="vendor/model")).settings()
    assert (settings.provider.name, settings.model) == ("anthropic", "vendor/model")


def test_a_model_is_named_so_that_the_same_one_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.example")
    for name in ("claude-x", "openai/gpt-x", "anthropic/openai/gpt-x", "gemini/models/x"):
        assert Client(model=name, toolbox=no_tools()).model == name
    assert Client(model="vendor/model", toolbox=no_tools()).model == "anthropic/vendor/model"


def test_a_tool_that_the_provider_would_refuse_is_left_out_and_said(service: Service) -> None:
    tools = MemoryTools()
    bad = {"name": "bad", "description": "Breaks a rule.", "parameters": {"type": "array"}}
    tools.offered = (*tools.offered, ToolOffer("bad", bad))
    warnings: list[str] = []
    answer = service.ask(["says"], toolbox=tools, event=lambda kind, facts: warnings.append(facts.get("message")))

    assert answer.text == "Ninety-five."
    assert "bad" not in json.dumps(service.bodies[0])
    assert any(f"bad is not offered to {service.name}" in str(one) for one in warnings)


def test_every_provider_of_this_distribution_is_there() -> None:
    assert set(registry.list_names({})) >= {"anthropic", "gemini", "ollama", "openai", "openai-chat", "openrouter"}


@pytest.mark.parametrize(
    ("limit", "left", "reset", "told"),
    [
        (60, 59, "1s", [StatedLimit("requests", 60.0, 59.0)]),
        (10_000, 9_999, "8.64s", []),  # of a day
        (10_000, 0, "23h59m", [StatedLimit("requests", 10_000.0, 0.0)]),
        (3, 1, "40s", [StatedLimit("requests", 3.0, 1.0)]),
        (3, 1, "", [StatedLimit("requests", 3.0, 1.0)]),
    ],
)
def test_limits_of_a_day_are_none_of_a_minute(limit: int, left: int, reset: str, told: list[StatedLimit]) -> None:
    named = {"limit": str(limit), "remaining": str(left), "reset": reset}
    assert list(read_limits({f"x-ratelimit-{name}-requests": value for name, value in named.items()})) == told
