"""The kinds of errors that Anthropic names where there is no response of its own: in a stream, and in a batch."""

from __future__ import annotations

STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status of a response with each kind."""
