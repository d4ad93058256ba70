"""The loop of a server forgets what was cancelled, and does the rest in its order."""

import gc
import time

from ferrule.calls.fork_server.poll_loop import PollLoop, Timer


def test_timers_that_were_cancelled_are_forgotten_and_the_others_run_in_order() -> None:
    loop = PollLoop()
    now, done = time.monotonic(), []
    for number in range(200):
        loop.call_at(now - number, lambda number=number: done.append(number))
    for _ in range(5_000):
        loop.call_at(now + 86_400, done.clear).cancel()
    assert sum(isinstance(one, Timer) for one in gc.get_objects()) < 1_000
    loop.call_at(now, loop.stop)
    loop.run()
    assert done == [*range(199, -1, -1)]
