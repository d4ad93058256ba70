"""What is wrong with a question, with what to do about it in the words of SQL and of `register`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_ask.answer import CUT

if TYPE_CHECKING:
    from ferrule_ask.answer import Answer

_NEXT = {
    "AUTH_MISSING": "SELECT stps_set_api_key('…')",
    "AUTH_INVALID": "SELECT stps_set_api_key('…')",
    "MODEL_NOT_FOUND": "SELECT stps_set_model('…'), or name another as the third argument",
    "MAX_TOKENS": "stps_ask_ai(…, max_tokens := 4000)",
    "BUDGET_EXHAUSTED": "register(con, max_calls=…, max_spend=…)",
    "PRICE_UNKNOWN": "register(con, …) without max_spend, or with a client=Client(prices=…)",
    "RATE_LIMIT": "register(con, timeout=…) or register(con, requests_per_minute=…)",
    "OVERLOADED": "register(con, timeout=…)",
    "TOOL_FAILED": "register(con, on_tool_error='answer')",
}
_CUT_MARK = " … [cut off: {}]"


def explain(answer: Answer) -> str | None:
    """The sentence of an answer's failure; None if there is none."""
    if answer.code is None or answer.code not in _NEXT or not answer.error:
        return answer.error
    return f"{answer.error} In SQL: {_NEXT[answer.code]}."


def failure(answer: Answer) -> str:
    """The code of a failure and its sentence."""
    return f"{answer.code}: {explain(answer) or 'There is no answer.'}"


def marked_text(answer: Answer) -> str | None:
    """The text of an answer, with a mark at its end where it is only the beginning of one."""
    if answer.text is None or answer.code not in CUT:
        return answer.text
    return answer.text + _CUT_MARK.format("max_tokens" if answer.code == "MAX_TOKENS" else "the context window is full")
