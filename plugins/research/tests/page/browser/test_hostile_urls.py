"""The table of hostile URLs, asked for by scripts, frames and redirects of a page in the browser."""

import json
from collections.abc import Callable, Iterator

import pytest

from ferrule.confinement.networks import kind_of
from ferrule_research.page.browser import requests
from ferrule_research.page.browser.rendition import Rendition
from ferrule_testkit.hostile import urls as hostile_urls
from ferrule_testkit.hostile.urls import TARGET, Case
from ferrule_testkit.web.fake_internet import Internet

pytestmark = [pytest.mark.process, pytest.mark.slow]

_AT_ONCE = 40
_TRY = """<p id=said></p><script>
  const urls = URLS;
  let done = 0;
  const note = () => { done += 1; document.getElementById("said").textContent = `${done} are tried`; };
  const add = (name, url) => {
    const made = document.createElement(name);
    made.src = url;
    document.body.append(made);
  };
  for (const url of urls) {
    fetch(url, {mode: "no-cors"}).then(note, note);
    fetch(url, {method: "POST", headers: {"content-type": "application/json"}, body: "1"}).then(note, note);
    add("script", url);
    add("iframe", url);
  }
</script>"""


def _cases_apart() -> Iterator[list[Case]]:
    """All attacks in lists of some, in which no name has two meanings."""
    cases: list[Case] = []
    answers: dict[str, object] = {}
    for number, case in enumerate([*hostile_urls.ATTACKS, *hostile_urls.RESERVED, *hostile_urls.POLICY]):
        own = f"target-{number}.example"
        renamed = {host.replace(TARGET, own): given for host, given in case.answers.items()}
        case = case._replace(url=case.url.replace(TARGET, own), answers=renamed)
        if len(cases) == _AT_ONCE or any(answers.get(host, given) != given for host, given in renamed.items()):
            yield cases
            cases, answers = [], {}
        cases.append(case)
        answers |= renamed
    yield cases


BATCHES = list(_cases_apart())


def test_every_attack_is_made() -> None:
    assert sum(map(len, BATCHES)) == sum(map(len, (hostile_urls.ATTACKS, hostile_urls.RESERVED, hostile_urls.POLICY)))


def _try(render: Callable[..., Rendition], internet: Internet, cases: list[Case]) -> str:
    internet.resolve({host: given for case in cases for host, given in case.answers.items()})
    urls = json.dumps([case.url for case in cases]).replace("</", "<\\/")
    written = render("http://page.example/", _TRY.replace("URLS", urls))
    return written.html


@pytest.mark.parametrize("number", range(len(BATCHES)))
def test_an_attack_of_a_page_reaches_no_special_address(
    render: Callable[..., Rendition], internet: Internet, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(requests, "MAX_REQUESTS", 10_000)
    monkeypatch.setattr(requests, "MAX_POSTS", 10_000)
    html = _try(render, internet, BATCHES[number])
    assert f"{2 * len(BATCHES[number])} are tried" in html
    assert not [address for address in internet.connected if kind_of(address)]  # 0127.0.0.1 is the public 87.0.0.1


def test_what_is_legal_is_reached(render: Callable[..., Rendition], internet: Internet) -> None:
    """Or else the test above would prove nothing."""
    cases = [case for case in hostile_urls.LEGAL if case.group == "ordinary" and "https" not in case.url][:30]
    _try(render, internet, cases)
    assert len(internet.connected) >= len(cases)
