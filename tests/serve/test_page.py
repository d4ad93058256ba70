"""The page of `ferrule serve --page`, request by request: what it shows, what it refuses, what it never says."""

import base64
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from html import unescape
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

import html5lib
import httpx
import pytest

from ferrule_serve.page.form_fields import form_fields, read_arguments
from ferrule_serve.page.views import environment
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve import tools as served_tools
from ferrule_testkit.serve.service import HttpService, is_alive, wait_until
from ferrule_testkit.serve.tools import SECRET
from ferrule_testkit.web import page_tools

pytestmark = pytest.mark.process


TOKEN = "a-token-of-the-tests"


class Visitor:
    """Asks for pages as a browser does, but without a script."""

    def __init__(self, service: HttpService) -> None:
        self.base = service.url.removesuffix("/mcp")

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        answer = httpx.get(self.base + path, headers=headers, timeout=60)
        return answer.status_code, answer.text

    def send(self, tool: str, form: Mapping[str, str], **headers: str) -> tuple[int, str]:
        return self.post(tool, {"page_token": self.token(), **form}, **headers)

    def token(self) -> str:
        page = self.get("/tools/echo")[1] + self.get("/tools/waits")[1]
        return page.partition('name="page_token" value="')[2].partition('"')[0]

    def post(self, tool: str, form: Mapping[str, str], **headers: str) -> tuple[int, str]:
        sent = {"Origin": self.base, **headers}
        kept = {name: value for name, value in sent.items() if value}
        answer = httpx.post(f"{self.base}/tools/{tool}", data=form, headers=kept, timeout=60)
        return answer.status_code, answer.text

    def headers(self, path: str) -> Mapping[str, str]:
        return httpx.get(self.base + path, timeout=60).headers


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return page_tools.install(served_tools.install(Machine(tmp_path_factory.mktemp("served"))))


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=3", "--page", work=machine.work) as service:
        yield service


@pytest.fixture(scope="module")
def visitor(service: HttpService) -> Visitor:
    return Visitor(service)


@pytest.mark.slow
def test_all_tools_are_shown_those_that_cannot_be_used_with_the_reason(visitor: Visitor) -> None:
    status, page = visitor.get("/")
    assert status == 200
    assert 'href="tools/echo"' in page
    assert '<span class="state bad">broken</span>' in page
    assert "broken of dist-broken 1.0 cannot be loaded: ImportError: it cannot be." in page
    assert "dist-echo 1.0" in page


def test_a_tool_has_a_page_with_its_findings_its_schema_and_a_form(visitor: Visitor) -> None:
    status, page = visitor.get("/tools/kinds")
    assert status == 200
    assert "unused-default" in page
    assert "/parameters/properties/count/default" in page
    assert '"additionalProperties": false' in unescape(page)
    assert 'name="argument.topic"' in page
    assert '<option value=""de"">de</option>' in unescape(page)


def test_a_tool_that_cannot_be_used_has_a_page_and_no_form(visitor: Visitor) -> None:
    status, page = visitor.get("/tools/broken")
    assert status == 200
    assert "it cannot be" in page
    assert "<form" not in page
    token = visitor.token()
    status, page = visitor.post("broken", {"page_token": token})
    assert status == 404
    assert "is not served" in page


@pytest.mark.parametrize("path", ["/tools/none", "/none", "/page/..%2fapplication.py", "/page/none.css", "/tools/a/b"])
def test_what_is_not_there_is_not_found(path: str, visitor: Visitor) -> None:
    status, page = visitor.get(path)
    assert status == 404
    assert "All tools" in page


def test_a_form_that_is_sent_without_a_script_calls_the_tool(visitor: Visitor) -> None:
    form = {"argument.topic": "a\r\nb", "argument.count": "3", "argument.deep": "true", "argument.places": '["x"]'}
    status, page = visitor.send("kinds", {**form, "argument.code": "", "argument.language": '"de"'})
    assert status == 200
    assert answer_in(page) == {
        "got": {"topic": "a\nb", "count": 3, "deep": True, "places": ["x"], "language": "de"},
    }
    assert "a\nb</textarea>" in page.replace("\r\n", "\n")
    assert "selected>de</option>" in page


def answer_in(page: str) -> object:
    text = page.partition("<h3>Document</h3>")[2].partition('aria-label="Document">\n')[2].partition("</pre>")[0]
    return json.loads(unescape(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "form", "sent"),
    [
        ("kinds", {"argument.count": "many"}, {"count": "many"}),
        ("kinds", {"argument.topic": "t", "argument.share": "1e999"}, {"topic": "t", "share": "1e999"}),
        ("kinds", {"json": '{"topic": 1}'}, {"topic": 1}),
    ],
)
def test_arguments_that_are_wrong_have_the_findings_of_the_executable(
    tool: str, form: dict[str, str], sent: object, visitor: Visitor, machine: Machine
) -> None:
    _, page = visitor.send(tool, form)
    document = machine.ferrule("run", tool, json.dumps(sent)).document
    assert document["error_code"] == "INVALID_INPUT"
    assert answer_in(page) == document


def test_text_that_is_no_json_is_an_answer_too(visitor: Visitor) -> None:
    status, page = visitor.send("kinds", {"json": "{"})
    assert status == 200
    assert answer_in(page)["error_code"] == "INVALID_INPUT"  # type: ignore[index] # the answer is JSON


@pytest.mark.parametrize("form", [{}, {"json": '{"fail": true}'}])
def test_no_credential_is_on_the_page(form: dict[str, str], visitor: Visitor) -> None:
    _, page = visitor.send("leaks", form)
    assert "the key is" in page
    assert "printed" in page
    assert SECRET not in page
    assert SECRET not in visitor.get("/")[1]


def test_calls_of_all_clients_are_shown_without_what_was_in_them(service: HttpService, visitor: Visitor) -> None:
    private = "a-private-thing"
    assert service.post("tools/call", {"name": "echo", "arguments": {"text": private}})[0] == 200
    visitor.send("echo", {"argument.text": private})
    visitor.send("fails", {})
    page = visitor.get("/")[1]
    rows = re.findall(r'<tr role="row".*?</tr>', visitor.get("/calls")[1], re.DOTALL)
    texts = [re.sub("<[^>]*>", " ", row).split() for row in rows]
    assert texts[1][1:4] == ["fails", "failed", "NO_LUCK"]
    assert texts[2][1:3] == texts[3][1:3] == ["echo", "ok"]
    assert [text[-1] for text in texts[1:4]] == ["page", "page", "MCP"]
    assert texts[3][-5:-1] == ["26", "B", "34", "B"]
    assert private not in page
    assert private not in visitor.get("/calls")[1]


REFUSED: list[dict[str, str]] = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://localhost:["},
    {"Origin": ""},
]


@pytest.mark.parametrize("headers", REFUSED, ids=str)
def test_a_form_of_another_page_calls_nothing(headers: dict[str, str], visitor: Visitor, machine: Machine) -> None:
    mark = machine.work / "refused"
    status, _ = visitor.send("waits", {"argument.mark": str(mark)}, **headers)
    assert status == 403
    assert not mark.exists()


@pytest.mark.parametrize("token", ["", "x", "ä"])
def test_a_form_without_the_token_of_the_page_calls_nothing(token: str, visitor: Visitor) -> None:
    status, page = visitor.post("echo", {"page_token": token, "argument.text": "x"})
    assert status == 403
    assert "Load the page again" in page


def test_a_name_that_was_rebound_is_refused(visitor: Visitor) -> None:
    assert visitor.get("/", Host="evil.example")[0] == 421
    assert visitor.get("/", Origin="http://evil.example")[0] == 403


@pytest.mark.slow
def test_a_form_that_is_too_large_is_refused(visitor: Visitor) -> None:
    assert visitor.send("echo", {"argument.text": "x" * (5 << 20)})[0] == 413
    assert visitor.send("echo", {f"field{number}": "x" for number in range(2000)})[0] == 400


@pytest.mark.slow
def test_every_answer_forbids_what_the_page_does_not_need(visitor: Visitor) -> None:
    for path in ("/", "/tools/hostile", "/page/page.js", "/page/page.css", "/page/icon.svg"):
        headers = visitor.headers(path)
        policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/tools/hostile", "/tools/hostile_name", "/tools/hostile_error", "/none<b>"])
def test_texts_of_a_plugin_are_texts(path: str, visitor: Visitor) -> None:
    page = visitor.get(path)[1]
    assert_inert(page)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["hostile", "hostile_failure", "hostile_name"])
def test_answers_of_a_plugin_are_texts(tool: str, visitor: Visitor) -> None:
    page = visitor.send(tool, {"json": json.dumps({"text": page_tools.HOSTILE})})[1]
    assert "Document" in page
    assert_inert(page)
    assert_inert(visitor.get("/calls")[1])


ELEMENTS = {
    *("html", "head", "meta", "title", "link", "script", "body", "header", "main", "a", "p", "h1", "h2", "h3", "div"),
    *("span", "bdi", "code", "pre", "time", "section", "details", "summary", "form", "label", "input", "select"),
    *(
        "option",
        "textarea",
        "button",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "h4",
        "ul",
        "li",
        "progress",
    ),
}


def assert_inert(page: str) -> None:
    """Whether a browser finds nothing in the page but what the page's own code puts there."""
    found = list(html5lib.parse(page, namespaceHTMLElements=False).iter())
    assert {one.tag for one in found} <= ELEMENTS
    assert [one.text for one in found if one.tag == "script"] == [None]
    assert not [name for one in found for name in one.attrib if name.startswith("on") or name == "style"]
    assert not [one for one in found if one.get("href", "").startswith(("javascript", "data"))]
    assert "owned" not in "".join(one.text or "" for one in found if one.tag in ("script", "title"))
    assert "\u202e" not in "".join(one.text or "" for one in found)


@pytest.mark.parametrize(
    "template",
    ["{{ text }}", "<p class='{{ text }}'>", "{% macro m(t) %}{{ t }}{% endmacro %}{{ m(text) }}", "{{ text[1:] }}x"],
)
def test_whatever_a_template_writes_is_escaped_and_visible(template: str) -> None:
    written = environment.from_string(template).render(text="<b>\u202e\x07\x7f\u2069\r\n")
    assert "&lt;U+202E&gt;\u2407&lt;U+007F&gt;&lt;U+2069&gt;\n" in written
    assert not [letter for letter in ("<b>", "\u202e", "\x07", "\x7f", "\u2069", "\r") if letter in written]


def test_only_values_of_forms_are_written_as_they_are() -> None:
    """No template has another way around what makes characters visible, and none leaves a text as markup."""
    templates = {one.name: one.read_text() for one in (files("ferrule_serve.page") / "templates").iterdir()}
    assert len(templates) == 7
    values = {name for name, text in templates.items() if "as_value" in text}
    assert values == {"index.html", "tool.html"}
    for text in templates.values():
        expressions = re.findall(r"{{.*?}}|{%.*?%}", text, re.DOTALL)
        assert not [one for one in expressions if re.search(r"\|\s*(safe|e|escape|forceescape|tojson)\b|~", one)]
    assert environment.from_string("{{ text|as_value }}").render(text='"\u202e') == "&#34;\u202e"


def test_a_call_whose_visitor_leaves_ends_with_all_that_it_started(visitor: Visitor, machine: Machine) -> None:
    mark = machine.work / "left"
    token = visitor.token()
    body = urlencode({"page_token": token, "argument.mark": str(mark)}).encode()
    host, _, port = visitor.base.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /tools/waits HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {visitor.base}\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        wait_until(mark.exists, "the call's beginning")
        assert "running" in visitor.get("/calls")[1]
    for process in map(int, mark.read_text().split()):
        wait_until(lambda process=process: not is_alive(process), "the end of the call's processes")
    wait_until(lambda: "cancelled" in visitor.get("/calls")[1], "the outcome")


@pytest.mark.slow
def test_with_a_token_a_browser_asks_for_it_and_gives_it_as_a_password(machine: Machine) -> None:
    environment = {**machine.environment, "FERRULE_SERVE_TOKEN": TOKEN}
    with HttpService(environment, "echo", "--page", work=machine.work) as service:
        visitor = Visitor(service)
        basic = {"Authorization": "Basic " + base64.b64encode(f"anyone:{TOKEN}".encode()).decode()}
        wrong = {"Authorization": "Basic " + base64.b64encode(f"anyone:{TOKEN}x".encode()).decode()}
        for path in ("/", "/tools/echo", "/calls", "/page/page.js"):
            assert visitor.get(path)[0] == visitor.get(path, **wrong)[0] == 401
            assert visitor.get(path, Authorization="Basic !")[0] == 401
            assert visitor.get(path, **basic)[0] == visitor.get(path, Authorization=f"Bearer {TOKEN}")[0] == 200
        assert visitor.headers("/")["WWW-Authenticate"].startswith("Basic realm=")
        assert visitor.post("echo", {})[0] == 401
        assert service.post("tools/list", {}, Authorization=f"Bearer {TOKEN}")[0] == 200
        assert service.post("tools/list", {}, **basic)[0] == 401
        assert TOKEN not in visitor.get("/tools/echo", **basic)[1] + visitor.get("/", **basic)[1] + service.told


@pytest.mark.slow
def test_there_is_no_page_unless_it_is_asked_for(machine: Machine) -> None:
    with HttpService(machine.environment, "echo", work=machine.work) as service:
        assert Visitor(service).get("/")[0] == 404
        assert "page" not in service.told
    ended = machine.ferrule("serve", "--page")
    assert ended.code == 2
    assert "--page, --metrics and --sessions are for --http" in ended.err


@pytest.mark.slow
def test_a_server_that_is_stopped_answers_the_form_that_is_running(machine: Machine) -> None:
    mark = machine.work / "finished"
    pages: list[tuple[int, str]] = []
    with HttpService(machine.environment, "waits", "--page", work=machine.work) as service:
        visitor = Visitor(service)
        sending = threading.Thread(
            target=lambda: pages.append(visitor.send("waits", {"argument.mark": str(mark)})), daemon=True
        )
        sending.start()
        wait_until(mark.exists, "the call's beginning")
        service.process.terminate()
        Path(f"{mark}.go").touch()
        sending.join(60)
        assert service.process.wait(60) == 0
    assert pages[0][0] == 200
    assert answer_in(pages[0][1]) == {"waited": True}


def test_a_form_is_made_of_any_schema() -> None:
    odd = {
        "properties": {
            "any": {},
            "null": {"type": ["string", "null"], "maxLength": 9},
            "two": {"type": ["string", "integer"]},
            "ref": {"$ref": "#/x"},
            "listed": {"enum": [1, "1", None]},
            "no": True,
        },
        "required": "any",
    }
    kinds = {field.name: field.kind for field in form_fields(odd)}
    assert kinds == {"any": "json", "null": "line", "two": "json", "ref": "json", "listed": "choice", "no": "json"}
    assert form_fields({}) == form_fields({"properties": []}) == []
    form = {f"argument.{name}": "1" for name in ("any", "null", "two", "ref", "listed")}
    assert json.loads(read_arguments(odd, form)) == {"any": 1, "null": "1", "two": 1, "ref": 1, "listed": 1}
    assert json.loads(read_arguments(odd, {"argument.listed": '"1"', "argument.unknown": "x"})) == {"listed": "1"}


def test_the_page_is_no_part_of_serving_without_it() -> None:
    names = ("ferrule_serve.commands.serve", "ferrule_serve.mcp.lifecycle", "ferrule_serve.mcp.http.server")
    code = f"import sys, {', '.join(names)}; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert "ferrule_serve.mcp.http.server" in modules
    assert [name for name in modules if name.startswith("ferrule_serve.page")] == []
