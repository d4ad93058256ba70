"""Ask rows with the maker's SDK and tenacity, eight at once: how many were answered, and in which time.

Usage: python bench/paces/peer.py ROWS, with ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY. It runs in an
environment with the requirements of bench/paces/peers.txt, and imports nothing of this project.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

AT_ONCE, MODEL = 8, "claude-sonnet-4-5"


def by_sdk() -> Callable[[str], object]:
    """The maker's SDK in a loop of tenacity, as its users write it."""
    import anthropic
    import tenacity

    client = anthropic.Anthropic(max_retries=0)
    wait = tenacity.wait_random_exponential(multiplier=1, max=60)
    kinds = tenacity.retry_if_exception_type(anthropic.APIStatusError)

    @tenacity.retry(retry=kinds, wait=wait, stop=tenacity.stop_after_attempt(8))
    def ask(question: str) -> object:
        return client.messages.create(model=MODEL, max_tokens=1000, messages=[{"role": "user", "content": question}])

    return ask


def main() -> None:
    """Ask, and print the outcome as JSON."""
    ask = by_sdk()

    def answered(number: int) -> bool:
        try:
            ask(f"Context: Row {number}\n\nQuestion: What is it?")
        except Exception:  # noqa: BLE001 - of any library; what counts is that there is no answer
            return False
        return True

    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        good = sum(pool.map(answered, range(int(sys.argv[1]))))
    print(json.dumps({"answered": good, "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    main()
