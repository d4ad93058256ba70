"""Public: asks a model, which may call one installed tool, and says what came of it.

    from ferrule_ask import ask

    answer = ask("Bitcoin", "What is the current price?")
    print(answer.text or answer.error)

Needs the extra `ferrule[ask]` and an API key of Anthropic. At most two requests and one execution of a tool; whatever
model, network or tool do, there is an answer in time, and its `code` says what it is worth. `Client` is the same with
settings of one's own, limits and concurrency. Every name is loaded when it is first used.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False  # spelt out, because importing typing costs as much as starting the interpreter

if TYPE_CHECKING:
    from ferrule_ask.answer import Answer, Plan, Usage
    from ferrule_ask.client import Client, ask, ask_async
    from ferrule_ask.cost.limits import Limits
    from ferrule_ask.keys import Keys

__all__ = ["Answer", "Client", "Keys", "Limits", "Plan", "Usage", "ask", "ask_async"]

__getattr__ = attach(
    __name__,
    {
        "Answer": "ferrule_ask.answer",
        "Client": "ferrule_ask.client",
        "Keys": "ferrule_ask.keys",
        "Limits": "ferrule_ask.cost.limits",
        "Plan": "ferrule_ask.answer",
        "Usage": "ferrule_ask.answer",
        "ask": "ferrule_ask.client",
        "ask_async": "ferrule_ask.client",
    },
)
