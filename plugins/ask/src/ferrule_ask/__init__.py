"""Public: asks a model, which may call one installed tool, and says what came of it.

    from ferrule_ask import ask

    answer = ask("Bitcoin", "What is the current price?")
    print(answer.text or answer.error)

Needs the extra `ferrule[ask]` and an API key of Anthropic. At most two requests and one execution of a tool; whatever
model, network or tool do, there is an answer in time, and its `code` says what it is worth. `Asker` is the same with
settings of one's own, limits and concurrency. Every name is loaded when it is first used.
"""

TYPE_CHECKING = False  # spelt out, because importing typing costs as much as starting the interpreter

if TYPE_CHECKING:
    from ferrule_ask.answer import Answer, Plan, Usage
    from ferrule_ask.asker import Asker
    from ferrule_ask.default import ask, ask_async
    from ferrule_ask.keys import Keys
    from ferrule_ask.limits import Limits

__all__ = ["Answer", "Asker", "Keys", "Limits", "Plan", "Usage", "ask", "ask_async"]

_PLACES = {
    "Answer": "answer",
    "Asker": "asker",
    "Keys": "keys",
    "Limits": "limits",
    "Plan": "answer",
    "Usage": "answer",
    "ask": "default",
    "ask_async": "default",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562), and keep it."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value
