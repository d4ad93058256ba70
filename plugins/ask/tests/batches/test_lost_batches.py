"""Batches whose id never came back: which of the provider's list are taken for them, and what is said of it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ferrule_ask import Answer, Client
from ferrule_ask.batches.batches import Batches
from ferrule_ask.models.anthropic_batches import AnthropicBatches
from ferrule_testkit.model.batch_server import BatchServer, Fault, says
from ferrule_testkit.model.memory_tools import no_tools
from ferrule_testkit.model.server import MODEL_KEY

pytestmark = pytest.mark.process
ANTHROPIC, OPENAI = "claude-sonnet-5-5", "openai/gpt-5"
MODELS = [ANTHROPIC, OPENAI]
CUT = {ANTHROPIC: Fault("POST", "/v1/messages/batches"), OPENAI: Fault("POST", "/v1/batches")}
Ask = Callable[..., list[Answer]]


@pytest.fixture
def server(ask_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """A server, at the place of both providers, that answers with the end of the question."""

    def answer(body: Any) -> dict[str, Any]:
        asked = json.dumps(body.get("messages") or body.get("input"))
        return says(f"Answer to {asked.partition('Question: ')[2][:1]}")

    monkeypatch.setattr("ferrule_ask.batches.persistence.FIRST_WAIT_SECONDS", 0.01)
    with BatchServer(answer) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", MODEL_KEY)
        yield server


@pytest.fixture
def told() -> list[str]:
    """What was said of batches."""
    return []


@pytest.fixture
def ask(server: BatchServer, tmp_path: Path, told: list[str]) -> Ask:
    """Ask these questions, with the record of a work: their answers."""

    def ask(*questions: str, model: str, work: str = "own") -> list[Answer]:
        batches = Batches(tmp_path / work, told.append)
        with Client(batches=batches, toolbox=no_tools(), model=model) as client:
            batches.expect(len(questions))
            futures = [client.start("It.", one) for one in questions]
            return [one.result() for one in futures]

    return ask


def lose_ids(record: Path) -> None:
    """Have the record as it is where the program was killed before any id came."""
    lines = record.read_text().splitlines(keepends=True)
    record.write_text("".join(line for line in lines if '"sent"' not in line))


def texts(answers: list[Answer]) -> list[str | None]:
    """Of answers."""
    return [one.text for one in answers]


@pytest.mark.parametrize("model", MODELS)
def test_a_batch_of_another_work_that_has_some_of_the_questions_is_left_alone(
    ask: Ask, server: BatchServer, tmp_path: Path, told: list[str], model: str
) -> None:
    ask("a", "c", model=model, work="other")
    ask("a", "b", model=model)
    lose_ids(tmp_path / "own")
    assert texts(ask("a", "b", model=model)) == ["Answer to a", "Answer to b"]
    assert len(server.batches) == 2
    left_alone = f"Batch {server.batches[0].id} is of another program, and is left alone."
    assert (left_alone in told) == (model == ANTHROPIC)  # OpenAI's list says whose it is


@pytest.mark.parametrize("model", MODELS)
def test_the_same_questions_of_another_work_are_another_batch(
    ask: Ask, server: BatchServer, tmp_path: Path, told: list[str], model: str
) -> None:
    ask("a", "b", model=model)
    (own,) = server.batches
    server.batches.clear()
    lose_ids(tmp_path / "own")
    ask("a", "b", model=model, work="other")
    assert texts(ask("a", "b", model=model)) == ["Answer to a", "Answer to b"]
    assert [set(one.requests) == set(own.requests) for one in server.batches] == [False, True]
    assert any("is not in the provider's list, so it is sent again" in one for one in told)


def test_an_id_that_was_only_found_is_not_certain_after_a_kill(
    ask: Ask, server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AnthropicBatches, "most_requests", 1)
    ask("a", "b", model=ANTHROPIC)
    record = tmp_path / "own"
    first, second = (json.loads(line) for line in record.read_text().splitlines() if '"sent"' in line)
    lose_ids(record)
    # Both ids were lost, and the first batch was taken for the second one when the program was killed again.
    found = {"step": "sent", "label": second["label"], "batch": first["batch"], "certain": False}
    record.write_text(f"{record.read_text()}\n{json.dumps(found)}\n")
    assert texts(ask("a", "b", model=ANTHROPIC)) == ["Answer to a", "Answer to b"]
    assert len(server.batches) == 2


@pytest.mark.parametrize("model", MODELS)
def test_a_lost_batch_is_found_behind_hundreds_of_newer_ones(
    ask: Ask, server: BatchServer, tmp_path: Path, told: list[str], model: str
) -> None:
    ask("a", model=model)
    (own,) = server.batches
    lose_ids(tmp_path / "own")
    two = dict.fromkeys("xy", next(iter(own.requests.values())))
    server.batches += [replace(own, id=f"later_{number}", label="other", requests=two) for number in range(250)]
    assert texts(ask("a", model=model)) == ["Answer to a"]
    assert len(server.batches) == 251
    assert any(own.id in one for one in told)


@pytest.mark.parametrize("model", MODELS)
def test_pages_of_the_list_that_are_older_than_the_batch_are_not_read(
    ask: Ask, server: BatchServer, model: str
) -> None:
    ask("x", model=model, work="other")
    (other,) = server.batches
    server.batches = [replace(other, id=f"older_{number}", made=1_000_000.0) for number in range(250)]
    server.faults = [replace(CUT[model])]
    server.seen.clear()
    assert texts(ask("a", model=model)) == ["Answer to a"]
    lists = [path for method, path in server.seen if method == "GET" and path.endswith("/batches")]
    assert (len(lists), len(server.batches)) == (1, 251)


@pytest.mark.parametrize("model", MODELS)
def test_a_list_that_does_not_go_on_is_read_once(ask: Ask, server: BatchServer, model: str) -> None:
    server.repeats_page, server.faults = True, [replace(CUT[model])]
    assert texts(ask("a", model=model)) == ["Answer to a"]
    lists = [path for method, path in server.seen if method == "GET" and path.endswith("/batches")]
    assert len(lists) == 2  # the page that came again is how it is known


def test_results_that_cannot_be_read_say_of_no_batch_whose_it_is(
    ask: Ask, server: BatchServer, tmp_path: Path, told: list[str]
) -> None:
    ask("a", model=ANTHROPIC)
    lose_ids(tmp_path / "own")
    server.faults = [Fault("GET", "/results", status=200)]
    (answer,) = ask("a", model=ANTHROPIC)
    assert answer.code == "API_ERROR"
    assert texts(ask("a", model=ANTHROPIC)) == ["Answer to a"]
    assert len(server.batches) == 1


def test_a_batch_that_arrived_twice_is_said(ask: Ask, server: BatchServer, tmp_path: Path, told: list[str]) -> None:
    ask("a", model=OPENAI)
    server.batches.append(replace(server.batches[0], id="batch_again"))
    lose_ids(tmp_path / "own")
    assert texts(ask("a", model=OPENAI)) == ["Answer to a"]
    assert any("batch_again" in one and "cancel the others" in one for one in told)


@pytest.mark.parametrize("model", MODELS)
def test_a_batch_that_is_gone_at_the_provider_is_said(
    ask: Ask, server: BatchServer, told: list[str], model: str
) -> None:
    ask("a", model=model)
    gone = server.batches.pop()
    assert texts(ask("a", model=model)) == ["Answer to a"]
    assert f"Batch {gone.id} is gone at the provider: its 1 requests are sent again." in told


@pytest.mark.parametrize("model", MODELS)
def test_a_record_of_an_earlier_version_goes_on_with_its_batch(
    ask: Ask, server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setattr("ferrule_ask.batches.record.secrets.token_hex", lambda size: "")
    ask("a", "b", model=model)
    record = tmp_path / "own"
    facts = [json.loads(line) for line in record.read_text().splitlines() if line]
    old = [{name: value for name, value in one.items() if name not in ("run", "certain")} for one in facts]
    record.write_text("".join(f"{json.dumps(one)}\n" for one in old))
    assert texts(ask("a", "b", model=model)) == ["Answer to a", "Answer to b"]
    assert len(server.batches) == 1
