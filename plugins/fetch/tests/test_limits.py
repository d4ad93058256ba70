"""The limits of one part of a document."""

import time

import pytest

from ferrule_fetch.limits.part import PartTooExpensive, bounded_part


class Finalized:
    """Its finalizer is at work when the time is up, and Python drops what a finalizer raises."""

    def __del__(self) -> None:
        begin = time.process_time()
        while time.process_time() < begin + 0.1:
            pass


def test_a_part_ends_in_time_though_a_finalizer_swallowed_its_end() -> None:
    def work() -> None:
        with bounded_part(0.02):
            Finalized()
            while True:
                pass

    with pytest.raises(PartTooExpensive):
        work()
