"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from ferrule_fetch.patterns import compile_late


def test_a_pattern_is_compiled_when_it_is_first_used() -> None:
    broken = compile_late("(")  # raises nothing yet
    with pytest.raises(re.error):
        broken.search("text")


def test_a_pattern_finds_what_a_compiled_one_finds() -> None:
    late, compiled = compile_late("gates?", re.IGNORECASE), re.compile("gates?", re.IGNORECASE)
    assert late.findall("Gates and a gate") == compiled.findall("Gates and a gate") == ["Gates", "gate"]
    assert late.sub("lock", "GATE") == "lock"
    assert late.pattern == compiled.pattern
