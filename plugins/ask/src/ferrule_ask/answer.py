"""The answer to a question: the text, or a code and a sentence that say why there is none.

code               text    what happened; what to do next is in `error`
None               yes     it is answered
MAX_TOKENS         maybe   the model reached max_tokens; text is what it had written by then, or None
CONTEXT_WINDOW     maybe   the question, or the question and its answer, do not fit the model's context window
REFUSAL            no      the model declined to answer
EMPTY_ANSWER       no      the model ended its turn without any text
AUTH_MISSING       no      no API key is set
AUTH_INVALID       no      the server does not accept the key (401)
FORBIDDEN          no      the key may not do this (403)
BILLING            no      no credit, or a spend limit of the account is reached (402, some 400)
MODEL_NOT_FOUND    no      there is no such model (404)
INVALID_REQUEST    no      the server refuses the request as it is (400), or it cannot be sent
REQUEST_TOO_LARGE  no      it is more than the server takes (413)
RATE_LIMIT         no      too many requests (429), and waiting did not fit the budget
OVERLOADED         no      the server has too much to do (503, 529)
API_ERROR          no      the server failed, or what it sent is no message
NETWORK_ERROR      no      there was no connection, or it broke
TIMEOUT            no      the budget of one step was over
BUDGET_EXHAUSTED   no      a request more might pass the limits
PRICE_UNKNOWN      no      there is a limit on spending, and no price for the model
VALUE_UNFIT        no      the answer is no value of the schema that was asked for
TOOL_FAILED        no      the tool failed, and `on_tool_error` wants no answer then
CANCELLED          no      the client was closed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

# The text is the beginning of an answer.
CUT = frozenset({"MAX_TOKENS", "CONTEXT_WINDOW"})
# What holds for every question that the same client would ask with the same model.
REPEATS = frozenset({"AUTH_MISSING", "AUTH_INVALID", "FORBIDDEN", "BILLING", "MODEL_NOT_FOUND", "PRICE_UNKNOWN"})


class Answer(NamedTuple):
    """The answer to one question.

    text: of the model; the table above says when it is None.
    code: None where all is well, else one of the table. error: a sentence for it, with what to do next.
    stop_reason: the model's last one. model: as the server named it, else as it was asked for.
    tool: the name of the tool that was executed, or that the model asked for in vain. tool_input: its arguments.
    input_tokens, output_tokens: what the server reported, of both requests together; cached ones count as input.
    cost: US dollars, from these; None where the model's price is not known.
    ms: milliseconds from the turn of the question to its end. request_id: the server's, of the last request.
    tool_outcome: "ok", "failed", or "none" where no tool was called. tool_code, tool_error: of a tool that failed; the
    model was told less, and has answered from what it knows. remembered: whether it was kept from an earlier question,
    so that nothing was sent. value: of an answer with a schema, as JSON has it.
    tool_calls: all calls of the model in their order, each an object with tool, input, outcome ("ok" or "failed"; then
    with code and error) and seconds; tool, tool_input and tool_outcome are those of the last one. sources: where the
    model got it from, each once, an object with title, url, published, tool and cited: whether the provider says that
    the answer rests on it, None where it says nothing of any. What it cites and no tool has found has no tool.
    """

    text: str | None = None
    code: str | None = None
    error: str | None = None
    stop_reason: str | None = None
    model: str = ""
    tool: str | None = None
    tool_input: JSONMapping | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    ms: int = 0
    request_id: str | None = None
    tool_outcome: str = "none"
    tool_code: str | None = None
    tool_error: str | None = None
    remembered: bool = False
    value: object = None
    tool_calls: Sequence[JSONMapping] = ()
    sources: Sequence[JSONMapping] = ()

    @property
    def is_good(self) -> bool:
        """Whether it is whole, and rests on all that it should: what may be kept for later."""
        return self.text is not None and self.code is None and self.tool_outcome != "failed"

    def as_dict(self) -> JSONObject:
        """The answer as JSON: every field, under its name."""
        return {**self._asdict(), "tool_calls": list(self.tool_calls), "sources": list(self.sources)}


class Usage(NamedTuple):
    """What a client has used so far.

    questions: those that are answered or have failed. requests: sent to the model, those that failed or were sent
    again included. failures: questions whose answer has a code. cost: US dollars, where the price is known. unpriced:
    questions that cost something which is not known. tool_failures: calls of tools that failed.
    """

    questions: int = 0
    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    failures: int = 0
    tool_failures: int = 0
    unpriced: int = 0


class Plan(NamedTuple):
    """What a question would take. Nothing has been sent to find out.

    requests_max: one more than there can be calls of tools; retries come on top. input_tokens: of the first request,
    estimated. output_tokens_max: of all requests. cost_min: of one request with this input and no output. cost_max: an
    upper bound, for requests that are answered. cost_likely: from what the client's own questions to this model took so
    far, or from an assumption; likely_from says which. All in US dollars, and None where the model's price is not
    known. tools: names of what is offered. searches_max: executions of a search; search_cost_max: US dollars for them,
    None where the settings do not say what the provider takes.
    """

    requests_max: int
    input_tokens: int
    output_tokens_max: int
    cost_min: float | None
    cost_max: float | None
    tools: tuple[str, ...]
    cost_likely: float | None = None
    likely_from: str = "assumption"
    searches_max: int = 0
    search_cost_max: float | None = None
