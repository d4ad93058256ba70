"""Many rows whose searches have to take turns: each waits outside of the seconds that its tool has, and is answered."""

from collections.abc import Callable
from math import inf

import pytest

from ferrule_ask import Client
from ferrule_dev.testing import Server
from ferrule_testkit.model.server import ModelRequest, ModelServer, Reply, calls, says
from ferrule_testkit.search.server import BRAVE_KEY, BRAVE_PATH, Brave, Rate, some_hits

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ask_environment")]
ROWS = 12


@pytest.mark.parametrize("tool", ["web_search_brave"])
def test_at_one_search_a_second_every_row_has_searched(
    tool: str, client: Callable[..., Client], model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool has four seconds, so that the turns of most rows would come too late in them."""

    def search_first(request: ModelRequest) -> Reply:
        return says("It is 95.") if request.is_second else calls(tool, {"query": request.question})

    model_server.script(search_first)
    monkeypatch.setenv("BRAVE_API_KEY", BRAVE_KEY)
    with Server() as provider:
        provider.route("*", Brave(some_hits(3), rate=Rate(1)))
        monkeypatch.setenv("FERRULE_BRAVE_ENDPOINT", provider.url + BRAVE_PATH)
        one = client(toolbox=None, tools=[tool], patience=inf, budgets=(30, 4, 30))
        answers = [future.result(120) for future in [one.start(None, f"Row {row}?") for row in range(ROWS)]]
    assert [(answer.text, answer.tool_outcome, answer.tool_error) for answer in answers] == [
        ("It is 95.", "ok", None)
    ] * ROWS
    assert one.usage.tool_failures == 0
