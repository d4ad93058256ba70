"""What is said about an exception that came out of a plugin."""

import errno
from typing import Any

import pytest

from ferrule.errors import ResultInvalid, ToolCrashed, ToolError
from ferrule.supervision.exception_text import explain, legible, name_and_text, text_of

SECRET = "hunter2-very-secret"


class Speechless(Exception):
    """Raises when it is asked for its text."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


class NoText(Exception):
    """Gives back something that is no text."""

    def __str__(self) -> Any:
        return 5


def raised(error: BaseException) -> BaseException:
    """The exception, after it has been raised two calls deep."""

    def inner() -> None:
        raise error

    try:
        inner()
    except BaseException as caught:
        return caught
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(ValueError("no dice"), "The tool crashed with ValueError: no dice.", id="text"),
        pytest.param(ValueError("No dice."), "The tool crashed with ValueError: No dice.", id="full-stop"),
        pytest.param(ValueError(), "The tool crashed with ValueError.", id="no-text"),
        pytest.param(KeyError("a"), "The tool crashed with KeyError: 'a'.", id="key"),
        pytest.param(Speechless(), "The tool crashed with Speechless: (its text cannot be had).", id="speechless"),
        pytest.param(NoText(), "The tool crashed with NoText: (its text cannot be had).", id="text-is-no-text"),
        pytest.param(KeyboardInterrupt(), "The tool crashed with KeyboardInterrupt.", id="interrupt"),
        pytest.param(OSError("a\nb\0c\x1b[31m"), "The tool crashed with OSError: a b\ufffdc [31m.", id="one-line"),
        pytest.param(OSError("\ud800"), "The tool crashed with OSError: ?.", id="surrogate"),
        pytest.param(SystemExit(3), "The tool called sys.exit(3) instead of answering.", id="exit"),
        pytest.param(SystemExit(), "The tool called sys.exit() instead of answering.", id="exit-without-a-code"),
        pytest.param(MemoryError(), "The tool ran out of memory.", id="memory"),
        pytest.param(OSError(errno.ENOMEM, "none left", "/a/module"), "The tool ran out of memory.", id="memory-of-os"),
        pytest.param(
            ImportError("big.so: failed to map segment from shared object"),
            "The tool ran out of memory.",
            id="memory-of-the-loader",
        ),
        pytest.param(
            ExceptionGroup("both", [ValueError("a"), KeyError("b")]),
            "The tool crashed with ExceptionGroup: both (2 sub-exceptions).",
            id="group",
        ),
    ],
)
def test_an_exception_is_told_by_type_and_text(error: BaseException, message: str) -> None:
    crash = explain(error)
    assert isinstance(crash, ToolCrashed)
    assert crash.message == message
    assert crash.code == "INTERNAL_ERROR"


def test_of_an_exception_of_ten_megabytes_the_beginning_is_told() -> None:
    assert explain(OSError("x" * 10_000_000)).message == f"The tool crashed with OSError: {'x' * 299}…."


def test_an_exception_that_was_raised_is_told_with_its_place() -> None:
    message = explain(raised(ValueError("no dice"))).message
    assert message.startswith("The tool crashed with ValueError: no dice (supervision/test_exception_text.py, line ")


def test_memory_that_ran_out_comes_with_what_to_do() -> None:
    error = explain(MemoryError())
    assert error.hint == "Ask for less."
    assert error.admin is not None
    assert "FERRULE_MEMORY" in error.admin


@pytest.mark.parametrize("error", [ToolError("X", "text"), ResultInvalid("text")], ids=["tool", "host"])
def test_an_error_of_ferrule_is_reported_as_it_is(error: Any) -> None:
    assert explain(raised(error)) is error


@pytest.mark.parametrize("before", [0, 270, 290, 295, 299, 300, 400])
def test_no_part_of_a_secret_is_left_where_the_text_is_cut(before: int) -> None:
    error = ValueError("." * before + SECRET + " and more" * 50)
    for text in (explain(error, [SECRET]).message, name_and_text(error, [SECRET]), text_of(error, [SECRET])):
        assert "hunt" not in text
        assert len(text) < 400


def test_text_is_made_legible_and_cut() -> None:
    assert legible("é" * 50, [], 10) == "é" * 9 + "…"
    assert legible("é" * 10, [], 10) == "é" * 10
    assert legible(5, [], 10) == "5"
    assert legible(f"a {SECRET} b", [SECRET], 99) == "a [redacted] b"


def test_the_traceback_goes_to_stderr_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    explain(raised(ValueError("no dice")))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FERRULE_DEBUG", "1")
    explain(raised(ValueError("no dice")))
    printed = capsys.readouterr().err
    assert "Traceback (most recent call last):" in printed
    assert "ValueError: no dice" in printed
