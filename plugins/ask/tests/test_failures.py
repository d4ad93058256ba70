"""What servers and networks do instead of answering: a code and a sentence, in time."""

import gzip
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ferrule_ask import Answer, Client
from ferrule_dev.testing import refused_port
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import (
    MODEL_KEY,
    ModelServer,
    Reply,
    dripping,
    failure,
    page,
    reset,
    says,
    silent,
    zipped,
)

Make = Callable[..., Client]
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
SHORT = (0.4, 0.4, 0.4)
LONGEST = 10  # seconds that nothing here may take


def asked(client: Make, **settings: Any) -> Answer:
    started = time.monotonic()
    answer = client(**{"toolbox": no_tools(), **settings}).ask(None, "How much?")
    assert time.monotonic() - started < LONGEST
    assert MODEL_KEY not in str(answer)
    return answer


TOO_LARGE = page("")  # stands for one that no worker of pytest has to keep
REFUSALS = [
    (failure(400), "INVALID_REQUEST", "HTTP 400 (invalid_request_error): It failed. Ask with another model"),
    (failure(400, "prompt is too long: 9 tokens > 8 maximum"), "CONTEXT_WINDOW", "Shorten"),
    (failure(400, "Your credit balance is too low."), "BILLING", "credit"),
    (failure(400, "You have reached your specified API usage limits."), "BILLING", "limits"),
    (failure(401, "invalid x-api-key"), "AUTH_INVALID", "ANTHROPIC_API_KEY"),
    (failure(402), "BILLING", "credit"),
    (failure(403), "FORBIDDEN", "allowed"),
    (failure(404, "model: claude-x"), "MODEL_NOT_FOUND", "another model"),
    (failure(404, "Not found"), "API_ERROR", "ANTHROPIC_BASE_URL"),
    (page("<h1>Not found</h1>", 404), "API_ERROR", "ANTHROPIC_BASE_URL"),
    (failure(409, should_retry=False), "API_ERROR", "It failed. Ask again later."),
    (page("", 204), "API_ERROR", "HTTP 204. Look at ANTHROPIC_BASE_URL"),
    (failure(413), "REQUEST_TOO_LARGE", "Shorten"),
    (failure(418, "tea"), "API_ERROR", "tea"),
    (failure(429, retry_after=100), "RATE_LIMIT", "in 100 seconds"),
    (failure(429, retry_after_ms=99_500), "RATE_LIMIT", "in 100 seconds"),
    (failure(429, retry_after="Fri, 31 Dec 2099 23:59:59 GMT"), "RATE_LIMIT", "It failed. Ask again later"),
    (failure(429, retry_after=0, should_retry=False), "RATE_LIMIT", "It failed. Ask again later"),
    (failure(429, "You have reached your spend limit."), "BILLING", "spend limit"),
    (failure(500, should_retry=False), "API_ERROR", "later"),
    (failure(503, should_retry=False), "OVERLOADED", "later"),
    (failure(504, should_retry=False), "TIMEOUT", "again"),
    (failure(529, should_retry=False), "OVERLOADED", "later"),
    (page("<h1>Bad gateway</h1>"), "API_ERROR", "not JSON"),
    (page("[1]", content_type="application/json"), "API_ERROR", "no object"),
    (page(b"\xff\xfe"), "API_ERROR", "UTF-8"),
    (page('{"error": {"message": "Out of\\u001b[31m order"}}'), "API_ERROR", "(Out of [31m order)"),
    (TOO_LARGE, "API_ERROR", "8 MiB"),
    (zipped(page(b"0" * 20_000_000)), "API_ERROR", "8 MiB"),
    (replace(says("x"), headers={"Content-Encoding": "gzip"}), "API_ERROR", "compressed"),
    (replace(says("x"), headers={"Content-Encoding": "br"}), "API_ERROR", "not asked for"),
]


@pytest.mark.parametrize(("reply", "code", "words"), REFUSALS)
def test_what_is_no_answer_is_explained_and_asked_once(
    reply: Reply,
    code: str,
    words: str,
    client: Make,
    model_server: ModelServer,
) -> None:
    model_server.always(page(b"a" * (8 << 20) + b"a") if reply is TOO_LARGE else reply)
    answer = asked(client)
    assert (answer.code, answer.text) == (code, None)
    assert words in str(answer.error)
    assert len(model_server.requests) == 1


def test_a_redirect_is_told_and_not_followed(client: Make, model_server: ModelServer) -> None:
    elsewhere = {"Location": "http://elsewhere.example/v1/messages?key=1"}
    model_server.always(replace(page("", 307), headers=elsewhere))
    answer = asked(client)
    assert answer.code == "API_ERROR"
    assert "redirects to elsewhere.example," in str(answer.error)
    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        silent("start"),
        silent("head"),
        silent("body"),
        dripping(says("slowly"), 0.1),
        dripping(failure(500), 0.1),
        dripping(says("at once"), 0.0005),
    ],
)
def test_a_step_ends_in_time_whatever_comes(reply: Reply, client: Make, model_server: ModelServer) -> None:
    model_server.always(reply)
    answer = asked(client, budgets=SHORT)
    assert answer.code == "TIMEOUT"
    assert "within 0.4 seconds" in str(answer.error)
    assert answer.ms >= 400
    assert len(model_server.requests) == 1


def test_a_compressed_answer_is_read(client: Make, model_server: ModelServer) -> None:
    document = says("Fine.").body
    two = Reply(gzip.compress(document[:50]) + gzip.compress(document[50:]), headers={"Content-Encoding": "gzip"})
    model_server.script(zipped(says("Fine.")), two)
    one = client(toolbox=no_tools())
    assert [one.ask(None, "?").text for _ in range(2)] == ["Fine.", "Fine."]


@pytest.mark.parametrize(
    "first",
    [
        failure(429, retry_after=0.05),
        failure(429, retry_after_ms=50),
        failure(429),
        failure(408, retry_after_ms=50),
        failure(409, retry_after_ms=50),
        failure(500, retry_after_ms=50),
        failure(529, retry_after_ms=50),
        failure(400, retry_after_ms=50, should_retry=True),
        reset(),
        reset(where="body"),
    ],
)
def test_what_may_pass_is_asked_again(first: Reply, client: Make, model_server: ModelServer) -> None:
    model_server.script(first, says("Fine."))
    events: list[tuple[str, Mapping[str, Any]]] = []
    one = client(toolbox=no_tools(), event=lambda *event: events.append(event))
    assert one.ask(None, "?").text == "Fine."
    assert [kind for kind, _ in events] == ["retry"]
    assert one.usage.requests == 2


def test_it_is_asked_three_times_and_no_more(client: Make, model_server: ModelServer) -> None:
    model_server.always(failure(529, retry_after_ms=10))
    assert asked(client).code == "OVERLOADED"
    assert len(model_server.requests) == 3


def test_it_waits_as_long_as_the_server_says(client: Make, model_server: ModelServer) -> None:
    model_server.script(failure(429, retry_after=1), says("Fine."))
    assert asked(client).text == "Fine."
    assert model_server.requests[1].arrived - model_server.requests[0].arrived >= 1


def test_a_wait_that_does_not_fit_is_not_begun(client: Make, model_server: ModelServer) -> None:
    model_server.always(failure(429, retry_after=1))
    answer = asked(client, budgets=(0.9, 1, 1))
    assert answer.code == "RATE_LIMIT"
    assert "Ask again in 1 seconds." in str(answer.error)
    assert len(model_server.requests) == 1


def test_the_time_of_a_step_goes_on_while_it_waits(client: Make, model_server: ModelServer) -> None:
    model_server.script(failure(429, retry_after_ms=300), silent())
    answer = asked(client, budgets=(0.6, 1, 1))
    assert answer.code == "TIMEOUT"
    assert "Before that: The model's server answered HTTP 429" in str(answer.error)
    assert answer.request_id


@pytest.mark.parametrize(
    ("base_url", "code", "words"),
    [
        ("http://no-such-host.invalid", "NETWORK_ERROR", "Could not resolve host no-such-host.invalid"),
        ("ftp://127.0.0.1/", "INVALID_REQUEST", "no URL of http"),
        ("nonsense", "INVALID_REQUEST", "no URL of http"),
        ("http://[::1", "INVALID_REQUEST", "no URL of http"),
        ("http://127.0.0.1:99999", "INVALID_REQUEST", "no URL of http"),
    ],
)
def test_where_nobody_answers_it_says_so(base_url: str, code: str, words: str, client: Make) -> None:
    answer = asked(client, base_url=base_url, budgets=(0.7, 1, 1))
    assert answer.code == code
    assert words in str(answer.error)


@pytest.mark.slow
def test_a_port_on_which_nobody_listens_is_told(client: Make) -> None:
    answer = asked(client, base_url=f"http://127.0.0.1:{refused_port()}", budgets=(1.5, 1, 1))
    assert answer.code == "NETWORK_ERROR"
    assert "Connection refused" in str(answer.error)


def test_a_server_without_tls_is_told(client: Make, model_server: ModelServer) -> None:
    answer = asked(client, base_url=model_server.url.replace("http:", "https:"), budgets=(0.7, 1, 1))
    assert (answer.code, str(answer.error)[:10]) == ("NETWORK_ERROR", "TLS failed")


def test_a_proxy_that_is_none_is_told_without_its_password(
    client: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "weird://user:hidden@127.0.0.1:1")
    answer = asked(client)
    assert answer.code == "NETWORK_ERROR"
    assert "hidden" not in str(answer)


@pytest.mark.parametrize("echo", ["your key is {}", "{}", 'key="{}"', "a" * 280 + "{}"])
def test_a_key_that_a_server_repeats_is_not_shown(echo: str, client: Make, model_server: ModelServer) -> None:
    model_server.always(failure(401, echo.format(MODEL_KEY), kind=MODEL_KEY))
    answer = asked(client)
    assert answer.code == "AUTH_INVALID"
    assert MODEL_KEY[:12] not in str(answer)
