"""The limits of a provider, for the script of a `ModelServer`: a bucket of requests that is filled again by a clock.

clock = Clock(speed=60)                                  # a minute is a second
bucket = TokenBucket(50, clock=clock)                    # 50 requests a minute, all of which may come at once
server.script(bucket)
Client(clock=clock, …)
assert bucket.refused == []
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from math import ceil

from ferrule_ask.pace.clock import Clock
from ferrule_testkit.model.server import ModelRequest, Reply, failure, says


def echo(request: ModelRequest) -> Reply:
    """The question as the answer."""
    return says(request.question)


class TokenBucket:
    """Answers a request that fits, and refuses any other with 429.

    per_minute, burst: requests. clock: is shared with the client. tells: whether the headers name the limit. waits:
    whether a refusal names the seconds after which there is room again; a number is named as it is, once, and nothing
    is taken until then. answer: what is answered. is_empty: whether somebody else has just used it up.

    taken, refused: instants of requests by the clock.
    """

    def __init__(
        self,
        per_minute: float,
        burst: float | None = None,
        *,
        clock: Clock,
        tells: bool = True,
        waits: bool | float = True,
        answer: Callable[[ModelRequest], Reply] = echo,
        is_empty: bool = False,
    ) -> None:
        self._rate = per_minute / 60
        self._limit = per_minute
        self._burst = per_minute if burst is None else burst
        self._level = 0.0 if is_empty else self._burst
        self._clock, self._tells, self._waits, self._answer = clock, tells, waits, answer
        self._at = clock.now()
        self._closed = 0.0
        self._lock = threading.Lock()
        self.taken: list[float] = []
        self.refused: list[float] = []

    def __call__(self, request: ModelRequest) -> Reply:
        """Answer a request."""
        with self._lock:
            now = self._clock.now()
            self._level = min(self._burst, self._level + max(0.0, now - self._at) * self._rate)
            self._at = max(now, self._at)
            fits = self._level >= 1 and now >= self._closed
            if fits:
                self._level -= 1
            (self.taken if fits else self.refused).append(now)
            headers = self._headers()
            reply = self._answer(request) if fits else self._refusal(now)
        return replace(reply, headers={**reply.headers, **headers})

    def _headers(self) -> dict[str, str]:
        if not self._tells:
            return {}
        name = "anthropic-ratelimit-requests"
        return {f"{name}-limit": f"{self._limit:.0f}", f"{name}-remaining": str(max(0, int(self._level)))}

    def _refusal(self, now: float) -> Reply:
        if self._waits is False:
            return failure(429, "Number of requests has exceeded your rate limit.")
        if self._waits is not True and not self._closed:
            self._closed = now + self._waits
        wait = max(self._closed - now, (1 - self._level) / self._rate)
        return failure(429, "Number of requests has exceeded your rate limit.", retry_after=max(1, ceil(wait)))
