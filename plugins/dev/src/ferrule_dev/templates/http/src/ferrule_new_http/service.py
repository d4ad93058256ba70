"""The service: how it is asked, and what its refusals mean."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ferrule import Context, JSONObject, ToolError
from ferrule.http import Client, RequestFailed

ENDPOINT = "https://api.new-http.example/forecast"
ENDPOINT_VARIABLE = "NEW_HTTP_ENDPOINT"


def ask(parameters: Mapping[str, str], context: Context) -> JSONObject:
    """The document that the service answers with.

    Raises ToolError AUTH_INVALID, RATE_LIMIT, NETWORK_ERROR or API_ERROR if there is none.
    """
    url = context.setting("endpoint", ENDPOINT_VARIABLE) or ENDPOINT
    headers = {"Authorization": f"Bearer {context.credential('api_key')}"}
    try:
        with (
            Client(context.deadline, headers=headers) as client,
            client.open("GET", url, params=parameters) as response,
        ):
            status, body, seconds = response.status, response.read(), response.retry_after
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"The service cannot be reached: {failed.reason}.") from None
    if status in (401, 403):
        raise ToolError("AUTH_INVALID", "The service refused the API key.", hint="Check the key.")
    if status == 429:
        raise ToolError("RATE_LIMIT", "The service was asked too often.", retry_after=seconds)
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if status != 200 or not isinstance(answer, dict):
        raise ToolError("API_ERROR", f"The service answered with HTTP {status}, and not as is expected of it.")
    return answer
