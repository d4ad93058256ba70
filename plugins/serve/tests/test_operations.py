"""What those who run `ferrule serve` see: whether it is well, its figures, and traces of its calls."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.service import SECONDS, HttpService

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve-access")]
TOKEN = "a-token-of-some-length-4711"


@pytest.fixture
def served(machine: Machine) -> Machine:
    machine.install("greets", execute="return {'hello': 'you'}")
    failing = "from ferrule.errors import ToolError; raise ToolError('TIRED', 'Not today.')"
    machine.install("fails", execute=failing)
    return machine


def get(service: HttpService, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(service.url.replace("/mcp", path), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def call(service: HttpService, tool: str, **headers: str) -> None:
    assert service.post("tools/call", {"name": tool, "arguments": {}}, **headers)[0] == 200


@pytest.mark.slow
def test_a_balancer_learns_whether_it_is_well_and_ready_without_a_token(served: Machine) -> None:
    environment = {**served.environment, "FERRULE_SERVE_TOKEN": TOKEN}
    with HttpService(environment, "greets", work=served.work) as service:
        assert get(service, "/healthz", Host="any.name") == (200, "ok\n")
        status, answer = get(service, "/readyz")
        assert (status, json.loads(answer)) == (200, {"ready": True, "findings": []})
        assert get(service, "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 404, "--metrics is not given"


def test_a_server_without_a_tool_is_not_ready_and_says_why(machine: Machine) -> None:
    machine.install("broken", top="raise RuntimeError('no')")
    with HttpService(machine.environment, "broken", work=machine.work) as service:
        assert get(service, "/healthz")[0] == 200
        status, answer = get(service, "/readyz")
    assert (status, json.loads(answer)) == (503, {"ready": False, "findings": ["No tool is served."]})


@pytest.mark.slow
def test_prometheus_gets_calls_failures_and_times_with_the_token_alone(served: Machine) -> None:
    environment = {**served.environment, "FERRULE_SERVE_TOKEN": TOKEN}
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with HttpService(environment, "greets", "fails", "--metrics", work=served.work) as service:
        for tool in ("greets", "greets", "fails"):
            call(service, tool, **bearer)
        assert get(service, "/metrics")[0] == 401
        assert get(service, "/metrics", Host="evil.example", **bearer)[0] == 421
        status, text = get(service, "/metrics", **bearer)
    assert status == 200
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["ferrule_calls_total", "MCP", "greets", "ok"] == 2
    assert samples["ferrule_calls_total", "MCP", "failed", "fails"] == 1
    assert samples["ferrule_call_failures_total", "TIRED", "fails"] == 1
    assert samples["ferrule_call_seconds_count", "greets"] == 2
    assert samples["ferrule_calls_running",] == samples["ferrule_calls_queued",] == 0
    assert samples["ferrule_plugins_loaded",] == 2
    assert samples["process_resident_memory_bytes",] > 0


@pytest.fixture
def collector() -> Iterator[tuple[str, "Queue[ExportTraceServiceRequest]"]]:
    """A collector of OpenTelemetry on loopback: its URL, and what it gets."""
    received: Queue[ExportTraceServiceRequest] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.put(ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_each_call_is_a_span_by_the_conventions_for_generative_ai(
    served: Machine, collector: tuple[str, "Queue[ExportTraceServiceRequest]"]
) -> None:
    url, received = collector
    environment = {**served.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    with HttpService(environment, "greets", "fails", work=served.work) as service:
        for tool in ("greets", "fails"):
            call(service, tool)
    spans = {}
    while len(spans) < 2:
        for resource in received.get(timeout=SECONDS).resource_spans:
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                if span.name.startswith("execute_tool"):
                    spans[span.name] = {one.key: one.value.string_value for one in span.attributes}
    assert set(spans) == {"execute_tool greets", "execute_tool fails"}
    assert spans["execute_tool fails"]["error.type"] == "TIRED"
    assert spans["execute_tool greets"]["gen_ai.operation.name"] == "execute_tool"
    assert spans["execute_tool greets"]["gen_ai.tool.name"] == "greets"
    assert "hello" not in str(spans)


@pytest.mark.slow
def test_a_call_is_a_span_of_the_trace_that_its_request_names(
    served: Machine, collector: tuple[str, "Queue[ExportTraceServiceRequest]"]
) -> None:
    """In `_meta`, else in a header; what is no trace begins one of its own."""
    url, received = collector
    environment = {**served.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    in_header, in_meta = (f"00-{letter * 32}-{letter * 16}-01" for letter in "ab")
    greet = {"name": "greets", "arguments": {}}
    with HttpService(environment, "greets", work=served.work) as service:
        service.post("tools/call", greet, traceparent=in_header)
        service.post("tools/call", {**greet, "_meta": {"traceparent": in_meta}}, traceparent=in_header)
        service.post("tools/call", {**greet, "_meta": {"traceparent": "00-no-trace-01"}})
    spans: list[tuple[str, str]] = []
    while len(spans) < 3:
        for resource in received.get(timeout=SECONDS).resource_spans:
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                if span.name.startswith("execute_tool"):
                    spans.append((span.trace_id.hex(), span.parent_span_id.hex()))
    assert spans[:2] == [("a" * 32, "a" * 16), ("b" * 32, "b" * 16)]
    assert spans[2][1] == ""


def test_a_limit_that_is_no_number_is_told_at_the_start(served: Machine) -> None:
    path = served.home / "serve.toml"
    path.write_text('[serve]\nresult_bytes = "x"\nmedia_bytes = 1000\n')
    with HttpService({**served.environment, "FERRULE_CONFIG": str(path)}, "greets", work=served.work) as service:
        call(service, "greets")
    expected = "`result_bytes` of [serve], or FERRULE_SERVE_RESULT_BYTES, is no number of bytes, so it is 65,534."
    assert expected in service.told
    assert "media_bytes" not in service.told
