"""What a function can be called with is seen without `inspect`, and just as `inspect` says."""

import inspect
from collections.abc import Callable
from functools import wraps

import pytest

from ferrule.plugin.function.signature import Definition


def plain(city: str, days: int = 3) -> None: ...


def keyword(city: str, *, days: int, unit: str = "C") -> None: ...


def bare() -> None: ...


@wraps(plain)
def wrapped(*given: object, **named: object) -> None: ...


def positional(city: str, /) -> None: ...


@pytest.mark.parametrize("function", [plain, keyword, bare])
@pytest.mark.parametrize("names", [(), ("city",), ("days",), ("city", "days"), ("city", "unit"), ("city", "days", "x")])
def test_it_is_as_a_signature_binds(function: Callable[..., None], names: tuple[str, ...]) -> None:
    values = dict.fromkeys(names)
    try:
        inspect.signature(function).bind(**values)
        fits = True
    except TypeError:
        fits = False
    assert Definition(function, None).is_callable_with(values) is fits


@pytest.mark.parametrize("function", [wrapped, positional])
def test_what_is_not_plain_is_left_to_inspect(function: Callable[..., None]) -> None:
    assert Definition(function, None).is_callable_with({"city": 1}) is False
