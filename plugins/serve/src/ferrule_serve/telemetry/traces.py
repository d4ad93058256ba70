"""A span for each call, by OpenTelemetry's conventions for generative AI, where its SDK is installed.

`execute_tool NAME` with `gen_ai.operation.name`, `gen_ai.tool.name`, `gen_ai.tool.type`, and for a failure
`error.type`. Nothing of the arguments or results is in it. The exporter is that of OTLP over HTTP, which the variables
OTEL_EXPORTER_* configure; it is used where one of them names an endpoint. Started by `opentelemetry-instrument`, spans
go where that says.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ferrule_serve.telemetry import trace_context

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from ferrule_serve.pool import CallAnswer

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_API = "opentelemetry.trace"
_PROVIDER = "OTEL_PYTHON_TRACER_PROVIDER"  # by it, the API finds a provider itself


def is_wanted() -> bool:
    """Whether spans go anywhere: an endpoint is named, or another program has set a provider."""
    return any(map(os.environ.get, _ENDPOINTS)) or _has_provider()


def configure() -> str | None:
    """Export spans to the endpoint that is named. What is missing for that, as a sentence; None where nothing is."""
    if _has_provider() or not any(map(os.environ.get, _ENDPOINTS)):
        return None
    if not all(map(_is_there, ("opentelemetry.sdk.trace", _EXPORTER))):
        from ferrule.cli import install_command

        return f"No traces: run `{install_command('ferrule-serve[traces]')}`."
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME", "ferrule")
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return None


def shut_down() -> None:
    """Send what has not been sent."""
    if not _has_provider():
        return
    from opentelemetry import trace

    stop = getattr(trace.get_tracer_provider(), "shutdown", None)
    if stop is not None:
        stop()


def start(tool: str, by: str, received: int) -> _TracedCall:
    """Begin a span, a child of the one that the request names, else of the server's. It is a `Recorder` of a pool."""
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    said = trace_context.CURRENT.get()
    # What is no trace leaves the span in the one that it would be in without.
    context = TraceContextTextMapPropagator().extract(said) if said else None

    attributes: dict[str, str | int] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "extension",
        "ferrule.asked_by": by,
        "ferrule.arguments.bytes": received,
    }
    span = trace.get_tracer("ferrule").start_span(f"execute_tool {tool}", context, attributes=attributes)
    return _TracedCall(span)


class _TracedCall:
    def __init__(self, span: Span) -> None:
        self._span = span

    def finish(self, answer: CallAnswer | None) -> None:
        code = "cancelled" if answer is None else (answer.code or "UNKNOWN") if answer.is_error else ""
        if code:
            from opentelemetry.trace import StatusCode

            self._span.set_attribute("error.type", code)
            self._span.set_status(StatusCode.ERROR)
        if answer is not None:
            self._span.set_attribute("ferrule.result.bytes", len(answer.document))
        self._span.end()


def _has_provider() -> bool:
    """Whether a provider is set. It is by whoever has imported the API, which is installed with an extra alone."""
    if _API not in sys.modules and (_PROVIDER not in os.environ or not _is_there(_API)):
        return False
    from opentelemetry import trace

    return not type(trace.get_tracer_provider()).__name__.startswith("Proxy")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False
