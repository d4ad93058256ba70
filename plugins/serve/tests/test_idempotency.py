"""A call to which a balancer has given a key begins once, where Redis can say so, and else as if it had none."""

import asyncio
from pathlib import Path

import pytest

from ferrule.errors import WorkerLost
from ferrule_serve.idempotency import IdempotencyKeys
from ferrule_testkit.programs.redis_server import RedisServer

pytestmark = pytest.mark.process


KEY = "0123456789abcdef"


def claim(header: str, keys: IdempotencyKeys) -> None:
    try:
        asyncio.run(keys.claim(header))
    finally:
        keys.close()


def test_a_key_is_claimed_once_by_all_who_share_a_redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        one, other = IdempotencyKeys(said.append), IdempotencyKeys(said.append)
        claim(KEY, one)
        claim("another-key", other)
        for each in (one, other):
            with pytest.raises(WorkerLost, match="begun on another server") as caught:
                claim(KEY, each)
            assert caught.value.has_begun
        assert redis.ask("TTL", f"ferrule:begun:{KEY}") > 3000
    assert said == []


@pytest.mark.parametrize(("first", "second"), [(KEY, f'"{KEY}"'), (f'"{KEY}"', KEY), (f'"{KEY}"', f'"{KEY}"')])
def test_a_key_may_be_quoted_as_the_draft_has_it(
    first: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        keys = IdempotencyKeys(lambda _: None)
        claim(first, keys)
        with pytest.raises(WorkerLost):
            claim(second, keys)
        assert redis.names() == [f"ferrule:begun:{KEY}"]


@pytest.mark.parametrize(
    "header", ["short", '"short"', "x" * 200, "with blanks in it", "line\nbreak-in-it", f'"{KEY}', f'{KEY}"', '""']
)
def test_what_is_no_key_is_not_kept(header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        keys = IdempotencyKeys(lambda _: None)
        claim(header, keys)
        claim(header, keys)
        assert redis.names() == []


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:9/0"])
def test_without_a_redis_calls_begin_and_that_is_said_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setenv("FERRULE_REDIS", url)
    keys = IdempotencyKeys(said.append)
    claim(KEY, keys)
    claim(KEY, keys)
    assert len(said) == 1
    assert "may call a tool twice" in said[0]
