"""What a page in the browser tries to reach, which nobody but the page has named."""

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.library import fetch
from ferrule_research.page.browser import program, rendition

pytestmark = [pytest.mark.process, pytest.mark.slow]

TARGETS = [
    "127.0.0.2:{0}",
    "localhost:{0}",
    "[::1]:{0}",
    "0.0.0.0:{0}",
    "2130706434:{0}",
    "0x7f000002:{0}",
    "127.2:{0}",
]
TARGETS += ["127.2:{0}", "[::ffff:127.0.0.2]:{0}", "127.0.0.1:{0}", "app.localhost:{0}"]
TRIES = """
  fetch("http://T/fetch", {mode: "no-cors"}).catch(() => 0);
  fetch("http://T/post", {method: "POST", body: "x", mode: "no-cors", keepalive: true}).catch(() => 0);
  fetch("/away?T").catch(() => 0);
  navigator.sendBeacon("http://T/beacon", "x");
  const request = new XMLHttpRequest(); request.open("PUT", "http://T/xhr"); request.send("x");
  for (const [tag, name] of [["img", "src"], ["script", "src"], ["iframe", "src"], ["video", "src"], ["audio", "src"],
      ["embed", "src"], ["object", "data"], ["track", "src"]])
    document.body.append(Object.assign(document.createElement(tag), {[name]: `http://T/${tag}`}));
  for (const rel of ["stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch",
      "modulepreload", "icon", "manifest"])
    document.head.append(Object.assign(document.createElement("link"), {rel, href: `http://T/${rel}`, as: "script"}));
  document.head.append(Object.assign(document.createElement("style"), {textContent:
    `@import "http://T/import"; body {background: url(http://T/css)} @font-face {font-family: f;
    src: url(http://T/font)} p {font-family: f}`}));
  const frame = document.createElement("iframe"); document.body.append(frame);
  const inner = frame.contentWindow;
  for (const it of [globalThis, inner]) {
    try { new it.WebSocket("ws://T/socket") } catch {}
    try { new it.EventSource("http://T/events") } catch {}
    try { new it.WebTransport("https://T/transport").ready.catch(() => 0) } catch {}
    try { new it.Worker(URL.createObjectURL(new Blob([
      "fetch('http://T/worker'); new WebSocket('ws://T/worker')"]))) } catch {}
    try { new it.SharedWorker("http://T/shared") } catch {}
    try {
      const peer = new it.RTCPeerConnection({iceServers: [{urls: "stun:T"},
        {urls: "turn:T?transport=tcp", username: "u", credential: "c"}]});
      peer.createDataChannel("d");
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    } catch {}
  }
  import("http://T/module.js").catch(() => 0);
  navigator.serviceWorker?.register("/worker.js").catch(() => 0);
  const form = document.createElement("form");
  Object.assign(form, {action: "http://T/form", method: "post", target: "other"});
  document.body.append(form); form.submit();
  open("http://T/window");
  Object.assign(document.createElement("a"), {href: "http://T/download", download: "x"}).click();
"""
# Each is made for itself, since a browser may not know it.
MORE_TRIES = r"""
  const add = (markup, place = document.body) => place.insertAdjacentHTML("beforeend", markup);
  const more = [
    () => add("<a id=ping href='#x' ping='http://T/ping'>x</a>") ?? document.getElementById("ping").click(),
    () => add("<svg><image href='http://T/svg'/><use href='http://T/use#a'/><feImage href='http://T/filter'/></svg>"),
    () => add("<div style='cursor:url(http://T/cursor),auto;mask:url(http://T/mask);list-style:url(http://T/list)'>x"),
    () => add("<style>div{background:image-set('http://T/set' 1x);shape-outside:url(http://T/shape)}</style>"),
    () => add("<img srcset='http://T/srcset 2x' attributionsrc='http://T/attribution'>"),
    () => add("<video poster='http://T/poster'><source src='http://T/source'></video><input type=image src='http://T/i'>"),
    () => add("<iframe srcdoc='<img src=http://T/srcdoc><script>fetch(`http://T/within`)<\/script>'></iframe>"),
    () => add("<iframe src='data:text/html,<script>fetch(`http://T/data`);new WebSocket(`ws://T/data`)<\/script>'></iframe>"),
    () => add("<iframe src='http://T/csp' csp='default-src none' credentialless></iframe><fencedframe></fencedframe>"),
    () => add("<link rel=prerender href='http://T/prerender'><link rel=alternate href='http://T/feed'>", document.head),
    () => add("<meta http-equiv=Content-Security-Policy content='img-src a.example; report-uri http://T/report'>",
      document.head),
    () => add("<meta http-equiv=refresh content='0; url=http://T/refresh'>", document.head),
    () => document.head.append(Object.assign(document.createElement("script"), {type: "speculationrules", textContent:
      '{"prefetch":[{"source":"list","urls":["http://T/speculation"]}],"prerender":[{"urls":["http://T/pre"]}]}'})),
    () => { const it = new XMLHttpRequest(); it.open("GET", "http://T/sync", false); it.send() },
    () => new AudioContext().audioWorklet.addModule("http://T/worklet").catch(() => 0),
    () => CSS.paintWorklet?.addModule("http://T/paint").catch(() => 0),
    () => fetchLater("http://T/later", {activateAfter: 0}),
    () => new PaymentRequest([{supportedMethods: "http://T/pay"}], {total: {label: "x", amount: {currency: "EUR",
      value: "1"}}}).canMakePayment().catch(() => 0),
    () => navigator.credentials.get({identity: {providers: [{configURL: "http://T/fedcm", clientId: "x"}]}}).catch(
      () => 0),
    () => navigator.joinAdInterestGroup({owner: "https://T", name: "x", lifetimeMs: 9_000, biddingLogicURL:
      "https://T/bid"}).catch(() => 0),
    () => sharedStorage.createWorklet("http://T/storage").catch(() => 0),
    () => new WebSocketStream("ws://T/stream").opened.catch(() => 0),
    () => new TCPSocket("127.0.0.2", PORT).opened.catch(() => 0),
    () => open("ftp://T/ftp"), () => open("blob:http://T/x"), () => open("ws://T/x"),
    () => navigation.navigate("http://T/navigation").committed.catch(() => 0),
    () => document.implementation.createHTMLDocument().body.insertAdjacentHTML("beforeend", "<img src=http://T/inert>"),
    () => new DOMParser().parseFromString("<!DOCTYPE a SYSTEM 'http://T/dtd'><a/>", "text/xml"),
    () => { const it = new XSLTProcessor(); it.importStylesheet(new DOMParser().parseFromString(`<xsl:stylesheet
      version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:import href="http://T/xslt"/>
      <xsl:template match="/"><xsl:copy-of select="document('http://T/document')"/></xsl:template></xsl:stylesheet>`,
      "text/xml")); it.transformToFragment(document, document) },
    () => { const it = document.createElement("iframe"); it.src = URL.createObjectURL(new Blob([
      "<script>fetch('http://T/blob')<\/script><img src=http://T/blobimg>"], {type: "text/html"}));
      document.body.append(it) },
    () => document.querySelector("iframe[srcdoc]").contentWindow.fetch("http://T/of-frame").catch(() => 0),
  ];
  for (const one of more) try { one() } catch {}
"""


class Listener:
    """Listens on one port of all addresses of this machine, and notes what comes."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.port = 0
        self._selector = selectors.DefaultSelector()
        for family, kind, host in (
            (socket.AF_INET, socket.SOCK_STREAM, "0.0.0.0"),
            (socket.AF_INET6, socket.SOCK_STREAM, "::1"),
            (socket.AF_INET, socket.SOCK_DGRAM, "0.0.0.0"),
        ):
            made = socket.socket(family, kind)
            made.bind((host, self.port))
            self.port = made.getsockname()[1]
            if kind == socket.SOCK_STREAM:
                made.listen()
            self._selector.register(made, selectors.EVENT_READ)
        self._ended, self._end = socket.socketpair()
        self._selector.register(self._ended, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while ready := [key.fileobj for key, _ in self._selector.select()]:
            if self._ended in ready:
                return
            for made in ready:
                if made.type == socket.SOCK_STREAM:  # type: ignore[union-attr] # all of them are sockets
                    accepted, _ = made.accept()  # type: ignore[union-attr] # as above
                    accepted.close()
                    self.heard.append("connection")
                else:
                    made.recv(2_000)  # type: ignore[union-attr] # as above
                    self.heard.append("datagram")

    def close(self) -> None:
        self._end.send(b"x")
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr] # as above
        self._end.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


def write_attack(server: Server, target: str) -> str:
    server.redirect("/away", f"http://{target}/away")
    server.page("/worker.js", f"fetch('http://{target}/service')", "text/javascript")
    tries = (TRIES + MORE_TRIES).replace("T/", f"{target}/").replace(":T", f":{target}").replace("?T", f"?{target}")
    tries = tries.replace("//T", f"//{target}").replace("PORT", target.rpartition(":")[2])
    saying = "document.getElementById('said').innerText = 'All is tried now. '.repeat(20)"
    return server.page("/", f"<p id=said></p><script>{tries}; {saying}</script>")


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_leads_out_of_the_browser_that_the_guard_has_not_judged(
    server: Server, make_context: Any, monkeypatch: pytest.MonkeyPatch, listener: Listener, browser: str, target: str
) -> None:
    """The kernel does not hold these calls: the browser's own walls do."""
    monkeypatch.setattr(program, "is_confined", lambda: True)  # or root could not start it
    within = make_context(seconds=30)
    page = fetch(write_attack(server, target.format(listener.port)), within)
    written = rendition.render(page, browser, within)
    assert "All is tried now." in written.html
    assert listener.heard == []
    socket.create_connection(("127.0.0.2", listener.port)).close()
    while not listener.heard:  # it hears
        threading.Event().wait(0.01)


def test_the_attacks_fail_in_a_call_of_the_executable(
    server: Server, scrape_as_installed: Callable[..., dict[str, Any]], browser: str, listener: Listener
) -> None:
    url = write_attack(server, f"127.0.0.2:{listener.port}")
    answer = scrape_as_installed(url, 'browser_use = "first"', browser=browser)
    assert "All is tried now." in answer.get("content", ""), answer
    assert answer["extractedBy"] == "browser"
    assert listener.heard == []
