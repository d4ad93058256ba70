"""How Brave refuses, and what the model is told."""

from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.search.provider_contract import Answer, Error, Search
from ferrule_testkit.search.server import Brave, Rate, brave_error, brave_rate_limited, some_hits

pytestmark = pytest.mark.process


QUOTA_SPENT = "Rate limit exceeded. You've used your free search quota (2,000/month)."
QUOTA_SPENT_OF_PLAN = "Rate limit exceeded. You've used your search quota (15,000/month)."
MONTH = {
    "X-RateLimit-Limit": "1, 15000",
    "X-RateLimit-Policy": "1;w=1, 15000;w=2592000",
    "X-RateLimit-Remaining": "1, 0",
    "X-RateLimit-Reset": "1, 1419704",
}

INVALID_TOKEN = brave_error(
    422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.", component="authentication"
)
MISSING_TOKEN = brave_error(
    422,
    "VALIDATION",
    "Unable to validate request parameter(s)",
    errors=[{"type": "missing", "loc": ["header", "x-subscription-token"], "msg": "Field required", "input": None}],
)
WRONG_PARAMETER = brave_error(
    422,
    "VALIDATION",
    "Unable to validate request parameter(s)",
    errors=[
        {"type": "less_than_equal", "loc": ["query", "offset"], "msg": "Input should be less than 10", "input": "10"}
    ],
)
NOT_IN_PLAN = brave_error(
    400, "OPTION_NOT_IN_PLAN", "The option is not subscribed in the plan.", component="authentication"
)
NOT_ALLOWED = brave_error(403, None, "The resource is not allowed for the plan.")
UNKNOWN_VERSION = brave_error(404, "API_VERSION_NOT_FOUND", "The API version was not found.")


@pytest.mark.parametrize(
    ("status", "document", "code", "message"),
    [
        pytest.param(
            422,
            INVALID_TOKEN,
            "AUTH_INVALID",
            "Brave Search refused the credentials: "
            "The provided subscription token is invalid (SUBSCRIPTION_TOKEN_INVALID).",
            id="invalid-token",
        ),
        pytest.param(
            422,
            MISSING_TOKEN,
            "AUTH_INVALID",
            "Brave Search refused the credentials: Unable to validate request parameter(s) "
            "header.x-subscription-token: Field required (VALIDATION).",
            id="missing-token",
        ),
        pytest.param(
            422,
            WRONG_PARAMETER,
            "API_ERROR",
            "Brave Search answered with HTTP 422: Unable to validate request parameter(s) "
            "query.offset: Input should be less than 10 (VALIDATION).",
            id="wrong-parameter",
        ),
        pytest.param(
            400,
            NOT_IN_PLAN,
            "API_ERROR",
            "Brave Search answered with HTTP 400: The option is not subscribed in the plan (OPTION_NOT_IN_PLAN).",
            id="not-in-plan",
        ),
        pytest.param(
            403,
            NOT_ALLOWED,
            "AUTH_INVALID",
            "Brave Search refused the credentials: The resource is not allowed for the plan.",
            id="not-allowed",
        ),
        pytest.param(
            404,
            UNKNOWN_VERSION,
            "API_ERROR",
            "Brave Search answered with HTTP 404: The API version was not found (API_VERSION_NOT_FOUND).",
            id="unknown-version",
        ),
        pytest.param(401, {}, "AUTH_INVALID", "Brave Search refused the credentials: Unauthorized.", id="unauthorized"),
        pytest.param(
            500, {}, "API_ERROR", "Brave Search answered with HTTP 500: Internal Server Error.", id="server-error"
        ),
        pytest.param(
            503, b"<h1>down", "API_ERROR", "Brave Search answered with HTTP 503: Service Unavailable.", id="html"
        ),
        pytest.param(599, b"", "API_ERROR", "Brave Search answered with HTTP 599: no reason is given.", id="no-words"),
        pytest.param(429, {}, "RATE_LIMIT", "Rate limit exceeded.", id="limited-without-a-word"),
        pytest.param(
            200,
            INVALID_TOKEN,
            "AUTH_INVALID",
            "Brave Search refused the credentials: "
            "The provided subscription token is invalid (SUBSCRIPTION_TOKEN_INVALID).",
            id="a-refusal-with-status-200",
        ),
    ],
)
def test_every_refusal_has_its_code_and_braves_own_reason(
    answer: Answer, error: Error, status: int, document: Any, code: str, message: str
) -> None:
    answer(document, status)
    failure = error()
    assert (failure.code, failure.message, failure.retry_after) == (code, message, None)


@pytest.mark.parametrize(
    ("document", "headers", "retry_after", "words"),
    [
        pytest.param(brave_rate_limited(used=2000), MONTH, 1419704, "It resets in 16 days 10 hours.", id="both"),
        pytest.param(brave_rate_limited(used=2000), {}, None, "2,000 of 2,000 used", id="body-alone"),
        pytest.param({}, MONTH, 1419704, "(15,000/month). It resets in 16 days 10 hours.", id="headers-alone"),
        pytest.param({}, {**MONTH, "X-RateLimit-Remaining": "0, 0"}, 1419704, "(15,000/month).", id="both-windows"),
        pytest.param(
            {}, {"X-RateLimit-Remaining": "1, 0", "X-RateLimit-Reset": "1, 7200"}, 7200, "2 hours", id="no-policy"
        ),
        pytest.param(
            brave_rate_limited(used=2000), {"Retry-After": "90000"}, 90000, "in 1 day 1 hour", id="retry-after"
        ),
    ],
)
def test_a_spent_month_is_told_at_once_with_when_it_resets(
    server: Server,
    answer: Answer,
    error: Error,
    document: Any,
    headers: dict[str, str],
    retry_after: float | None,
    words: str,
) -> None:
    answer(document, 429, headers)
    failure = error()
    assert failure.code == "RATE_LIMIT"
    text = QUOTA_SPENT if document or "X-RateLimit-Policy" not in headers else QUOTA_SPENT_OF_PLAN
    assert failure.message.startswith(text)
    assert words in failure.message
    assert failure.retry_after == retry_after
    assert len(server.requests) == 1


def test_a_limit_without_a_word_claims_no_quota_and_suggests_a_wait(answer: Answer, error: Error) -> None:
    answer({}, 429)
    failure = error()
    assert "quota" not in failure.message
    assert failure.hint == "It is not told for how long. Wait a minute, then ask again."
    answer(brave_rate_limited(used=2000), 429)
    assert error().hint is None


def test_a_spent_month_is_told_by_its_name_alone(answer: Answer, error: Error) -> None:
    answer(brave_error(429, "QUOTA_LIMITED", "Monthly quota exceeded"), 429)
    failure = error()
    assert failure.code == "RATE_LIMIT"
    assert failure.message.startswith(QUOTA_SPENT)
    assert "Monthly quota exceeded" in failure.message
    assert failure.hint is None


def test_a_spent_month_keeps_no_other_call_waiting(server: Server, answer: Answer, error: Error) -> None:
    answer(brave_rate_limited(used=2000), 429, MONTH)
    assert [error().code, error().code] == ["RATE_LIMIT", "RATE_LIMIT"]
    assert len(server.requests) == 2


def test_what_cannot_be_waited_out_is_told_at_once(server: Server, answer: Answer, error: Error) -> None:
    answer(brave_rate_limited(), 429, {**MONTH, "X-RateLimit-Remaining": "0, 14985", "X-RateLimit-Reset": "50, 99999"})
    failure = error(seconds=20)
    assert failure.code == "RATE_LIMIT"
    assert failure.message == (
        "Rate limit exceeded. Brave Search says: Request rate limit exceeded for plan "
        "(Free plan: 1 a second, 15 of 2,000 used) (RATE_LIMITED). Ask again in 50 seconds."
    )
    assert failure.retry_after == 50
    assert len(server.requests) == 1


def test_a_pace_beyond_all_measure_is_a_limit_like_any_other(answer: Answer, error: Error) -> None:
    answer(brave_rate_limited(rate=10**400), 429)
    failure = error(seconds=2)
    assert failure.code == "RATE_LIMIT"
    assert failure.retry_after in (1, 2)


@pytest.mark.slow
def test_a_learnt_pace_is_kept_by_the_next_call(server: Server, search: Search) -> None:
    rate = Rate(1)
    server.route("*", Brave(some_hits(3), rate=rate))
    assert [search()["count"] for _ in range(3)] == [3, 3, 3]
    assert len(server.requests) == 3  # none was refused, because each waited for its turn
