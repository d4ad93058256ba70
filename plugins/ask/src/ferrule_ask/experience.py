"""What the questions of a client took so far, for a plan of those that come."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule_ask.answer import Answer

_ENOUGH = 5  # questions, after which they say more than the assumption does
# Assumed of a question, until there are enough: it searches where it can, and its answer is short.
_ANSWER_TOKENS, _CALL_TOKENS, _RESULT_TOKENS = 200, 100, 1_000


class Likely(NamedTuple):
    """Tokens that a question is likely to take. source: "own questions" or "assumption"."""

    input_tokens: int
    output_tokens: int
    source: str


class Experience:
    """Sums over the answered questions, by model."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[int, int, int]] = {}

    def note(self, model: str, estimated: int, answer: Answer) -> None:
        """Count a question. estimated: the tokens of its first request, as they were estimated."""
        if answer.code is None and not answer.remembered:
            number, more, output = self._sums.get(model, (0, 0, 0))
            sums = number + 1, more + answer.input_tokens - estimated, output + answer.output_tokens
            self._sums[model] = sums

    def likely(self, model: str, estimated: int, max_tokens: int, *, has_tools: bool) -> Likely:
        """What a question whose first request has so many tokens is likely to take."""
        number, more, output = self._sums.get(model, (0, 0, 0))
        if number >= _ENOUGH:
            return Likely(max(1, estimated + round(more / number)), round(output / number), "own questions")
        answer = min(_ANSWER_TOKENS, max_tokens)
        if not has_tools:
            return Likely(estimated, answer, "assumption")
        call = min(_CALL_TOKENS, max_tokens)
        return Likely(2 * estimated + call + _RESULT_TOKENS, call + answer, "assumption")
