"""How Google refuses, and what the model is told."""

from typing import Any
from zoneinfo import available_timezones

import pytest

from ferrule_dev.testing import Server
from ferrule_testkit.search.provider_contract import Answer, Error
from ferrule_testkit.search.server import google_error, google_quota

pytestmark = pytest.mark.process


QUOTA_SPENT = "Rate limit exceeded. You've used your free search quota (100/day)."
INFO = "type.googleapis.com/google.rpc.ErrorInfo"
TIME_ZONES = "America/Los_Angeles" in available_timezones()  # which not every system has
DAY = 86_400 + 3_600  # seconds of the longest day of a year

INVALID_KEY = google_error(
    400,
    "badRequest",
    "API key not valid. Please pass a valid API key.",
    name="INVALID_ARGUMENT",
    details=[{"@type": INFO, "reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
)
OLD_INVALID_KEY = google_error(400, "keyInvalid", "Bad Request", domain="usageLimits")
INVALID_KEY_WITHOUT_DETAILS = google_error(400, "badRequest", "API key not valid. Please pass a valid API key.")
INVALID_ARGUMENT = google_error(400, "badRequest", "Request contains an invalid argument.", name="INVALID_ARGUMENT")
NO_ACCESS = google_error(
    403,
    "forbidden",
    "This project does not have the access to Custom Search JSON API.",
    name="PERMISSION_DENIED",
)
NOT_ENABLED = google_error(
    403,
    "accessNotConfigured",
    "Custom Search API has not been used in project 123 before or it is disabled. Enable it by visiting "
    "https://console.developers.google.com/apis/api/customsearch.googleapis.com/overview?project=123 then retry.",
    name="PERMISSION_DENIED",
    domain="usageLimits",
    details=[{"@type": INFO, "reason": "SERVICE_DISABLED"}],
)


@pytest.mark.parametrize(
    ("status", "document", "code", "message"),
    [
        pytest.param(400, INVALID_KEY, "AUTH_INVALID", "API key not valid. Please pass a valid API key", id="key"),
        pytest.param(400, OLD_INVALID_KEY, "AUTH_INVALID", "Bad Request (keyInvalid)", id="old-key"),
        pytest.param(400, INVALID_KEY_WITHOUT_DETAILS, "AUTH_INVALID", "API key not valid", id="key-by-its-words"),
        pytest.param(
            400,
            INVALID_ARGUMENT,
            "API_ERROR",
            "answered with HTTP 400: Request contains an invalid argument (badRequest).",
            id="invalid-argument",
        ),
        pytest.param(403, NO_ACCESS, "AUTH_INVALID", "This project does not have the access", id="no-access"),
        pytest.param(403, NOT_ENABLED, "AUTH_INVALID", "has not been used in project 123", id="not-enabled"),
        pytest.param(500, {}, "API_ERROR", "answered with HTTP 500: Internal Server Error.", id="server-error"),
        pytest.param(
            503,
            google_error(503, "backendError", "The service is currently unavailable.", name="UNAVAILABLE"),
            "API_ERROR",
            "answered with HTTP 503: The service is currently unavailable (backendError).",
            id="unavailable",
        ),
        pytest.param(429, {}, "RATE_LIMIT", "Rate limit exceeded.", id="limited-without-a-word"),
        pytest.param(
            429,
            google_error(429, "rateLimitExceeded", "Resource has been exhausted (e.g. check quota)."),
            "RATE_LIMIT",
            "Rate limit exceeded. Google Custom Search says: Resource has been exhausted",
            id="limited-without-saying-by-what",
        ),
        pytest.param(200, INVALID_KEY, "AUTH_INVALID", "API key not valid", id="a-refusal-with-status-200"),
    ],
)
def test_every_refusal_has_its_code_and_googles_own_reason(
    answer: Answer, error: Error, status: int, document: Any, code: str, message: str
) -> None:
    answer(document, status)
    failure = error()
    assert failure.code == code
    assert message in failure.message
    assert failure.retry_after is None


@pytest.mark.parametrize(
    ("status", "document"),
    [
        pytest.param(
            403,
            google_error(403, "dailyLimitExceeded", "Daily Limit Exceeded", domain="usageLimits"),
            id="legacy",
        ),
        pytest.param(
            403,
            google_error(
                403, "dailyLimitExceeded", "Daily Limit Exceeded", name="PERMISSION_DENIED", domain="usageLimits"
            ),
            id="legacy-with-a-newer-name",
        ),
        pytest.param(429, google_quota("per day"), id="by-the-limits-name"),
        pytest.param(429, google_quota("per day", retry_delay="5s"), id="whatever-the-delay-says"),
        pytest.param(
            429,
            google_error(
                429,
                "rateLimitExceeded",
                "Quota exceeded.",
                name="RESOURCE_EXHAUSTED",
                details=[
                    {
                        "@type": INFO,
                        "reason": "RATE_LIMIT_EXCEEDED",
                        "metadata": {"quota_limit": "DefaultPerDayPerProject", "quota_limit_value": "100"},
                    }
                ],
            ),
            id="by-the-details",
        ),
    ],
)
def test_a_spent_day_is_told_at_once_with_when_it_resets(
    server: Server, answer: Answer, error: Error, status: int, document: Any
) -> None:
    answer(document, status)
    failure = error()
    assert failure.code == "RATE_LIMIT"
    assert failure.message.startswith(f"{QUOTA_SPENT} Google Custom Search says: ")
    assert failure.retry_after is None if not TIME_ZONES else 0 < failure.retry_after <= DAY
    assert (" It resets in " in failure.message) == TIME_ZONES
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("document", "retry_after"),
    [
        pytest.param(google_quota("per minute per user"), 60, id="minute"),
        pytest.param(google_quota("per 100 seconds per user"), 100, id="hundred-seconds"),
        pytest.param(google_quota("per minute", retry_delay="42.5s"), 43, id="minute-with-a-delay"),
        pytest.param(google_error(403, "userRateLimitExceeded", "User Rate Limit Exceeded"), None, id="legacy"),
    ],
)
def test_a_spent_minute_is_no_spent_day(
    server: Server, answer: Answer, error: Error, document: Any, retry_after: float | None
) -> None:
    answer(document, 429 if retry_after else 403)
    failure = error(seconds=20)
    assert failure.code == "RATE_LIMIT"
    assert failure.message.startswith("Rate limit exceeded. Google Custom Search says: ")
    assert failure.retry_after == retry_after
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(google_quota("per minute", retry_delay="9" * 400 + "s"), id="delay"),
        pytest.param(google_quota(f"per {'9' * 400} seconds"), id="period"),
    ],
)
def test_a_time_beyond_all_measure_counts_as_not_told(answer: Answer, error: Error, document: Any) -> None:
    answer(document, 429)
    failure = error()
    assert (failure.code, failure.retry_after) == ("RATE_LIMIT", None)
