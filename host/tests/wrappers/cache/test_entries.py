"""What is kept, how old it is whatever the clocks do, and how long a failure may be given again."""

import json
from typing import Any

import pytest

from ferrule.errors import failure_in
from ferrule.wrappers.cache import entries, ttl
from ferrule.wrappers.cache.cached_call import stored_failure
from ferrule.wrappers.cache.entries import Entry, Moment, freshness

KEY = "ab" * 32
QUESTION = {"tool": "web_fetch", "arguments": {"url": "https://example.com/ä"}}


def entry(seconds: float = 100.0, stored: Moment | None = None, **outcome: Any) -> Entry:
    return Entry(KEY, QUESTION, outcome or {"result": {"success": True}}, stored or Moment(1e9, 500.0, "boot"), seconds)


def test_an_entry_is_read_as_it_was_written() -> None:
    written = entry(result={"content": "ä\n" * 10, "n": [1, 1.5, None, True]})
    found = entries.read(entries.write(written), KEY)
    assert found is not None
    assert (found.key, found.question, found.outcome) == (KEY, QUESTION, written.outcome)
    assert (found.seconds, found.stored.wall, found.stored.uptime, found.stored.boot) == (100.0, 1e9, 500.0, "boot")


def test_any_byte_that_is_changed_makes_it_unreadable() -> None:
    data = entries.write(entry())
    for place in range(len(data)):
        torn = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        assert entries.read(torn, KEY) is None, place


def test_a_part_of_an_entry_is_none() -> None:
    data = entries.write(entry())
    assert not any(entries.read(data[:length], KEY) for length in range(len(data)))
    assert entries.read(data + b"\n", KEY) is None


@pytest.mark.parametrize(
    "change",
    [
        {"shape": 0},
        {"key": "cd" * 32},
        {"question": None},
        {"outcome": {}},
        {"outcome": {"result": "text"}},
        {"outcome": {"error": {"code": 5, "message": "x"}}},
        {"seconds": "long"},
        {"stored": None},
    ],
    ids=json.dumps,
)
def test_a_whole_document_of_another_shape_is_none(change: dict[str, Any]) -> None:
    body = json.loads(entries.write(entry()).split(b"\n")[1])
    data = json.dumps({**body, **change}).encode()
    from hashlib import sha256

    signed = sha256(data).hexdigest().encode() + b"\n" + data + b"\n"
    assert entries.read(signed, KEY) is None


def test_the_uptime_counts_and_not_the_clock_on_the_wall() -> None:
    kept = entry()
    for wall in (0.0, 1e9, 1e9 + 50, 4e9):
        assert kept.age(Moment(wall, 550.0, "boot")) == 50.0
        assert kept.is_live(Moment(wall, 550.0, "boot"))
        assert not kept.is_live(Moment(wall, 600.0, "boot"))


def test_after_a_restart_the_clock_on_the_wall_counts() -> None:
    kept = entry()
    assert kept.age(Moment(1e9 + 30, 5.0, "another")) == 30.0
    assert not kept.is_live(Moment(1e9 + 100, 5.0, "another"))


def test_an_entry_from_the_future_is_not_given() -> None:
    assert entry().age(Moment(1e9 - 3600, 5.0, "another")) is None
    assert not entry().is_live(Moment(1e9 - 3600, 5.0, "another"))
    assert entry(stored=Moment(1e9)).age(Moment(1e9 - 0.5)) == 0.0


def test_this_instant_goes_on() -> None:
    one, other = entries.now(), entries.now()
    assert one.boot == other.boot
    assert other.uptime >= one.uptime


@pytest.mark.parametrize(
    ("age", "word"), [(0, "fresh"), (49.9, "fresh"), (50, "aging"), (79.9, "aging"), (80, "expiring"), (99, "expiring")]
)
def test_freshness_is_the_share_of_the_time_that_has_passed(age: float, word: str) -> None:
    assert freshness(age, 100) == word


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"code": "INVALID_URL"}, ("validation", 14_400)),
        ({"code": "BLOCKED"}, ("blocked", 1_800)),
        ({"code": "AUTH_INVALID"}, ("auth", 60)),
        ({"code": "PARSE_ERROR"}, ("content", 600)),
        ({"code": "RATE_LIMIT"}, ("rate_limit", 90)),
        ({"code": "RATE_LIMIT", "retry_after": 5}, ("rate_limit", 5)),
        ({"code": "RATE_LIMIT", "retry_after": 900}, ("rate_limit", 900)),
        ({"code": "RATE_LIMIT", "retry_after": 1e6}, ("rate_limit", 3_600)),
        ({"code": "RATE_LIMIT", "retry_after": 0}, ("", 0)),
        ({"code": "BLOCKED", "retry_after": 60}, ("blocked", 60)),
        ({"code": "AUTH_INVALID", "retry_after": 900}, ("auth", 60)),
        ({"code": "NO_CONTENT"}, ("content", 600)),
        ({"code": "RATE_LIMIT", "details": {"retryAfterSeconds": 5}}, ("rate_limit", 5)),
        ({"code": "RATE_LIMIT", "details": {"retryAfterSeconds": 900}}, ("rate_limit", 900)),
        ({"code": "RATE_LIMIT", "retry_after": 5, "details": {"retryAfterSeconds": 9}}, ("rate_limit", 5)),
        ({"code": "RATE_LIMIT", "details": {"retryAfterSeconds": True}}, ("rate_limit", 90)),
        ({"code": "HTTP_ERROR", "message": "HTTP 404: Not Found. There is no such page."}, ("not_found", 600)),
        ({"code": "HTTP_ERROR", "message": "HTTP 410"}, ("not_found", 600)),
        ({"code": "HTTP_ERROR", "message": "HTTP 401: Unauthorized"}, ("auth", 60)),
        ({"code": "HTTP_ERROR", "message": "HTTP 403: Forbidden"}, ("auth", 60)),
        ({"code": "HTTP_ERROR", "message": "HTTP 429", "retry_after": 7}, ("rate_limit", 7)),
        ({"code": "HTTP_ERROR", "message": "x", "details": {"status": 404}}, ("not_found", 600)),
        ({"code": "HTTP_ERROR", "message": "HTTP 503: see also 404"}, ("", 0)),
        ({"code": "HTTP_ERROR", "message": "HTTP 4040"}, ("", 0)),
        ({"code": "HTTP_ERROR", "message": "see HTTP 404"}, ("", 0)),
        ({"code": "NETWORK_ERROR", "retry_after": 5}, ("", 0)),
        ({"code": "TIMEOUT"}, ("", 0)),
        ({"code": "INTERNAL_ERROR"}, ("", 0)),
        ({"code": "AUTH_MISSING"}, ("", 0)),
        ({"code": "API_ERROR"}, ("", 0)),
        ({"code": "WHATEVER"}, ("", 0)),
        ({"code": ["INVALID_URL"]}, ("", 0)),
        ({}, ("", 0)),
    ],
    ids=str,
)
def test_a_failure_is_kept_by_its_kind(facts: dict[str, Any], expected: tuple[str, float]) -> None:
    assert ttl.of_failure(facts) == expected


def test_what_is_left_to_wait_is_told_wherever_it_stands() -> None:
    details = {"kind": "x", "retryAfterSeconds": 90}
    facts = {"code": "RATE_LIMIT", "message": "No.", "retry_after": 90, "details": details}
    moment = entries.now()
    stored = entries.Moment(moment.wall - 60, moment.uptime - 60, moment.boot)
    told = stored_failure(entry(90, stored, error=facts, kind="rate_limit"))
    assert told is not None
    assert told.details is not None
    assert 29 <= told.details["retryAfterSeconds"] <= 30
    assert told.details["retryAfterSeconds"] == told.retry_after
    assert details["retryAfterSeconds"] == 90


def test_the_admin_wins_over_the_tool() -> None:
    settings = {"tools": {"a": {"seconds": 5}, "b": {"seconds": 0}, "c": {}}}
    lives = [ttl.of_result(name, 60, settings) for name in "abcd"]
    assert lives == [5, 0, 60, 60]
    assert ttl.of_result("a", None, settings) == 5
    assert ttl.of_result("d", None, settings) == 0


@pytest.mark.parametrize("seconds", ["5", True, -1, 1e10, [5]])
def test_a_setting_that_is_no_time_is_told(seconds: Any) -> None:
    with pytest.raises(ValueError, match="seconds"):
        ttl.of_result("a", 60, {"tools": {"a": {"seconds": seconds}}})


def test_a_result_that_tells_a_failure_is_one() -> None:
    web = {"success": False, "error": "HTTP 404: Not Found", "error_code": "HTTP_ERROR"}
    notes = {"error": True, "message": "No.", "code": "NOT_FOUND"}
    assert [ttl.of_failure(failure_in(one) or {})[0] for one in (web, notes)] == ["not_found"] * 2
    assert failure_in({"success": True, "error": "text"}) is None
    assert failure_in({"rows": []}) is None
