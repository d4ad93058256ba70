"""Pages that want too much of the browser, and what is left of it afterwards."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Exchange, Server
from ferrule_research.page.browser import program, rendition
from ferrule_research.page.browser.rendition import Rendition
from ferrule_testkit.web.fake_internet import Internet

pytestmark = [pytest.mark.process, pytest.mark.slow]

Render = Callable[..., Rendition]
Scrape = Callable[..., dict[str, Any]]

PAGE = "http://page.example/"
WORDS = "The page has said this before it did what it did, and a reader has to have it."


@pytest.mark.parametrize(
    "script",
    [
        "for (;;);",
        "setInterval(() => { for (;;); });",
        "for (;;) alert('x');",
        "for (;;) { const it = new XMLHttpRequest(); it.open('GET', '/x', false); try { it.send() } catch {} }",
        "Promise.resolve().then(function again() { return Promise.resolve().then(again) });",
        "addEventListener('beforeunload', () => { for (;;); });",
        "setInterval(() => location.hash += 'x', 1);",
        "for (let i = 0; i < 500; i++) document.body.append(document.createElement('iframe'));",
        "document.querySelectorAll = () => { for (;;); }; Element.prototype.attributes = 3;",
    ],
)
def test_a_page_that_keeps_the_browser_busy_is_read_as_far_as_it_came(
    render: Render, internet: Internet, script: str
) -> None:
    html = f"<p>{WORDS}</p><script>setTimeout(() => {{ {script} }}, 50)</script>"
    internet.server.page("/", html)
    written = render(PAGE, html, seconds=20)
    assert WORDS in written.html


def test_a_dialog_is_closed(render: Render, internet: Internet) -> None:
    script = "alert(1); const is = [confirm(2), prompt(3)]; document.body.append(`behind it: ${is}`)"
    written = render(PAGE, f"<script>{script}</script>")
    assert "behind it: false," in written.html


def test_an_answer_that_never_ends_does_not_keep_the_page(render: Render, internet: Internet) -> None:
    internet.server.route("/x", lambda exchange: exchange.drip(b"x"))
    began = time.monotonic()
    render(PAGE, f"<p>{WORDS}</p><script>fetch('/x')</script>", seconds=60)
    assert time.monotonic() - began < rendition.MAX_SECONDS


def test_what_is_asked_for_again_and_again_does_not_keep_the_page(render: Render, internet: Internet) -> None:
    internet.server.page("/x", "words")
    script = "setInterval(() => { fetch('/x'); new Image().src = '/x?' + Math.random() }, 100)"
    render(PAGE, f"<p>{WORDS}</p><script>{script}</script>", seconds=60)
    assert len(internet.server.requests) < 60


def test_a_long_page_is_read_to_a_limit_and_said_to_go_on(
    render: Render, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendition, "MAX_CHARS", 10_000)
    written = render(PAGE, f"<p>{WORDS}</p>" + "<p>more</p>" * 2_000)
    assert (WORDS in written.html, written.is_whole, len(written.html)) == (True, False, 10_000)


def test_a_deep_page_is_read(render: Render, internet: Internet) -> None:
    script = f"""let at = document.body; for (let i = 0; i < 2_000; i++) at = at.appendChild(
      document.createElement("div")); at.textContent = "{WORDS}";"""
    written = render(PAGE, f"<script>{script}</script>")
    assert WORDS in written.html


def test_shadow_trees_stand_where_they_are_shown(render: Render, internet: Internet) -> None:
    source = """
      <my-card><b slot=name>The name</b>, the words</my-card>
      <my-list><template shadowrootmode=open><style>p {color: red}</style><p>declared</p><slot></slot></template>
        <i>last</i></my-list>
      <template><p>of no use</p></template>
      <script>
        customElements.define("my-card", class extends HTMLElement {
          connectedCallback() {
            this.attachShadow({mode: "open"}).innerHTML =
              "<h2><slot name=name></slot></h2><my-part></my-part><slot>none</slot>";
          }
        });
        customElements.define("my-part", class extends HTMLElement {
          connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>within <slot>its own</slot></p>"; }
        });
      </script>"""
    written = render(PAGE, source)
    assert (
        '<my-card><h2><b slot="name">The name</b></h2><my-part><p>within its own</p></my-part>, the words</my-card>'
        in written.html
    )
    assert "<p>declared</p>" in written.html
    assert written.html.index("declared") < written.html.index("<i>last</i>")
    assert "of no use" not in written.html
    assert "color: red" not in written.html


def test_what_is_written_is_the_same_page_for_a_parser(render: Render, internet: Internet) -> None:
    script = """
      document.body.innerHTML = "<pre>\\n\\nline</pre>" +
        "<a href='/x?a=1&amp;b=2' title='&quot;<'>1 &lt; 2</a><xmp><b></xmp>";
      document.body.append(Object.assign(document.createElement("script"), {type: "application/ld+json",
        textContent: '{"name": "</scr' + 'ipt><p>forged"}'}));
      document.body.append(Object.assign(document.createElement("style"), {textContent: "</style><p>forged"}));"""
    written = render(PAGE, f"<script>{script}</script>")
    assert (
        '<pre>\n\nline</pre><a href="http://page.example/x?a=1&amp;b=2" title="&quot;&lt;">1 &lt; 2</a>'
        "<pre>\n&lt;b&gt;</pre>" in written.html
    )
    assert '{"name": "<\\/script><p>forged"}</script><style></style>' in written.html


def test_nothing_is_kept_from_one_page_to_the_next(render: Render, internet: Internet) -> None:
    script = """(async () => {
      const say = (text) => document.body.append(Object.assign(document.createElement("p"), {textContent: text}));
      say(`found: ${document.cookie}${localStorage.length}${(await caches?.keys?.() ?? []).length}`);
      document.cookie = "a=b; max-age=9999";
      localStorage.a = "b";
      sessionStorage.a = "b";
      const opened = indexedDB.open("a");
      opened.onupgradeneeded = () => say("a new database");
    })();"""
    for _ in range(2):
        written = render("http://127.0.0.1/", f"<script>var caches; {script}</script>")
        assert "<p>found: 00</p>" in written.html
        assert "<p>a new database</p>" in written.html


def test_what_a_page_keeps_is_on_no_disk(
    render: Render, internet: Internet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sizes = []

    has_looked = threading.Event()

    def look(exchange: Exchange) -> None:
        sizes.append(sum(path.lstat().st_size for path in tmp_path.rglob("*")))
        has_looked.set()
        exchange.answer(b"-")

    def hold(exchange: Exchange) -> None:
        has_looked.wait()
        exchange.answer(b"-")

    monkeypatch.setattr(program.tempfile, "tempdir", str(tmp_path))
    internet.server.route("/look", look)
    internet.server.route("/hold", hold)
    script = """(async () => {
      fetch("/hold");
      const much = () => new Uint8Array(40 << 20).fill(7);
      const opened = indexedDB.open("a");
      await new Promise((done) => {
        opened.onupgradeneeded = () => opened.result.createObjectStore("s");
        opened.onsuccess = opened.onerror = done;
      });
      const storing = opened.result.transaction("s", "readwrite");
      storing.objectStore("s").put(much(), "k");
      await new Promise((done) => { storing.oncomplete = storing.onabort = done });
      window.kept = new Blob([much()]);
      await fetch("/look");
    })().catch(() => fetch("/look"));"""
    assert render(PAGE, f"<script>{script}</script>") is not None
    assert len(sizes) == 1
    assert sizes[0] < 10 << 20
    assert list(tmp_path.glob("browser-*")) == []


@pytest.mark.parametrize("script", ["for (;;);", "setInterval(() => fetch('/x'), 50);"])
def test_no_browser_outlives_a_caller_that_is_killed(
    server: Server, open_folder: Path, browser: str, script: str
) -> None:
    has_begun = threading.Event()

    def begin(exchange: Exchange) -> None:
        has_begun.set()
        exchange.answer(b"-")

    server.route("/begun", begin)
    url = server.page("/", f"<p>{WORDS}</p><script>fetch('/begun').then(() => {{ {script} }})</script>")
    config = open_folder / "config.toml"
    config.write_text(f"[tools.scrape_page]\nallow = ['loopback']\nbrowser = '{browser}'\nbrowser_use = 'first'\n")
    environment = {"HOME": str(open_folder), "PATH": "/usr/bin:/bin", "FERRULE_WRAPPERS": ""}
    environment |= {"FERRULE_CONFIG": str(config), "TMPDIR": str(open_folder)}
    with subprocess.Popen(
        [sys.executable, "-m", "ferrule", "run", "scrape_page"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        cwd=open_folder,
    ) as call:
        assert call.stdin
        call.stdin.write(json.dumps({"url": url}).encode())
        call.stdin.close()
        has_begun.wait()
        started = _browsers_in(open_folder)
        os.kill(call.pid, signal.SIGKILL)
    assert started
    while _browsers_in(open_folder):
        threading.Event().wait(0.01)


def _browsers_in(folder: Path) -> list[str]:
    """The processes of browsers that keep their state in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_text(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if f"--user-data-dir={folder}" in command:
            found.append(path.parent.name)
    return found
