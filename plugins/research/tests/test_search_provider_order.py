"""Who is asked, who is asked next, and what is said where nobody answers."""

import json
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Exchange, refused_port
from ferrule_testkit.programs.redis_server import RedisServer
from ferrule_testkit.search.server import (
    BRAVE_KEY,
    Brave,
    Google,
    Rate,
    brave_error,
    brave_rate_limited,
    google_quota,
    some_hits,
)
from ferrule_testkit.web.research_web import Web, answers, events, fails, research_web

pytestmark = pytest.mark.process


GOOGLE_FIRST = {"FERRULE_SEARCH_ROUTING": "google,brave"}
NO_BRAVE = {"BRAVE_API_KEY": ""}
NO_KEYS = {"BRAVE_API_KEY": "", "GOOGLE_SEARCH_API_KEY": "", "GOOGLE_SEARCH_ENGINE_ID": ""}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with research_web(tmp_path) as web:
        yield web


def routing(document: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = document["_meta"]["routing"]
    return told


# ---- order


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "first"),
    [
        ({}, "brave"),
        ({"SEARCH_ROUTING": "google,brave"}, "google"),
        ({"SEARCH_ROUTING": '["google", "brave"]'}, "google"),
        ({"SEARCH_ROUTING": '{"web": ["google"], "news": ["brave"]}'}, "google"),
        ({"SEARCH_ROUTING": '{"news": ["google"]}'}, "google"),
        ({"SEARCH_ROUTING": " google  brave "}, "google"),
        ({"SEARCH_ROUTING": "google", "FERRULE_SEARCH_ROUTING": "brave"}, "brave"),
        ({"SEARCH_ROUTING": "google", "FERRULE_SEARCH_ROUTING": " "}, "google"),
        ({"FERRULE_SEARCH_ROUTING": "Google,GOOGLE,brave"}, "google"),
        ({"FERRULE_SEARCH_ROUTING": "bing,google"}, "google"),
        (NO_BRAVE, "google"),
        ({"FERRULE_DISABLE": "web_search_brave"}, "google"),
    ],
)
def test_the_first_provider_that_is_configured_is_asked_and_no_other(
    web: Web, environment: dict[str, str], first: str
) -> None:
    told = routing(web.found(environment=environment))
    assert told == {
        "provider_used": first,
        "providers_attempted": [first],
        "requests": {first: 1},
        "fallback": False,
    }
    assert len(web.asked_brave) + len(web.asked_google) == 1


@pytest.mark.slow
def test_the_order_may_stand_in_the_configuration(web: Web) -> None:
    web.configure('[tools.web_search]\nrouting = ["google", "brave"]')
    assert routing(web.found())["provider_used"] == "google"
    assert routing(web.found(environment={"SEARCH_ROUTING": "brave"}))["provider_used"] == "brave"


@pytest.mark.parametrize("order", ['{"a": [', '{"web": 5}', '["brave", 5]', "bing,yahoo", "[]", "{}", ","])
def test_an_order_that_cannot_be_meant_is_an_error_of_the_kind_config(web: Web, order: str) -> None:
    document = web.search(environment={"FERRULE_SEARCH_ROUTING": order}).document
    assert (document["kind"], document["retryable"]) == ("config", False)
    assert web.asked_brave == web.asked_google == []


def test_a_name_in_the_order_that_is_not_installed_is_told(web: Web) -> None:
    done = web.search(environment={"FERRULE_SEARCH_ROUTING": "bing,google"})
    assert any("bing" in one["content"] for one in events(done))


def test_a_forced_provider_is_asked_alone_whatever_the_order_says(web: Web) -> None:
    web.google.route("*", fails)
    done = web.search(provider="Google", environment={"FERRULE_SEARCH_ROUTING": "brave"})
    assert done.document["kind"] == "upstream_unavailable"
    assert done.document["alternatives"] == ["brave"]
    assert web.asked_brave == []


def test_an_unknown_provider_is_an_error_that_lists_each_one_once(web: Web) -> None:
    document = web.search(provider="bing").document
    known = document["alternatives"]
    assert known == sorted(set(known))
    assert {"brave", "google"} <= set(known)
    assert document["error"] == f"Unknown search provider 'bing'. Supported providers: {', '.join(known)}."
    assert document["kind"] == "validation"


# ---- fallback

DOWN = {
    "503": fails,
    "no-json": lambda exchange: exchange.answer(b"<h1>Sign in</h1>"),
    "closed": lambda exchange: setattr(exchange, "close_connection", True),
    "silence": lambda exchange: exchange.hang(),
    "drip": lambda exchange: exchange.drip(b"HTTP/1.1 200 OK\r\nX: "),
    "rate": answers(brave_rate_limited(used=2000), status=429),
    "key": answers(brave_error(422, "SUBSCRIPTION_TOKEN_INVALID", "no"), status=422),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", DOWN)
def test_where_the_first_provider_fails_the_next_one_answers(web: Web, fault: str) -> None:
    web.brave.route("*", DOWN[fault])
    done = web.search(environment={"FERRULE_DEADLINE": "6"})
    assert done.document["resultCount"] == 5
    told = routing(done.document)
    assert (told["provider_used"], told["providers_attempted"], told["fallback"]) == (
        "google",
        ["brave", "google"],
        True,
    )
    assert told["fallback_reason"].startswith("brave: ")
    assert told["requests"] == {"brave": len(web.asked_brave), "google": 1}
    assert [one["provider"] for one in events(done) if one["event"] == "provider_failed"] == ["brave"]


@pytest.mark.slow
def test_a_provider_that_never_answers_leaves_time_for_a_slow_one(web: Web) -> None:
    def slow(exchange: Exchange) -> None:
        time.sleep(1.5)
        Google(some_hits(5))(exchange)

    web.brave.route("*", lambda exchange: exchange.hang())
    web.google.route("*", slow)
    assert routing(web.found(environment={"FERRULE_DEADLINE": "10"}))["providers_attempted"] == ["brave", "google"]


def test_a_provider_that_is_not_there_is_passed_over(web: Web) -> None:
    nowhere = {"FERRULE_BRAVE_ENDPOINT": f"http://127.0.0.1:{refused_port()}/"}
    assert routing(web.found(environment=nowhere))["fallback_reason"] == "brave: network"


def test_a_provider_whose_turn_is_too_far_away_leaves_time_for_the_next(web: Web) -> None:
    web.brave.route("*", Brave(some_hits(5), rate=Rate(1, 40.0)))
    assert routing(web.found())["provider_used"] == "brave"
    told = routing(web.found())
    assert (told["provider_used"], told["fallback_reason"]) == ("google", "brave: rate_limited")


# ---- circuit breaker


@pytest.mark.slow
def test_three_failures_open_the_breaker_for_all_processes(web: Web) -> None:
    web.brave.route("*", fails)
    for _ in range(3):
        assert routing(web.found())["providers_attempted"] == ["brave", "google"]
    told = routing(web.found())
    assert told["providers_attempted"] == ["google"]
    assert told["fallback_reason"] == "brave: its circuit breaker is open"
    assert len(web.asked_brave) == 3


def test_a_provider_that_is_switched_off_is_left_out_in_silence_and_told_where_it_is_asked_for(web: Web) -> None:
    off = {"FERRULE_DISABLE": "web_search_brave"}
    assert events(web.search(environment=off)) == []
    refused = web.search(provider="brave", environment=off).document
    assert refused["kind"] == "config"
    assert "FERRULE_DISABLE" in refused["error"]


@pytest.mark.slow
def test_a_call_without_time_is_no_failure_of_a_provider(web: Web) -> None:
    for server in (web.brave, web.google):
        server.route("*", lambda exchange: exchange.hang())
    for _ in range(4):
        assert web.search(environment={"FERRULE_DEADLINE": "1"}).exit_code == 1
    for server, provider in ((web.brave, "brave"), (web.google, "google")):
        server.route("*", fails)
        assert web.search(provider=provider).document["providersAttempted"] == [provider]


@pytest.mark.slow
def test_a_query_that_is_refused_before_it_is_asked_changes_no_breaker(web: Web) -> None:
    web.brave.route("*", fails)
    for query in ("some words", "q" * 450, "some words", "q" * 450, "some words", "q" * 450):
        web.found(query)
    assert routing(web.found())["providers_attempted"] == ["google"]


@pytest.mark.slow
def test_an_answer_closes_the_count_of_failures(web: Web) -> None:
    for _ in range(2):
        web.brave.route("*", fails)
        web.found()
        web.found()
        web.brave.route("*", Brave(some_hits(5)))
        assert routing(web.found())["provider_used"] == "brave"


def test_a_rate_limit_opens_it_at_once_for_as_long_as_the_provider_says(web: Web) -> None:
    web.google.route("*", answers(google_quota("per day"), status=429))
    first = web.search(provider="google").document
    assert (first["kind"], first["retryable"]) == ("rate_limited", True)
    assert 0 < first["retryAfterSeconds"] <= 86_400 + 3600
    second = web.search(provider="google").document
    assert len(web.asked_google) == 1
    assert (second["kind"], second["error_code"], second["retryable"]) == ("rate_limited", "RATE_LIMIT", True)
    assert second["suggestedAction"] == "try_different_provider"
    assert re.match(r"The search quota of Google Custom Search is used up\. It resets in \d+ \w+", second["error"])
    assert abs(second["retryAfterSeconds"] - first["retryAfterSeconds"]) < 120


@pytest.mark.slow
def test_a_spent_month_keeps_its_kind_and_its_reset_behind_the_breaker(web: Web) -> None:
    month = {"X-RateLimit-Policy": "1;w=1, 15000;w=2592000", "X-RateLimit-Remaining": "1, 0"}
    refusal = answers({}, status=429, headers={**month, "X-RateLimit-Reset": "1, 1419704"})
    web.brave.route("*", refusal)
    alone = {"GOOGLE_SEARCH_API_KEY": ""}
    texts = [web.search(environment=alone).document for _ in range(2)]
    assert len(web.asked_brave) == 1
    assert [one["kind"] for one in texts] == ["rate_limited"] * 2
    assert all("in 16 days" in one["error"] for one in texts)
    told = routing(web.found())
    assert told["fallback_reason"] == "brave: quota used up"
    assert told["requests"] == {"google": 1}


def test_a_rate_limit_with_a_single_provider_suggests_a_wait(web: Web) -> None:
    web.brave.route("*", answers({}, status=429))
    alone = {"GOOGLE_SEARCH_API_KEY": ""}
    first, second = (web.search(environment=alone).document for _ in range(2))
    assert (first["suggestedAction"], first["retryAfterSeconds"]) == ("retry_after_delay", 30)
    assert first["error"] == "Rate limit exceeded. Wait 30 seconds, then ask again."
    assert (second["kind"], second["suggestedAction"]) == ("rate_limited", "retry_after_delay")
    assert 0 < second["retryAfterSeconds"] <= 30
    assert second["error"].startswith("Brave Search takes no more requests for now. Ask again in ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting", [{"BRAVE_API_KEY": "another-key"}, {"FERRULE_BRAVE_ENDPOINT": "http://127.0.0.1:9/x"}]
)
def test_another_key_or_another_place_is_another_provider(web: Web, setting: dict[str, str]) -> None:
    web.brave.route("*", answers(brave_rate_limited(used=2000), status=429))
    web.found()
    assert routing(web.found())["providers_attempted"] == ["google"]
    assert routing(web.found(environment=setting))["providers_attempted"] == ["brave", "google"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "refusal",
    [
        (422, brave_error(422, "SUBSCRIPTION_TOKEN_INVALID", "no")),
        (422, brave_error(422, "VALIDATION", "Unable to validate request parameter(s)")),
    ],
)
def test_a_wrong_key_and_a_wrong_request_are_no_outage(web: Web, refusal: tuple[int, dict[str, Any]]) -> None:
    status, document = refusal
    web.brave.route("*", answers(document, status=status))
    for _ in range(4):
        assert routing(web.found())["providers_attempted"] == ["brave", "google"]


@pytest.mark.slow
def test_a_breaker_that_cannot_be_read_or_written_counts_as_closed(web: Web, tmp_path: Path) -> None:
    web.brave.route("*", fails)
    for _ in range(3):
        web.found()
    for path in (tmp_path / "state" / "breakers").iterdir():
        path.write_bytes(b"\xff{" * 200)
    assert routing(web.found())["providers_attempted"] == ["brave", "google"]
    state = {"FERRULE_STATE": "/proc/nowhere"}
    for _ in range(4):
        assert routing(web.found(environment=state))["providers_attempted"] == ["brave", "google"]


@pytest.mark.slow
def test_parallel_calls_share_the_breaker(web: Web) -> None:
    web.brave.route("*", fails)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: web.search(), range(4)))
    before = len(web.asked_brave)
    assert routing(web.found())["providers_attempted"] == ["google"]
    assert len(web.asked_brave) == before


# ---- errors


@pytest.mark.slow
def test_without_any_key_the_model_is_told_what_to_set(web: Web) -> None:
    done = web.search(environment=NO_KEYS)
    document = done.document
    assert (document["success"], document["error_code"]) == (False, "AUTH_MISSING")
    assert (document["kind"], document["suggestedAction"]) == ("config", "check_api_key")
    assert "web_search.brave.api_key" in document["error"]
    assert "web_search.google.api_key" in document["error"]
    assert "free" not in document["error"]
    assert json.loads(done.stderr)["kind"] == "config_required"


def test_a_forced_provider_without_a_key_says_so_in_its_own_words(web: Web) -> None:
    document = web.search(provider="brave", environment=NO_BRAVE).document
    assert document["error"].startswith("Web search requires API key configuration.")
    assert document["kind"] == "config"


@pytest.mark.parametrize(
    ("fault", "kind", "code", "retryable", "action"),
    [
        ("503", "upstream_unavailable", "API_ERROR", True, "retry_after_delay"),
        ("no-json", "upstream_unavailable", "API_ERROR", True, "retry_after_delay"),
        ("closed", "network", "NETWORK_ERROR", True, "retry_after_delay"),
        ("rate", "rate_limited", "RATE_LIMIT", True, "retry_after_delay"),
        ("key", "auth_required", "AUTH_INVALID", False, "check_api_key"),
    ],
)
def test_an_error_has_its_kind(web: Web, fault: str, kind: str, code: str, retryable: bool, action: str) -> None:
    web.brave.route("*", DOWN[fault])
    document = web.search(environment={"GOOGLE_SEARCH_API_KEY": ""}).document
    assert document["success"] is False
    assert [document[name] for name in ("kind", "error_code", "retryable", "suggestedAction")] == [
        kind,
        code,
        retryable,
        action,
    ]
    assert document["providersAttempted"] == ["brave"]
    assert document["requests"] == {"brave": len(web.asked_brave)}
    assert "alternatives" not in document


def test_a_kind_is_told_by_the_code_and_not_by_words_in_the_text(web: Web) -> None:
    web.brave.route("*", answers(brave_error(500, "INTERNAL", "429 quota 401 unauthorized rate limit"), status=500))
    document = web.search(environment={"GOOGLE_SEARCH_API_KEY": ""}).document
    assert (document["kind"], document["error_code"]) == ("upstream_unavailable", "API_ERROR")


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [(429, {"Retry-After": "77"}, 77), (503, {"Retry-After": "17"}, 17), (503, {}, None), (429, {}, 30)],
)
def test_the_time_to_wait_is_the_one_that_the_server_said_or_for_which_the_breaker_is_open(
    web: Web, status: int, headers: dict[str, str], seconds: int | None
) -> None:
    web.brave.route("*", answers({"error": {"detail": "no"}}, status=status, headers=headers))
    document = web.search(environment={"GOOGLE_SEARCH_API_KEY": ""}).document
    assert document.get("retryAfterSeconds") == seconds


@pytest.mark.slow
def test_where_all_fail_each_is_told_and_the_shortest_wait_counts(web: Web) -> None:
    web.brave.route("*", answers({"error": {"detail": "no"}}, status=429, headers={"Retry-After": "500"}))
    web.google.route("*", answers({"error": {"message": "no"}}, status=503, headers={"Retry-After": "70"}))
    document = web.search().document
    assert document["kind"] == "rate_limited"
    assert document["retryAfterSeconds"] == 70
    assert document["providersAttempted"] == ["brave", "google"]
    assert "brave: " in document["error"]
    assert "google: " in document["error"]


@pytest.mark.slow
def test_alternatives_are_those_that_are_configured_and_healthy(web: Web) -> None:
    web.brave.route("*", answers(brave_rate_limited(used=2000), status=429))
    document = web.search(provider="brave").document
    assert (document["alternatives"], document["suggestedAction"]) == (["google"], "try_different_provider")
    web.google.route("*", answers(google_quota("per day"), status=429))
    web.search(provider="google")
    assert "alternatives" not in web.search(provider="brave").document


def test_a_failure_of_the_host_has_a_kind_too(web: Web) -> None:
    document = web.search(num_results="many").document
    assert (document["error_code"], document["kind"]) == ("INVALID_INPUT", "validation")


@pytest.mark.slow
def test_all_providers_together_end_within_the_deadline(web: Web) -> None:
    for server in (web.brave, web.google):
        server.route("*", lambda exchange: exchange.hang())
    document = web.search(environment={"FERRULE_DEADLINE": "4"}).document
    assert (document["kind"], document["providersAttempted"]) == ("network", ["brave", "google"])
    assert document["error_code"] != "INTERNAL_ERROR"


@pytest.mark.slow
def test_one_call_tries_a_provider_that_was_down_and_the_others_do_not_wait(web: Web, tmp_path: Path) -> None:
    web.brave.route("*", fails)
    for _ in range(3):
        web.found()
    make_it_due(tmp_path / "state" / "breakers")
    entered, leave = threading.Event(), threading.Event()

    def slow(exchange: Exchange) -> None:
        entered.set()
        leave.wait(30)
        Brave(some_hits(5))(exchange)

    web.brave.route("*", slow)
    with ThreadPoolExecutor(1) as pool:
        trial = pool.submit(web.search)
        assert entered.wait(30)
        assert routing(web.found())["providers_attempted"] == ["google"]
        leave.set()
        assert routing(trial.result().document)["provider_used"] == "brave"
    assert routing(web.found())["provider_used"] == "brave"


def make_it_due(folder: Path) -> None:
    """Let the time pass for which a breaker is open."""
    for path in folder.iterdir():
        if path.name.startswith("identities-"):
            continue
        failures, until, trial, written, cause = json.loads(path.read_bytes() or b"[0, 0, 0, 0, 0]")
        if until:
            path.write_bytes(json.dumps([failures, until - 60, trial, written - 60, cause]).encode().ljust(256))


@pytest.mark.slow
def test_two_machines_share_the_breaker_through_redis(web: Web, tmp_path: Path) -> None:
    web.brave.route("*", fails)
    with RedisServer(tmp_path) as redis:
        machines = [{"FERRULE_REDIS": redis.url, "FERRULE_STATE": str(tmp_path / name)} for name in ("one", "two")]
        for machine in (machines[0], machines[1], machines[0]):
            assert routing(web.found(environment=machine))["providers_attempted"] == ["brave", "google"]
        assert routing(web.found(environment=machines[1]))["providers_attempted"] == ["google"]
        breaker, identities = sorted(redis.names())
        assert identities.startswith("ferrule:breaker:identities:")
        assert BRAVE_KEY not in breaker + identities


@pytest.mark.slow
def test_a_redis_that_is_not_there_costs_no_search_and_is_told(web: Web) -> None:
    web.brave.route("*", fails)
    nowhere = {"FERRULE_REDIS": f"redis://:secret-word@127.0.0.1:{refused_port()}/0"}
    for _ in range(3):
        done = web.search(environment=nowhere)
        assert routing(done.document)["provider_used"] == "google"
        assert "state_unavailable" in [one["event"] for one in events(done)]
        assert b"secret-word" not in done.stdout + done.stderr
    assert routing(web.found(environment=nowhere))["providers_attempted"] == ["google"]


@pytest.mark.slow
def test_calls_that_differ_in_what_is_not_the_providers_share_its_breaker(web: Web) -> None:
    web.brave.route("*", fails)
    others = ({"LANG": "de_DE.UTF-8"}, {"TZ": "UTC"}, {"FERRULE_SEARCH_ROUTING": "brave"}, {"FERRULE_LENSES": "/"})
    for changed in ({}, {}, {}, *others):
        web.search(provider="brave", environment=changed)
        assert len(web.asked_brave) <= 3, changed
    assert len(web.asked_brave) == 3
