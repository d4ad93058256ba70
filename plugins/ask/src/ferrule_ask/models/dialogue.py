"""What a model gets and what it replies, in the form of no provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.tools.protocols import ResultText

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.cost.prices import Tokens
    from ferrule_ask.tools.protocols import Passage, ToolOffer

LIMIT_REACHED = "Tool call limit reached. Please answer with what you have."

# The stop reasons of replies, whichever provider they are of; another one stands as the provider has it.
END, TOOL_USE, MAX_TOKENS, REFUSAL = "end_turn", "tool_use", "max_tokens", "refusal"
CONTEXT_WINDOW = "model_context_window_exceeded"
_CUT_SHORT = frozenset({MAX_TOKENS, REFUSAL, CONTEXT_WINDOW})


class Response(NamedTuple):
    """A whole response. headers: a mapping in which letter case does not matter."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class MessageUnreadable(Exception):
    """A response is no message. Its only argument says in what way."""


class ModelFailed(Exception):
    """A model in this process cannot answer.

    Args:
        code: of an Answer.
        sentence: for the user, with what to do next.
        may_repeat: whether the same request may succeed later.
        was_sent: False where the model has not got the request.
    """

    def __init__(self, code: str, sentence: str, *, may_repeat: bool = False, was_sent: bool = True) -> None:
        super().__init__(sentence)
        self.code = code
        self.may_repeat = may_repeat
        self.was_sent = was_sent


class ErrorEvent(Exception):
    """An answer in pieces ends with an error. status: that it would have had at once. document: the error, as JSON."""

    def __init__(self, status: int, document: JSONMapping) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.document = document


class ToolUse(NamedTuple):
    """A call of a tool by the model. input: an object, or any other JSON that it wrote; no lone surrogates."""

    id: str
    name: str
    input: object


class Citation(NamedTuple):
    """What the provider says that the reply rests on."""

    url: str
    title: str = ""


class Reply(NamedTuple):
    """One message of the model.

    content: what goes back to the provider as it came. usage: None where the server did not report it. stop_reason: one
    of those above where it means the same.
    """

    content: list[object]
    text: str
    tool_uses: tuple[ToolUse, ...]
    stop_reason: str | None
    refusal: str | None
    model: str
    usage: Tokens | None
    request_id: str | None
    citations: tuple[Citation, ...] = ()

    @property
    def wants_tool(self) -> bool:
        """Whether it calls a tool; what was cut short may have cut the call's arguments, too."""
        return bool(self.tool_uses) and self.stop_reason not in _CUT_SHORT


class CallResult(NamedTuple):
    """What the model gets for one of its calls; see `ResultText`."""

    use: ToolUse
    content: str
    is_error: bool
    passages: tuple[Passage, ...] = ()


class Exchange(NamedTuple):
    """A reply that calls tools, and a result for every id among its calls."""

    reply: Reply
    results: Sequence[CallResult]


class Dialogue(NamedTuple):
    """All that a request says.

    text: of the user. system: what the model gets with it; may be empty. offers: the tools that it knows, which
    stay the same in all requests of a question. exchanges: so far. may_call: whether it may call another one.
    """

    text: str
    system: str = ""
    offers: Sequence[ToolOffer] = ()
    exchanges: tuple[Exchange, ...] = ()
    may_call: bool = True


class ServerError(NamedTuple):
    """What the body of a response says that is no reply. kind: the provider's word. code: of an Answer, "" for none."""

    kind: str = ""
    message: str = ""
    code: str = ""
    request_id: str | None = None
    retry_after: float | None = None


def user_text(context: str | None, prompt: str) -> str:
    """The text of the user's message."""
    return f"Context: {context}\n\nQuestion: {prompt}" if context else prompt


def make_results(reply: Reply, texts: Mapping[str, ResultText]) -> list[CallResult]:
    """One result for each id among the calls of a reply.

    Args:
        texts: by id, of the calls that were made; all others may be made no more.
    """
    by_id, refused = {use.id: use for use in reply.tool_uses}, ResultText(LIMIT_REACHED, is_error=True)
    return [CallResult(use, *texts.get(one, refused)) for one, use in by_id.items()]
