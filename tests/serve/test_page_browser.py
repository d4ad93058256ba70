"""The page of `ferrule serve --page` in a real browser: with a script and without, by keyboard, for every eye."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve import tools as served_tools
from ferrule_testkit.serve.browser import Opened, chromium, needs_chromium
from ferrule_testkit.serve.service import SECONDS, HttpService, is_alive, wait_until
from ferrule_testkit.web import page_tools

pytestmark = [pytest.mark.slow, needs_chromium]
expect.set_options(timeout=SECONDS * 1000)  # a call may have to wait for its worker's start on a busy machine
TOKEN = "a-token-of-the-tests"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return page_tools.install(served_tools.install(Machine(tmp_path_factory.mktemp("served"))))


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=3", "--page", work=machine.work) as service:
        yield service


@pytest.fixture(scope="module")
def root(service: HttpService) -> str:
    return service.url.removesuffix("mcp")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    with Opened(browser, viewport=WIDE) as opened:
        yield opened


def fill_and_call(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("topic (required)").fill("tea")
    page.get_by_label("language").select_option(label="de")
    page.get_by_label("count").fill("3")
    page.get_by_label("deep").select_option(label="false")
    page.get_by_label("places").fill('["x", "y"]')
    page.get_by_role("button", name="Call", exact=True).click()


ANSWER = {"got": {"topic": "tea", "language": "de", "count": 3, "deep": False, "places": ["x", "y"]}}


@pytest.mark.parametrize("has_script", [True, False])
def test_a_form_shows_the_answer_with_a_script_and_without(has_script: bool, browser: Browser, root: str) -> None:
    with Opened(browser, java_script_enabled=has_script) as opened:
        loads: list[str] = []
        opened.page.on("domcontentloaded", lambda page: loads.append(page.url))
        fill_and_call(opened.page, root + "tools/kinds")
        document = opened.page.get_by_role("region", name="Document")
        expect(document).to_be_visible()
        assert json.loads(document.inner_text()) == ANSWER
        expect(opened.page.get_by_role("status")).to_contain_text("ok in ")
        expect(opened.page.get_by_label("topic (required)")).to_have_value("tea")
        expect(opened.page.get_by_label("language")).to_have_value('"de"')
        assert len(loads) == (1 if has_script else 2)
        assert opened.complaints == []


def test_everything_can_be_read_without_a_script(browser: Browser, root: str) -> None:
    with Opened(browser, java_script_enabled=False) as opened:
        opened.page.goto(root)
        expect(opened.page.get_by_role("row", name="broken broken")).to_contain_text("it cannot be")
        opened.page.get_by_role("link", name="kinds").click()
        expect(opened.page.get_by_role("heading", level=1)).to_have_text("kinds ok")
        expect(opened.page.get_by_role("region", name="Schema of the arguments")).to_contain_text('"topic"')


def test_texts_of_a_plugin_do_nothing(opened: Opened, root: str) -> None:
    page = opened.page
    for path in ("", "tools/hostile_name", "tools/hostile_error", "tools/hostile_failure", "tools/hostile", "none<b>"):
        page.goto(root + path)
        assert "owned" not in page.title().replace("document.title", "")
        assert page.locator("script").count() == 1
        assert page.locator("img, main b").count() == 0
    for tool in ("hostile_failure", "hostile"):
        page.goto(f"{root}tools/{tool}")
        page.get_by_role("button", name="Call", exact=True).click()
        expect(page.get_by_role("region", name="Document")).to_be_visible()
        assert page.title() == f"{tool} · ferrule"
        assert page.locator("script").count() == 1
        assert page.locator("img, main b").count() == 0
    expect(page.get_by_role("region", name="Events")).to_contain_text("<script>")
    expect(page.get_by_role("region", name="Printed")).to_contain_text("<U+202E>")
    assert [text for text in opened.complaints if "404" not in text] == []


def test_a_script_that_got_into_the_page_would_not_run(opened: Opened, root: str) -> None:
    opened.page.goto(root)
    opened.page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "document.title = 'owned'";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\\"document.title = 'owned'\\">");
        document.body.insertAdjacentHTML("beforeend", "<img src='https://example.org/x.png'>");
    }""")
    wait_until(lambda: len(opened.complaints) >= 3 or opened.page.wait_for_timeout(20), "the browser's refusals")
    assert opened.page.title() == "Tools · ferrule"
    assert "Content Security Policy" in " ".join(opened.complaints)


def test_a_form_of_another_site_calls_nothing(
    browser: Browser, root: str, tmp_path: Path, service: HttpService
) -> None:
    mark = tmp_path / "mark"
    with Opened(browser) as opened:
        opened.page.route(
            "http://localhost:1/",
            lambda route: route.fulfill(
                content_type="text/html",
                body=f'<form method=post action="{root}tools/waits"><input name=argument.mark value="{mark}">'
                "<button>Send</button></form>",
            ),
        )
        opened.page.goto("http://localhost:1/")
        opened.page.get_by_role("button").click()
        expect(opened.page.get_by_role("heading", level=1)).to_have_text("Not called")
    assert not mark.exists()


def test_a_call_that_takes_long_can_be_cancelled(opened: Opened, root: str, machine: Machine) -> None:
    page, mark = opened.page, machine.work / "mark"
    page.goto(root + "tools/waits")
    page.get_by_label("mark").fill(str(mark))
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Running …")
    expect(page.get_by_role("button", name="Call", exact=True)).to_be_disabled()
    wait_until(lambda: mark.exists() or page.wait_for_timeout(20), "the call's beginning")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_have_text("Cancelled.")
    expect(page.get_by_role("button", name="Call", exact=True)).to_be_focused()
    for process in map(int, mark.read_text().split()):
        wait_until(lambda process=process: not is_alive(process), "the end of the call's processes")


def test_events_are_seen_while_the_call_runs_and_ctrl_enter_makes_it(
    browser: Browser, root: str, tmp_path: Path
) -> None:
    with Opened(browser, viewport=NARROW) as opened:
        page, mark = opened.page, tmp_path / "mark"
        page.goto(root + "tools/stages")
        page.get_by_label("mark").fill(str(mark))
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("log")).to_contain_text('"the first <b>"')
        expect(page.get_by_role("status")).to_have_text("Running …")
        expect(page.get_by_role("progressbar")).to_have_attribute("value", "1")
        expect(page.locator("#live-message")).to_have_text("1 of 4 begun")
        mark.touch()
        expect(page.get_by_role("region", name="Document")).to_contain_text('"staged": true')
        expect(page.get_by_role("log")).to_be_hidden()
        expect(page.get_by_role("heading", name="Answer")).to_be_in_viewport()
        assert opened.complaints == []


def test_an_answer_below_a_long_form_is_brought_into_view(browser: Browser, root: str) -> None:
    with Opened(browser, viewport=NARROW) as opened:
        page = opened.page
        page.goto(root + "tools/kinds")
        expect(page.get_by_role("heading", name="Answer")).not_to_be_in_viewport()
        page.get_by_label("topic (required)").fill("tea")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("region", name="Document")).to_be_in_viewport()


def test_a_picture_is_a_picture_and_nothing_else_of_an_answer_is_opened(opened: Opened, root: str) -> None:
    page = opened.page
    page.goto(root + "tools/draws")
    page.get_by_role("button", name="Call", exact=True).click()
    picture = page.get_by_role("img", name="Picture 3 of the answer")
    expect(picture).to_be_visible()
    picture.evaluate("picture => picture.decode()")
    assert picture.evaluate("picture => picture.naturalWidth") == 1
    assert page.locator("img").count() == 1
    with page.expect_download() as download:
        page.locator("li", has_text="text/html").get_by_role("link", name="save").click()
    assert "owned" in Path(download.value.path()).read_text()
    assert page.title() == "draws · ferrule"
    assert Axe().run(page).response["violations"] == []
    assert opened.complaints == []


def test_a_call_is_found_among_the_last_and_made_again_and_copied(browser: Browser, root: str) -> None:
    with Opened(browser, viewport=WIDE, permissions=["clipboard-read", "clipboard-write"]) as opened:
        page = opened.page
        page.goto(root + "tools/echo")
        page.get_by_label("text").fill("once more")
        page.get_by_role("button", name="Call", exact=True).click()
        expect(page.get_by_role("region", name="Document")).to_be_visible()
        page.goto(root)
        page.get_by_role("table", name="Last calls").get_by_role("link").first.click()
        expect(page.get_by_role("region", name="Document")).to_contain_text("once more")
        page.get_by_text("Copy the call").click()
        page.get_by_role("button", name="Copy for shell").click()
        expect(page.get_by_role("button", name="Copy for shell")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == """ferrule run echo '{"text": "once more"}'"""
        before = page.get_by_role("link", name="This call").get_attribute("href") or ""
        page.get_by_role("button", name="Call again").click()
        expect(page.get_by_role("link", name="This call")).not_to_have_attribute("href", before)
        expect(page.get_by_role("region", name="Document")).to_contain_text("once more")
        assert Axe().run(page).response["violations"] == []
        with Opened(browser) as other:  # another browser sees the calls, and not what was in them
            other.page.goto(root)
            expect(other.page.get_by_role("table", name="Last calls")).to_contain_text("echo")
            assert other.page.get_by_role("table", name="Last calls").get_by_role("link").count() == 0


def test_a_tool_is_found_while_its_name_is_typed(opened: Opened, root: str) -> None:
    page = opened.page
    page.goto(root)
    rows = page.get_by_role("table", name="Tools").locator("tbody").get_by_role("row")
    everything = rows.count()
    page.get_by_label("Find a tool").fill("looks KINDS")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("kinds")
    expect(page.locator("#found")).to_have_text(f"1 of {everything} tools.")
    page.get_by_label("Find a tool").fill("nothing")
    expect(rows.first).to_contain_text("nothing")
    page.get_by_label("Find a tool").fill("")
    expect(rows).to_have_count(everything)
    page.get_by_label("Find a tool").fill("hostile_name")
    page.keyboard.press("Enter")
    expect(page).to_have_url(root + "?find=hostile_name")
    expect(rows).to_have_count(1)


def test_last_calls_keep_up_by_themselves(opened: Opened, root: str, service: HttpService) -> None:
    opened.page.goto(root)
    calls = opened.page.get_by_role("table", name="Last calls")
    for tool in ("raises", "prints"):
        assert service.post("tools/call", {"name": tool, "arguments": {}})[0] == 200
        expect(calls.get_by_role("row").nth(1)).to_contain_text(tool)


def test_all_of_it_works_by_keyboard(opened: Opened, root: str) -> None:
    page = opened.page
    page.goto(root + "tools/echo")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="All tools")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("text")).to_be_focused()
    page.keyboard.type("typed")
    page.keyboard.press("Tab")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Document")).to_contain_text('"typed"')
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("A JSON object")).to_be_visible()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", "tools/kinds", "tools/hostile", "tools/broken", "calls"])
def test_nobody_is_left_out(
    path: str, scheme: str, viewport: dict[str, int], browser: Browser, root: str, tmp_path: Path
) -> None:
    with Opened(browser, color_scheme=scheme, viewport=viewport) as opened:
        page = opened.page
        page.add_init_script("""window.shifted = 0; new PerformanceObserver(list => {
            for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
        }).observe({type: "layout-shift", buffered: true});""")
        page.goto(root + path)
        if path in ("tools/kinds", "tools/hostile"):
            page.get_by_text("All arguments as JSON").click()
            page.get_by_role("button", name="Call", exact=True).click()
            expect(page.get_by_role("region", name="Document")).to_be_visible()
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert page.evaluate("window.shifted") < 0.01
        assert page.evaluate("document.getAnimations().length") == 0


def test_a_browser_that_has_the_token_is_let_in(browser: Browser, machine: Machine) -> None:
    environment = {**machine.environment, "FERRULE_SERVE_TOKEN": TOKEN}
    with HttpService(environment, "echo", "--page", work=machine.work) as service:
        credentials = {"username": "anyone", "password": TOKEN}
        with Opened(browser, http_credentials=credentials) as opened:
            opened.page.goto(service.url.removesuffix("mcp"))
            opened.page.get_by_role("link", name="echo").click()
            opened.page.get_by_label("text").fill("let in")
            opened.page.get_by_role("button", name="Call", exact=True).click()
            expect(opened.page.get_by_role("region", name="Document")).to_contain_text("let in")
            assert TOKEN not in opened.page.content()
