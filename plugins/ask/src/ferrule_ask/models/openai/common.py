"""What OpenAI's APIs have in common: errors, limits, and the names of what they count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ferrule.http import parse_unsigned
from ferrule_ask import typed_answers
from ferrule_ask.cost.prices import Tokens
from ferrule_ask.models.dialogue import ServerError
from ferrule_ask.models.json_text import get_object, get_text, get_tokens
from ferrule_ask.pace.stated_limits import StatedLimit

if TYPE_CHECKING:
    from ferrule.schema.providers import ProviderFormat
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.dialogue import Dialogue, Response

_CODES = {
    "insufficient_quota": "BILLING",
    "billing_hard_limit_reached": "BILLING",
    "context_length_exceeded": "CONTEXT_WINDOW",
    "model_not_found": "MODEL_NOT_FOUND",
    "DeploymentNotFound": "MODEL_NOT_FOUND",
    "invalid_api_key": "AUTH_INVALID",
    "content_policy_violation": "REFUSAL",
    "content_filter": "REFUSAL",
}
_CONTEXT_PHRASES = ("maximum context length", "context window", "context length")
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MINUTE_SECONDS = 60.0
_LEAST_SHARE = 0.5  # of a limit that a minute fills again; where it is less, the limit is of an hour or a day
_SCHEMA_NAME = "answer"


def read_error(response: Response, document: JSONMapping) -> ServerError:
    """The `error` of a body, or what servers of others have in its place: a text, or `message` and `detail` alone."""
    error = document.get("error")
    facts = error if isinstance(error, dict) else document
    said = get_text(facts, "message") or get_text(facts, "detail") or (error if isinstance(error, str) else "")
    kind = get_text(facts, "code") or get_text(facts, "type") or ""
    code = _CODES.get(kind, "")
    if not code and response.status in (400, 413) and any(words in said.lower() for words in _CONTEXT_PHRASES):
        code = "CONTEXT_WINDOW"
    if not code and response.status == 404 and "model" in said.lower():
        code = "MODEL_NOT_FOUND"
    return ServerError(kind, said, code, response.headers.get("x-request-id"))


def read_limits(headers: Mapping[str, str]) -> Iterator[StatedLimit]:
    """The limits for a minute; those that are filled again in a longer time count once nothing is left.

    >>> named = {"limit-requests": "60", "remaining-requests": "59", "reset-requests": "1s"}
    >>> list(read_limits({f"x-ratelimit-{name}": value for name, value in named.items()}))
    [StatedLimit(name='requests', limit=60.0, left=59.0)]
    """
    for name in ("requests", "tokens"):
        limit = parse_unsigned(headers.get(f"x-ratelimit-limit-{name}", ""))
        left = parse_unsigned(headers.get(f"x-ratelimit-remaining-{name}", ""))
        if not limit or left is None:
            continue
        seconds = _duration(headers.get(f"x-ratelimit-reset-{name}", ""))
        per_minute = (limit - left) / seconds * _MINUTE_SECONDS if seconds else float(limit)
        if left <= 0 or left >= limit or per_minute >= limit * _LEAST_SHARE:
            yield StatedLimit(name, float(limit), float(left))


def read_usage(document: JSONMapping, given: str, written: str) -> Tokens | None:
    """The tokens of `usage`. given, written: its names for those of input and of output."""
    usage = get_object(document, "usage")
    all_input, output = get_tokens(usage, given), get_tokens(usage, written)
    if all_input is None or output is None:
        return None
    cached = min(all_input, get_tokens(get_object(usage, f"{given}_details"), "cached_tokens") or 0)
    return Tokens(all_input - cached, 0, cached, output)


def offer_tools(form: ProviderFormat, dialogue: Dialogue) -> JSONObject:
    """The parts of a request that are about tools; none where no tool is offered."""
    if not dialogue.offers:
        return {}
    return {
        "tools": form.tools([offer.schema for offer in dialogue.offers]),
        "tool_choice": "auto" if dialogue.may_call else "none",
        "parallel_tool_calls": False,
    }


def answer_format(schema: JSONMapping) -> JSONObject:
    """The name and the schema of an answer. Strict is only what requires all of its properties."""
    taken = typed_answers.project_schema(schema)
    return {"name": _SCHEMA_NAME, "schema": taken, "strict": _is_strict(taken)}


def _is_strict(schema: object) -> bool:
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if isinstance(properties, dict) and set(properties) != set(schema.get("required", ())):
        return False
    if schema.get("type") == "object" and not isinstance(properties, dict):
        return False
    return all(map(_is_strict, schema.values()))


def _duration(text: str) -> float:
    """Seconds of such as "6m0s" or "20ms"; 0 where it is no such text."""
    parts = _PARTS.findall(text.strip())
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
