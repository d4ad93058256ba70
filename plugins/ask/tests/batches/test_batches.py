"""Questions that go in batches: by a server with the shapes of Anthropic's and of OpenAI's."""

import json
from dataclasses import replace

import pytest

from ferrule.errors import FerruleError
from ferrule_ask import Client, Limits
from ferrule_ask.batches.batches import Batches
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.model.batch_server import CANCELLED, ERRORED, EXPIRED, UNREADABLE, BatchServer, Fault, calls, says
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import MODEL_KEY
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process
MODELS = ["claude-sonnet-5-5", "openai/gpt-5", "openai-chat/gpt-5"]
PRICES = dict.fromkeys(("claude-sonnet-5-5", "gpt-5"), (2, 10))


def question_of(body):
    """What a request asks, in either form."""
    return json.dumps(body.get("messages") or body.get("input"))


def answers(body):
    """What becomes of a request is in its question; one that may search does, once."""
    asked = question_of(body)
    for outcome in (EXPIRED, CANCELLED, ERRORED, UNREADABLE):
        if f"want {outcome}" in asked:
            return outcome
    if body.get("tools") and "function_call_output" not in asked and "tool_result" not in asked:
        return calls(body["tools"][0]["name"], {"query": "x"})
    return says("Oslo")


@pytest.fixture
def server(ask_environment, monkeypatch):
    """The server, at the place of both providers."""
    monkeypatch.setattr("ferrule_ask.batches.persistence.FIRST_WAIT_SECONDS", 0.01)
    with BatchServer(answers) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", MODEL_KEY)
        yield server


@pytest.fixture
def ask(server, tmp_path):
    """Ask these questions with the record `r.jsonl`: the answers, and the client."""

    def ask(*questions, model=MODELS[0], **options):
        batches = Batches(tmp_path / "r.jsonl", lambda sentence: None)
        given = {"toolbox": no_tools(), "prices": PRICES, "model": model, **options}
        with Client(batches=batches, **given) as client:
            batches.expect(len(questions))
            futures = [client.start("", one) for one in questions]
            return [one.result() for one in futures], client

    return ask


@pytest.mark.parametrize("model", MODELS)
def test_all_questions_are_one_batch_at_half_the_price(ask, server, model):
    found, client = ask(*(f"q{i}" for i in range(50)), model=model)
    assert {(one.text, one.code) for one in found} == {("Oslo", None)}
    assert [len(one.requests) for one in server.batches] == [50]
    assert found[0].cost == pytest.approx((1000 * 2 + 100 * 10) / 1e6 / 2)
    assert client.usage.requests == 50
    assert server.keys == {f"Bearer {MODEL_KEY}"}


def test_more_questions_than_run_at_once_are_one_batch(ask, server):
    assert {one.text for one in ask(*(f"q{i}" for i in range(9)), concurrency=2)[0]} == {"Oslo"}
    assert [len(one.requests) for one in server.batches] == [9]


def test_questions_that_are_equal_share_a_request(ask, server):
    found, _ = ask("a", "a", "b")
    assert [one.text for one in found] == ["Oslo"] * 3
    assert [len(one.requests) for one in server.batches] == [2]


def test_questions_that_are_equal_go_in_rounds_with_the_others(ask, server):
    assert {one.text for one in ask("a", "a", "b", toolbox=MemoryTools())[0]} == {"Oslo"}
    assert [len(one.requests) for one in server.batches] == [2, 2]


@pytest.mark.parametrize("model", MODELS[:2])
def test_questions_that_call_a_tool_go_in_rounds(ask, server, model):
    tools = MemoryTools()
    found, _ = ask("a", "b", "c", model=model, toolbox=tools)
    assert [(one.text, one.tool_outcome) for one in found] == [("Oslo", "ok")] * 3
    assert [len(one.requests) for one in server.batches] == [3, 3]
    assert tools.executed == [(SEARCH, {"query": "x"})]  # the same call of three questions


@pytest.mark.parametrize("model", MODELS[:2])
def test_what_fails_in_a_batch_fails_alone(ask, server, model):
    found, client = ask("good", *(f"want {one}" for one in (EXPIRED, CANCELLED, ERRORED)), model=model)
    assert [one.code for one in found] == [None, "TIMEOUT", "CANCELLED", "INVALID_REQUEST"]
    assert all(one.error for one in found[1:])
    assert client.usage.cost == pytest.approx((1000 * 2 + 100 * 10) / 1e6 / 2)


def test_a_batch_that_is_refused_as_a_whole_says_why(ask, server):
    server.refuse = "Enqueued token limit reached."
    found, _ = ask("a", model=MODELS[1])
    assert (found[0].code, "Enqueued token limit reached." in found[0].error) == ("INVALID_REQUEST", True)


@pytest.mark.parametrize("model", MODELS[:2])
@pytest.mark.parametrize(
    "faults",
    [
        [Fault("POST", "/batches")],
        [Fault("POST", "/batches"), Fault("GET", "/batches", 529, times=3)],
        [Fault("POST", "/batches"), Fault("GET", "/batches", 200)],
        [Fault("POST", "/batches", 502)],
        [Fault("POST", "/batches", 504, headers={"x-should-retry": "false"})],
        [Fault("POST", "/batches", 200)],
    ],
    ids=["cut", "list busy", "list unreadable", "gateway", "last word", "no id"],
)
def test_a_batch_whose_id_never_came_back_is_found_and_not_sent_again(ask, server, model, faults):
    server.faults = [replace(one) for one in faults]
    found, _ = ask("a", "b", model=model)
    assert [one.text for one in found] == ["Oslo"] * 2
    assert len(server.batches) == 1
    assert not any(one.times for one in server.faults)


@pytest.mark.parametrize("model", MODELS[:2])
def test_a_batch_that_cannot_be_looked_for_is_in_the_record_of_the_next_run(ask, server, model):
    server.faults = [Fault("POST", "/batches"), Fault("GET", "/batches", 403)]
    assert ask("a", model=model)[0][0].code == "FORBIDDEN"
    server.faults = [Fault("GET", "/batches", 529)]
    assert ask("a", model=model)[0][0].text == "Oslo"
    assert len(server.batches) == 1


@pytest.mark.parametrize("model", MODELS[:2])
def test_a_batch_that_is_refused_is_sent_by_the_next_run_without_a_look_for_it(ask, server, model):
    server.faults = [Fault("POST", "/batches", 400)]
    assert ask("a", model=model)[0][0].code == "INVALID_REQUEST"
    assert ask("a", model=model)[0][0].text == "Oslo"
    assert not [path for method, path in server.seen if method == "GET" and path.endswith("/batches")]


def test_batches_of_another_program_are_passed_over_until_the_own_one_is_found(ask, server, tmp_path):
    record = tmp_path / "r.jsonl"
    for other in ("x", "y"):
        ask(other)
        record.unlink()
    ask("a")
    record.write_text("".join(line for line in record.read_text().splitlines(keepends=True) if '"sent"' not in line))
    assert ask("a")[0][0].text == "Oslo"
    assert len(server.batches) == 3
    found = ask("a")  # the record has the right one now
    assert (found[0][0].text, len(server.batches)) == ("Oslo", 3)


@pytest.mark.parametrize("model", MODELS[:2])
@pytest.mark.parametrize("is_lost", [False, True])
def test_another_program_goes_on_with_the_record(ask, server, tmp_path, model, is_lost):
    ask("a", "b", model=model, toolbox=MemoryTools())
    assert len(server.batches) == 2
    if is_lost:  # the program was killed when the batches were made, and before their ids were noted
        lines = [line for line in (tmp_path / "r.jsonl").read_text().splitlines() if '"sent"' not in line]
        (tmp_path / "r.jsonl").write_text("\n".join(lines) + '\n{"step": "se')
    tools = MemoryTools(content="something else")
    found, _ = ask("a", "b", model=model, toolbox=tools)
    assert [one.text for one in found] == ["Oslo"] * 2
    assert len(server.batches) == 2
    assert not tools.executed


@pytest.mark.parametrize("model", MODELS[:2])
def test_a_question_that_comes_after_the_batch_has_ended_gets_its_answer(ask, server, tmp_path, model):
    ask("a", "b", "c", model=model)
    batches = Batches(tmp_path / "r.jsonl", lambda sentence: None)
    with Client(batches=batches, toolbox=no_tools(), model=model) as client:
        batches.expect(3)
        found = [client.start("", one).result(PATIENCE_SECONDS) for one in ("a", "b", "c")]
    assert [one.text for one in found] == ["Oslo"] * 3
    assert len(server.batches) == 1


@pytest.mark.parametrize("model", MODELS[:2])
@pytest.mark.parametrize("tool", [SEARCH, "web_fetch"])
def test_another_program_goes_on_with_results_of_tools_that_have_passages(ask, server, model, tool):
    url = "https://example.org/"
    found = {"sources": [("Title", url, "", tool)], "passages": [(url, "Title", "Oslo."), (url, "Title", "It is.")]}
    first = ask("a", "b", model=model, toolbox=MemoryTools(tool, **found))[0]
    tools = MemoryTools(tool, content="something else")
    again = ask("a", "b", model=model, toolbox=tools)[0]
    assert [(one.text, one.sources) for one in again] == [(one.text, one.sources) for one in first]
    assert first[0].sources
    assert len(server.batches) == 2
    assert not tools.executed


@pytest.mark.parametrize("status", [200, 529])
def test_a_state_that_never_comes_is_not_waited_for_without_end(ask, server, monkeypatch, status):
    monkeypatch.setattr("ferrule_ask.batches.persistence._MAX_FAILURES", 3)
    ask("a")
    server.faults = [Fault("GET", server.batches[0].id, status, times=100)]
    answer = ask("a")[0][0]
    assert (answer.code, bool(answer.error)) == ("API_ERROR" if status == 200 else "OVERLOADED", True)
    assert server.faults[0].times == 97
    server.faults = []
    assert ask("a")[0][0].text == "Oslo"  # the record has it still
    assert len(server.batches) == 1


def test_closing_sends_nothing(server, tmp_path):
    batches = Batches(tmp_path / "r.jsonl", lambda sentence: None)
    with Client(batches=batches, toolbox=no_tools()) as client:
        batches.expect(4)
        futures = [client.start("", one) for one in ("a", "b", "c")]
        wait_for(lambda: client.usage.requests == 3)
    assert [one.result().code for one in futures] == ["CANCELLED"] * 3
    assert not server.batches
    with client:  # again
        batches.expect(1)
        assert client.start("", "d").result(PATIENCE_SECONDS).text == "Oslo"
    assert [len(one.requests) for one in server.batches] == [1]


def test_closing_while_a_tool_runs_sends_nothing_of_the_others(server, tmp_path):
    batches = Batches(tmp_path / "r.jsonl", lambda sentence: None)
    tools = MemoryTools(seconds=3600)
    with Client(batches=batches, toolbox=tools) as client:
        batches.expect(1)
        client.start("", "first")
        wait_for(lambda: tools.executed)
        batches.expect(30)
        futures = [client.start("", f"q{i}") for i in range(30)]
        wait_for(lambda: client.usage.requests == 31)
    assert {one.result().code for one in futures} == {"CANCELLED"}
    assert [len(one.requests) for one in server.batches] == [1]


def test_a_question_that_is_cancelled_is_not_in_the_batch_of_the_others(server, tmp_path):
    batches = Batches(tmp_path / "r.jsonl", lambda sentence: None)
    with Client(batches=batches, toolbox=no_tools()) as client:
        batches.expect(4)
        first, equal, _ = [client.start("", one) for one in ("first", "equal", "equal")]
        wait_for(lambda: client.usage.requests == 3)
        first.cancel()
        equal.cancel()
        assert client.start("", "last").result(PATIENCE_SECONDS).text == "Oslo"
    asked = sorted(question_of(body) for batch in server.batches for body in batch.requests.values())
    assert ["equal" in asked[0], "last" in asked[1], len(asked), len(server.batches)] == [True, True, 2, 1]


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_question_that_is_cancelled_after_its_batch_was_sent_counts_as_spent(server, tmp_path, is_closed):
    server.go_on.clear()
    batches, limits = Batches(tmp_path / "r.jsonl", lambda sentence: None), Limits(spend=1)
    with Client(batches=batches, toolbox=no_tools(), limits=limits, prices=PRICES, max_tokens=1000) as client:
        batches.expect(3)
        futures = [client.start("", one) for one in ("a", "b", "b")]
        wait_for(lambda: server.batches)
        if is_closed:
            client.close()
        for future in futures:
            future.cancel()
        wait_for(lambda: client.usage.questions == 3)
    assert (limits.calls_used, limits.spent > 2 * 1000 * 10 / 1e6 / 2) == (2, True)


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_question_that_is_cancelled_before_its_batch_is_sent_costs_nothing(server, tmp_path, is_closed):
    batches, limits = Batches(tmp_path / "r.jsonl", lambda sentence: None), Limits(spend=1)
    with Client(batches=batches, toolbox=no_tools(), limits=limits, prices=PRICES) as client:
        batches.expect(3)
        futures = [client.start("", one) for one in ("a", "b")]
        wait_for(lambda: client.usage.requests == 2)
        if is_closed:
            client.close()
        for future in futures:
            future.cancel()
        wait_for(lambda: client.usage.questions == 2)
    assert (limits.calls_used, limits.spent, server.batches) == (0, 0, [])


def test_a_batch_that_is_gone_is_sent_again(ask, server):
    ask("a")
    server.batches.clear()
    found, _ = ask("a")
    assert (found[0].text, len(server.batches)) == ("Oslo", 1)


def test_questions_that_come_later_are_a_batch_of_their_own(ask, server):
    ask("a")
    ask("a", "b", "c")
    assert [len(one.requests) for one in server.batches] == [1, 2]


def test_a_budget_holds_for_batches_at_their_price(ask, server):
    found, client = ask(*(f"q{i}" for i in range(20)), limits=Limits(spend=0.03), max_tokens=1000)
    codes = [one.code for one in found]
    # 1,000 tokens of output are half a cent in a batch.
    assert 4 <= codes.count(None) <= 19
    assert set(codes) == {None, "BUDGET_EXHAUSTED"}
    assert client.usage.cost <= 0.03


@pytest.mark.parametrize("model", MODELS[:2])
@pytest.mark.parametrize("what", ["want unreadable", "results", "state", "list"])
def test_what_may_be_charged_counts_as_spent_at_its_most(ask, server, model, what):
    server.faults = {
        "results": [Fault("GET", "results" if model == MODELS[0] else "content", 403)],
        "state": [Fault("GET", "0001" if model == MODELS[0] else "0002", 403)],
        "list": [Fault("POST", "/batches"), Fault("GET", "/batches", 403)],
    }.get(what, [])
    limits = Limits(spend=1)
    found, _ = ask(what, model=model, limits=limits, max_tokens=1000)
    assert found[0].text is None
    assert not any(one.times for one in server.faults)
    assert limits.spent > 1000 * 10 / 1e6 / 2


@pytest.mark.parametrize("model", MODELS[:2])
@pytest.mark.parametrize("what", [f"want {one}" for one in (EXPIRED, CANCELLED, ERRORED)] + ["refused"])
def test_what_is_not_charged_does_not_count_as_spent(ask, server, model, what):
    server.faults = [Fault("POST", "/batches", 400)] if what == "refused" else []
    limits = Limits(spend=1)
    assert ask(what, model=model, limits=limits)[0][0].text is None
    assert (limits.spent, limits.calls_used) == (0, 1)


def test_a_plan_has_half_the_price(server, tmp_path):
    with Client(toolbox=no_tools(), batches=Batches(None, print)) as half, Client(toolbox=no_tools()) as whole:
        assert half.plan("", "q").cost_max == pytest.approx(whole.plan("", "q").cost_max / 2)


def test_a_long_question_has_half_the_price_of_long_ones(server):
    model, text = "openai/gpt-5.4", "x" * 1_300_000
    with (
        Client(toolbox=no_tools(), model=model, batches=Batches(None, print)) as half,
        Client(toolbox=no_tools(), model=model) as whole,
    ):
        assert half.plan("", text).cost_max == pytest.approx(whole.plan("", text).cost_max / 2)


def test_the_record_has_no_key_and_no_question(ask, server, tmp_path):
    ask("a secret question")
    text = (tmp_path / "r.jsonl").read_text()
    assert "secret question" not in text
    assert MODEL_KEY not in text
    assert (tmp_path / "r.jsonl").stat().st_mode & 0o777 == 0o600
    assert server.batches[0].id in text


def test_a_record_that_cannot_be_read_is_said_before_anything_is_sent(server, tmp_path):
    (tmp_path / "r.jsonl").mkdir()
    with pytest.raises(FerruleError, match="cannot be read"):
        Batches(tmp_path / "r.jsonl", print)
    assert not server.seen


def test_a_disk_that_fills_up_ends_the_questions_with_a_sentence(server, tmp_path):
    batches = Batches(tmp_path / "r.jsonl", print)
    (tmp_path / "r.jsonl").mkdir()
    with Client(toolbox=no_tools(), batches=batches) as client:
        batches.expect(1)
        answer = client.ask("", "q")
    assert (answer.code, "cannot go on" in answer.error) == ("API_ERROR", True)
    assert not server.batches


def test_a_provider_without_batches_is_said(server, tmp_path):
    with Client(batches=Batches(None, print)) as client, pytest.raises(FerruleError, match="ollama has no batches"):
        client.require_batches("ollama/llama-4")
