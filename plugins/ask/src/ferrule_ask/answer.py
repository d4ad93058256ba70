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
BUDGET_EXHAUSTED   maybe   a request more might pass the limits; text is what the model had said so far, or None
PRICE_UNKNOWN      no      there is a limit on spending, and no price for the model
CANCELLED          no      the client was closed
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject

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

    def as_dict(self) -> JSONObject:
        """The answer as JSON: every field, under its name."""
        return self._asdict()


class Usage(NamedTuple):
    """What a client has used so far.

    questions: those that are answered or have failed. requests: sent to the model, those that failed or were sent
    again included. failures: questions whose answer has a code. cost: US dollars; None once a price was not known.
    """

    questions: int = 0
    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    failures: int = 0


class Plan(NamedTuple):
    """What a question would take. Nothing has been sent to find out.

    requests_max: 2 where tools are offered, else 1; retries come on top. input_tokens: of the first request, estimated.
    output_tokens_max: of all requests. cost_min: of one request with this input and no output. cost_max: an upper
    bound, for requests that are answered. Both in US dollars, and None where the model's price is not known. tools:
    names of what is offered.
    """

    requests_max: int
    input_tokens: int
    output_tokens_max: int
    cost_min: float | None
    cost_max: float | None
    tools: tuple[str, ...]
