"""The tool as a client sees it: with recorded answers of the service, and with a server in its place."""

import json
from collections.abc import Callable

import pytest
from ferrule import JSONObject
from ferrule_dev.testing import Exchanges, Server, Tool

import ferrule_new_http as plugin

TOOL = "new_http"
ENDPOINT_VARIABLE = "NEW_HTTP_ENDPOINT"
Tools = Callable[[str], Tool]


def test_it_passes_the_check(ferrule_tool: Tools) -> None:
    """This follows the function; it stays as it is."""
    ferrule_tool(TOOL).check()


def test_an_example_is_answered(ferrule_tool: Tools, ferrule_exchanges: Exchanges) -> None:
    """With the recorded answer in the folder `exchanges`; `pytest --ferrule-record=anew` records it anew."""
    tool = ferrule_tool(TOOL)
    run = tool.run(tool.examples[0])
    assert (run.exit_code, run.document["success"]) == (0, True)


# ---- what this tool does: write your own


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [(401, {}, "AUTH_INVALID"), (429, {}, "RATE_LIMIT"), (500, {}, "API_ERROR"), (200, "no object", "API_ERROR")],
)
def test_a_refusal_of_the_service_has_a_code(
    ferrule_tool: Tools,
    ferrule_credentials: Callable[..., dict[str, str]],
    ferrule_server: Server,
    status: int,
    body: JSONObject | str,
    code: str,
) -> None:
    ferrule_credentials(TOOL, api_key="a-key-of-the-tests")
    url = ferrule_server.document("/forecast", body, status=status)
    tool = ferrule_tool(TOOL)
    run = tool.run(tool.examples[0], environ={ENDPOINT_VARIABLE: url})
    assert (run.exit_code, run.document["error_code"]) == (1, code)
    assert "a-key-of-the-tests" not in json.dumps(run.document) + run.text
    # As service.py sends the key.
    assert ferrule_server.requests[0].headers["authorization"] == "Bearer a-key-of-the-tests"


def test_without_a_key_it_says_where_to_get_one(ferrule_tool: Tools) -> None:
    tool = ferrule_tool(TOOL)
    run = tool.run(tool.examples[0])
    assert (run.exit_code, run.document["error_code"]) == (1, "AUTH_MISSING")
    assert plugin.KEY.environment in run.document["error"]
