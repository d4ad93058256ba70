"""Calls that a balancer has numbered begin once, where Redis is there to say so, and else as if they had no number."""

import asyncio
from pathlib import Path

import pytest
from redis_server import RedisServer

from ferrule.errors import WorkerLost
from ferrule_serve.idempotency import IdempotencyKeys

NUMBER = "0123456789abcdef"


def begin(number: str, beginnings: IdempotencyKeys) -> None:
    asyncio.run(beginnings.begin(number))


def test_a_number_begins_once_for_all_who_share_a_redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        one, other = IdempotencyKeys(said.append), IdempotencyKeys(said.append)
        begin(NUMBER, one)
        begin("another-number", other)
        for each in (one, other):
            with pytest.raises(WorkerLost, match="begun on another server") as caught:
                begin(NUMBER, each)
            assert caught.value.has_begun
        assert redis.ask("TTL", f"ferrule:begun:{NUMBER}") > 3000
    assert said == []


@pytest.mark.parametrize("number", ["short", "x" * 200, "with blanks in it", "line\nbreak-in-it"])
def test_what_is_no_number_is_not_kept(number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        beginnings = IdempotencyKeys(lambda _: None)
        begin(number, beginnings)
        begin(number, beginnings)
        assert redis.names() == []


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:9/0"])
def test_without_a_redis_calls_begin_and_that_is_said_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setenv("FERRULE_REDIS", url)
    beginnings = IdempotencyKeys(said.append)
    begin(NUMBER, beginnings)
    begin(NUMBER, beginnings)
    assert len(said) == 1
    assert "may call a tool twice" in said[0]
