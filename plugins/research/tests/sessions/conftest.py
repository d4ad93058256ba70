"""The tools of sessions as the host calls them, with a state folder of the test's own."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule import Context, ToolError
from ferrule_dev.testing import Environment, context
from ferrule_research import export, overview, step
from ferrule_testkit.installation.declarations import declared_credentials
from ferrule_testkit.schemas.declared_results import require_declared_shape

Call = Callable[..., dict[str, Any]]
TOOLS = {"sequential_search": step, "get_research_session": overview, "research_export": export}


@pytest.fixture(autouse=True)
def _environment(ferrule_environment: Environment) -> None:
    """A machine of the test's own."""


@pytest.fixture
def call() -> Call:
    """Call a tool; its answer, which has the shape that the tool declares."""

    def call(tool: str, *, within: Context | None = None, **arguments: Any) -> dict[str, Any]:
        hooks = TOOLS[tool]
        if hasattr(hooks, "validate") and (findings := hooks.validate(arguments)):
            raise ToolError("INVALID_INPUT", "; ".join(findings))
        answer = hooks.execute(arguments, within or context(tool, credentials=declared_credentials(tool)))
        require_declared_shape(tool, answer)
        return answer

    return call


@pytest.fixture
def add(call: Call) -> Call:
    """Add a step: its number, its text, and other arguments."""

    def add(number: int = 1, text: str = "Look around.", **arguments: Any) -> dict[str, Any]:
        required = {"searchStep": text, "stepNumber": number, "nextStepNeeded": True}
        return call("sequential_search", **{**required, **arguments})

    return add


@pytest.fixture
def session(add: Call) -> str:
    """The id of a session with one step."""
    found: str = add(researchGoal="When were umbrellas first made?")["sessionId"]
    return found


@pytest.fixture
def refusal(add: Call) -> Callable[..., ToolError]:
    """The error of a step that is refused."""

    def refusal(*parts: Any, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as raised:
            add(*parts, **arguments)
        return raised.value

    return refusal
