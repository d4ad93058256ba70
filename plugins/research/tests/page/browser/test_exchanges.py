"""What pages in the browser ask other servers for, which of it is sent, and who may read the answers."""

from collections.abc import Callable

import pytest

from ferrule_dev.testing import Exchange
from ferrule_research.page.browser.rendition import Rendition
from ferrule_testkit.web.fake_internet import Internet

pytestmark = [pytest.mark.process, pytest.mark.slow]

Render = Callable[..., Rendition]

PAGE = "http://page.example/"
API = "http://api.example/words"
TRY = """
<script>
  const say = (text) => document.body.append(Object.assign(document.createElement("p"), {textContent: text}));
  const ask = (url, options) => fetch(url, options).then(async (it) => say(`${it.status} ${await it.text()}`),
    () => say("refused"));
  %s
</script>"""


def answer_with(status: int = 200, body: bytes = b"words", **headers: str) -> Callable[[Exchange], None]:
    """A route. headers: with `_` for `-`."""

    def answer(exchange: Exchange) -> None:
        exchange.read_body()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        exchange.answer(body, "application/json", status=status, headers=named)

    return answer


def said(render: Render, script: str, url: str = PAGE) -> str:
    written = render(url, TRY % script)
    return written.html


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [("*", "200 words"), ("http://page.example", "200 words"), ("http://other.example", "refused"), ("", "refused")],
)
def test_the_server_decides_whether_a_page_of_another_one_reads_its_answer(
    render: Render, internet: Internet, allowed: str, expected: str
) -> None:
    internet.server.route("/words", answer_with(Access_Control_Allow_Origin=allowed))
    assert f"<p>{expected}</p>" in said(render, f"ask('{API}')")
    assert [one.headers.get("origin") for one in internet.server.requests] == ["http://page.example"]


def test_a_page_sends_its_own_headers_and_reads_those_of_an_answer(render: Render, internet: Internet) -> None:
    internet.server.route("/words", answer_with(X_Total="12", Set_Cookie="a=b; SameSite=None", Link="</more>"))
    script = """fetch("/words", {headers: {"X-Api-Key": "k", "Accept": "a/b", "User-Agent": "x"}}).then((it) =>
      say(`total ${it.headers.get("x-total")}, link ${it.headers.get("link")}, cookies ${document.cookie}.`))"""
    assert "total 12, link null, cookies ." in said(render, script)
    headers = internet.server.requests[0].headers
    assert (headers["x-api-key"], headers["accept"], headers.get("cookie")) == ("k", "a/b", None)
    assert "ferrule" in headers["user-agent"]
    assert not [name for name in headers if name.startswith("sec-")]


def test_a_page_sends_to_its_own_server(render: Render, internet: Internet) -> None:
    internet.server.route("/words", answer_with())
    script = "ask('/words', {method: 'POST', body: new URLSearchParams({a: 1})})"
    assert "<p>200 words</p>" in said(render, script)
    assert [(one.method, one.body) for one in internet.server.requests] == [("POST", b"a=1")]


def test_a_page_sends_to_another_server_only_what_that_has_agreed_to(render: Render, internet: Internet) -> None:
    def answer(exchange: Exchange) -> None:
        body = exchange.read_body()
        agreed = {"Access-Control-Allow-Headers": "content-type"} if exchange.path == "/words" else {}
        exchange.answer(body or b"-", "text/plain", headers={"Access-Control-Allow-Origin": "*"} | agreed)

    internet.server.route("*", answer)
    script = """
      const json = {method: "POST", headers: {"content-type": "application/json"}, body: '{"query": 1}'};
      ask("http://api.example/words", json);
      ask("http://api.example/strict", json);"""
    html = said(render, script)
    assert '<p>200 {"query": 1}</p>' in html
    assert "<p>refused</p>" in html
    asked = sorted((one.method, one.target) for one in internet.server.requests)
    assert asked == [("OPTIONS", "/strict"), ("OPTIONS", "/words"), ("POST", "/words")]


@pytest.mark.parametrize(
    "script",
    [
        "ask('http://api.example/x', {method: 'POST', body: 'a=1'})",
        "ask('http://api.example/x', {method: 'POST', body: 'a=1', mode: 'no-cors'})",
        "ask('http://api.example/x', {method: 'POST', body: new FormData(), mode: 'no-cors'})",
        "ask('/x', {method: 'DELETE'})",
        "ask('/x', {method: 'PUT', body: '1'})",
        "ask('http://api.example/x', {method: 'PATCH', body: '1'})",
        "ask('/x', {method: 'POST', body: 'x'.repeat(300_000)})",
        "navigator.sendBeacon('/x', 'a=1'); say('refused')",
        "navigator.sendBeacon('http://api.example/x', new Blob(['1'], {type: 'application/json'})); say('refused')",
        "document.body.innerHTML = '<form method=post action=/x>'; document.forms[0].submit(); say('refused')",
        "document.body.innerHTML = '<form method=post action=http://api.example/x target=_blank>';"
        "document.forms[0].submit(); say('refused')",
        "document.body.innerHTML = '<iframe name=f></iframe><form method=post action=/x target=f>';"
        "document.forms[0].submit(); say('refused')",
    ],
)
def test_nothing_else_is_sent_to_anybody(render: Render, internet: Internet, script: str) -> None:
    assert "<p>refused</p>" in said(render, script)
    assert [one for one in internet.server.requests if one.method not in ("GET", "OPTIONS")] == []


def test_a_redirect_is_followed_by_the_browser_and_judged_again(render: Render, internet: Internet) -> None:
    internet.resolve({"inside.example": [["10.0.0.1"]]})
    internet.server.redirect("/away", "http://other.example/words")
    internet.server.redirect("/in", "http://inside.example/words")
    internet.server.route("/words", answer_with(Access_Control_Allow_Origin="*"))
    html = said(render, "fetch('/away').then((it) => say(it.url)); ask('/in')")
    assert "<p>http://other.example/words</p>" in html
    assert "<p>refused</p>" in html
    assert set(internet.connected) == {"93.184.215.14"}


def test_sheets_and_pictures_are_there_for_scripts_that_wait_for_them(render: Render, internet: Internet) -> None:
    script = """
      const link = Object.assign(document.createElement("link"), {rel: "stylesheet", crossOrigin: "", href:
        "http://cdn.example/app.css"});
      link.onload = () => say("the sheet is there");
      document.head.append(link);
      const image = new Image();
      image.onload = () => say("the picture is there");
      image.src = "/photo.jpg";
      document.fonts.load("1em Arial").then(() => say("fonts are there"));"""
    html = said(render, script)
    assert [word for word in ("sheet", "picture") if f"the {word} is there" not in html] == []
    assert internet.server.requests == []


def test_a_script_that_leads_to_another_page_gives_that_page(render: Render, internet: Internet) -> None:
    internet.server.page("/new", "<h1>The new page</h1><a href=more>more</a>")
    internet.server.redirect("/old", "http://other.example/new")
    written = render(PAGE, "<script>location = '/old'</script>")
    assert written.url == "http://other.example/new"
    assert '<h1>The new page</h1><a href="http://other.example/more">more</a>' in written.html


@pytest.mark.parametrize(
    "script",
    [
        "history.pushState({}, '', '/forged')",
        "try { history.pushState({}, '', 'https://bank.example/') } catch {}",
        "location = 'http://inside.example/'",
        "location = 'file:///etc/hostname'",
        "location = 'chrome://version'",
        "location = 'view-source:http://page.example/'",
        "location = 'data:text/html,forged'",
        "location = '/missing'",
        "location = 'javascript:void 0'",
        "addEventListener('beforeunload', (event) => event.preventDefault()); location = 'http://inside.example/'",
    ],
)
def test_a_page_stays_what_it_is_and_where_it_is_from(render: Render, internet: Internet, script: str) -> None:
    internet.resolve({"inside.example": [["10.0.0.1"]]})
    internet.server.page("/missing", "gone", status=404)
    written = render(PAGE, f"<p>The page itself</p><script>{script}</script>")
    assert (written.url, "The page itself" in written.html) == (PAGE, True)


def test_no_file_of_this_machine_is_shown(render: Render, internet: Internet) -> None:
    script = """
      for (const url of ["file:///etc/passwd", "view-source:file:///etc/passwd", "filesystem:file:///etc/passwd"]) {
        ask(url);
        for (const name of ["iframe", "object", "embed", "script", "img"]) {
          const made = document.createElement(name);
          made[name === "object" ? "data" : "src"] = url;
          document.body.append(made);
        }
        const request = new XMLHttpRequest();
        try { request.open("GET", url); request.onload = () => say(request.responseText); request.send() } catch {}
      }
      import("file:///etc/passwd").catch(() => say("refused"));
      say(document.body.innerText);"""
    html = said(render, script)
    assert "<p>refused</p>" in html
    assert "root:" not in html


def test_robots_txt_decides_of_documents_and_not_of_their_parts(
    render: Render, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ROBOTS", "true")
    internet.server.page("/robots.txt", "User-agent: *\nDisallow: /closed", "text/plain")
    internet.server.route("/closed/data", answer_with())
    script = """
      for (const src of ["/closed/frame", "/open/frame"])
        document.body.append(Object.assign(document.createElement("iframe"), {src}));
      ask("/closed/data");"""
    assert "<p>200 words</p>" in said(render, script)
    asked = {one.target for one in internet.server.requests}
    assert asked == {"/robots.txt", "/open/frame", "/closed/data"}
