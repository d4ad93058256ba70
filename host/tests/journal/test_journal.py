"""The journal's files: whole lines whatever happens to the processes that write them, in bounded room."""

import hmac
import json
import os
import resource
import signal
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ferrule.config.configuration import Configuration
from ferrule.journal import file, record
from ferrule.journal.entries import DamagedLine, Entry, JournalReader
from ferrule.journal.record import is_on, journal_settings, problems
from ferrule.journal.selection import Selection, caller_of, parse_instant
from ferrule.journal.summary import percentile, summarise
from ferrule.supervision.channel.outcome import Outcome

LARGE = 1 << 30


def line(tool: str = "hello", **facts: object) -> bytes:
    return json.dumps(entry(tool, **facts)).encode() + b"\n"


def entry(tool: str = "hello", **facts: object) -> Entry:
    known = {"time": "2026-05-01T12:00:00.000Z", "tool": tool, "way": "run", "outcome": "ok", "seconds": 0.5}
    return {**known, "input_bytes": 2, "output_bytes": 30, **facts}  # type: ignore[typeddict-item,return-value] # a part of a record


def tools(path: Path, reader: JournalReader | None = None) -> list[str]:
    found = (reader or JournalReader(str(path))).read()
    return [one.place if isinstance(one, DamagedLine) else one["tool"] for one in found]


def in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def end_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.process
def test_lines_of_many_processes_are_whole_and_their_files_stay_within_their_room(tmp_path: Path) -> None:
    path, room = tmp_path / "folder" / "calls.jsonl", 3 << 17

    def write(number: int) -> None:
        for count in range(150):
            file.append(str(path), line(f"{number}-{count}", filling="x" * 1000), room)

    assert [end_of(child) for child in [in_child(lambda number=number: write(number)) for number in range(6)]] == [
        0
    ] * 6
    names = sorted(one.name for one in path.parent.iterdir())
    assert names == ["calls.jsonl", "calls.jsonl.1", "calls.jsonl.2"]
    assert sum(one.stat().st_size for one in path.parent.iterdir()) <= room
    found = tools(path)
    assert len(found) > 200
    assert not [one for one in found if one.startswith("calls")], "no line is damaged"
    for number in range(6):
        counts = [int(one.partition("-")[2]) for one in found if one.startswith(f"{number}-")]
        assert counts == list(range(150))[len(range(150)) - len(counts) :], "what is lost is the oldest, and no other"
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.process
def test_a_disk_that_is_full_within_a_line_leaves_the_lines_before_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    file.append(str(path), line("before"), LARGE)
    size = path.stat().st_size

    def write() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, size + 10))
        with pytest.raises(OSError, match="No space left"):
            file.append(str(path), line("cut"), LARGE)

    assert end_of(in_child(write)) == 0
    assert path.stat().st_size == size
    file.append(str(path), line("after"), LARGE)
    assert tools(path) == ["before", "after"]


@pytest.mark.process
def test_a_process_that_holds_the_lock_for_ever_stops_no_other(tmp_path: Path) -> None:
    import fcntl

    path = tmp_path / "calls.jsonl"
    file.append(str(path), line("before"), LARGE)
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert end_of(in_child(lambda: file.append(str(path), line("meanwhile"), LARGE))) == 0
    assert tools(path) == ["before", "meanwhile"]


def test_a_line_that_was_cut_off_is_told_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(line("first") + b'{"time": "2026-')
    path.chmod(0o600)
    file.append(str(path), line("second"), LARGE)
    with path.open("ab") as damaged:
        damaged.write(b"\xff\n[]\n{}\n" + json.dumps({**entry(), "seconds": "x"}).encode() + b"\n\n")
    file.append(str(path), line("third"), LARGE)
    places = [f"calls.jsonl:{number}" for number in (4, 5, 6, 7)]
    assert tools(path) == ["first", "calls.jsonl:2", "second", *places, "third"]


def test_a_reader_goes_on_where_it_was_when_files_rotate(tmp_path: Path) -> None:
    path, reader = tmp_path / "calls.jsonl", JournalReader(str(tmp_path / "calls.jsonl"))
    assert tools(path, reader) == []
    for round_ in range(3):
        file.append(str(path), line(f"{round_} a"), LARGE)
        assert tools(path, reader) == [f"{round_} a"]
        file.append(str(path), line(f"{round_} b"), LARGE)
        file.rotate(str(path))
        file.append(str(path), line(f"{round_} c"), LARGE)
        assert tools(path, reader) == [f"{round_} b", f"{round_} c"]
    for name in "defg":
        file.append(str(path), line(name), LARGE)
        file.rotate(str(path))
    assert tools(path, reader) == ["f", "g"], "the file that was read last is gone, and so are those before it"


def test_a_line_that_is_being_written_is_left_for_the_next_look(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    whole = line("slow")
    path.write_bytes(whole[:20])
    reader = JournalReader(str(path))
    assert list(reader.read(is_last=False)) == []
    path.write_bytes(whole)
    assert tools(path, reader) == ["slow"]


@pytest.mark.parametrize("kind", ["link", "pipe", "writable by others", "folder"])
def test_a_file_that_is_not_the_users_own_is_not_written(kind: str, tmp_path: Path) -> None:
    path, other = tmp_path / "calls.jsonl", tmp_path / "other"
    other.write_text("kept")
    if kind == "link":
        path.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("")
        path.chmod(0o666)
    with pytest.raises(OSError):
        file.append(str(path), line(), LARGE)
    assert file.check_writable(str(path))
    assert other.read_text() == "kept"


def test_the_hash_of_arguments_is_hmac() -> None:
    expected = hmac.new(b"k" * 32, b'{"a":[1,2.5],"b":"\xc3\xa4"}', "sha256").hexdigest()
    assert record.hash_arguments(b"k" * 32, {"b": "ä", "a": [1, 2.5]}) == expected


def settings(table: object, folder: Path) -> Configuration:
    content = {"journal": {**table, "path": str(folder / "calls.jsonl")} if isinstance(table, dict) else table}
    return Configuration(str(folder / "config.toml"), content, {})


def written(
    table: dict[str, object], folder: Path, arguments: dict[str, object], outcome: Outcome
) -> dict[str, object]:
    call = {"tool": "hello", "input_bytes": 1, "output_bytes": 2}
    assert record.record(settings(table, folder), call, arguments, outcome, {"way": "run"}, 0.25) == ""
    found: dict[str, object] = json.loads((folder / "calls.jsonl").read_bytes().splitlines()[-1])
    return found


def test_arguments_are_a_hash_under_a_key_of_the_machine_unless_the_admin_wants_them(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    asked, turned, well = {"a": 1, "b": "ä"}, {"b": "ä", "a": 1}, Outcome(b"{}", None)
    first = written({}, one, asked, well)["arguments_hash"]
    assert written({}, one, turned, well)["arguments_hash"] == first
    assert written({}, one, {"a": 2, "b": "ä"}, well)["arguments_hash"] != first
    assert written({}, two, asked, well)["arguments_hash"] != first, "a guess cannot be checked without the key"
    assert stat.S_IMODE((one / "calls.jsonl.key").stat().st_mode) == 0o600
    assert written({"arguments": "full"}, one, asked, well)["arguments"] == asked
    assert written({"arguments": "none"}, one, asked, well).keys() & {"arguments", "arguments_hash"} == set()
    assert "arguments_hash" in written({"arguments": "full"}, one, {"a": "x" * 100_000}, well)


def test_no_secret_and_nothing_that_json_cannot_hold_gets_into_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cret-k3y-0123"
    outcome = Outcome(None, {"code": "X" * 999, "message": ""}, secrets=[secret])
    monkeypatch.setenv("IKIGAI_AGENT_ID", f"agent {secret} \udcff")
    caller = record.caller_facts("serve", {"name": "n" * 999, "version": secret})
    call = {"tool": "hello", "input_bytes": 1, "output_bytes": 2}
    record.record(settings({"arguments": "full"}, tmp_path), call, {"key": f"<{secret}>"}, outcome, caller, 0.0)
    text = (tmp_path / "calls.jsonl").read_text()
    assert secret not in text
    assert json.loads(text)["agent"] == "agent [redacted] ?"
    assert len(text) < 1200


@pytest.mark.parametrize(
    ("table", "on"),
    [({}, False), ({"enabled": True}, True), ({"enabled": False}, False), ({"enabled": "no"}, True), (5, True)],
)
def test_a_malformed_switch_is_on_and_told(table: object, on: bool, tmp_path: Path) -> None:
    chosen = settings(table, tmp_path)
    assert is_on(chosen) is on
    is_malformed = not isinstance(table, dict) or not isinstance(table.get("enabled", True), bool)
    assert bool(problems(chosen)) is is_malformed


def test_malformed_settings_keep_least(tmp_path: Path) -> None:
    chosen = settings({"arguments": "all", "max_mib": -3, "enable": True}, tmp_path)
    found = journal_settings(chosen)
    assert (found.arguments, found.max_bytes) == ("hash", 16 << 20)
    assert len(problems(chosen)) == 3


def test_a_selection_needs_all_that_it_names() -> None:
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    call = entry(outcome="TIMEOUT", way="serve", agent="a-7", client={"name": "Inspector", "version": "1.2"})
    denied = entry(denied=[{"kind": "read", "what": "~/.ssh/id_rsa"}])
    assert caller_of(call) == "Inspector 1.2, a-7 (serve)"
    for selection in (Selection(("hello", "x"), noon, "inspector", failed=True), Selection(caller="A-7"), Selection()):
        assert selection.has(call)
    for selection in (
        Selection(("x",)),
        Selection(since=noon + timedelta(seconds=1)),
        Selection(caller="z"),
        Selection(denied=True),
    ):
        assert not selection.has(call)
    assert Selection(denied=True).has(denied)
    assert not Selection(failed=True).has(denied)


@pytest.mark.parametrize(
    ("text", "ago"), [("90s", 90), ("30m", 1800), ("30 min", 1800), ("2h", 7200), ("1.5d", 129_600), ("1w", 604_800)]
)
def test_a_span_is_before_now(text: str, ago: float) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert parse_instant(text, now) == now - timedelta(seconds=ago)


def test_an_instant_is_a_date_or_an_error_with_examples() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert parse_instant("2026-04-30T12:00:00+02:00", now) == datetime(2026, 4, 30, 10, tzinfo=UTC)
    for wrong in ("", "yesterday", "9999999999w", "-2h", "2x"):
        with pytest.raises(ValueError, match=r"2h or 7d|longer ago"):
            parse_instant(wrong, now)


def test_a_summary_counts_tool_by_tool() -> None:
    calls = [entry(seconds=number / 100, outcome="ok" if number % 10 else "TIMEOUT") for number in range(1, 101)]
    first, second = summarise([entry("zebra", denied=[{"kind": "run", "what": "sh"}]), *calls])
    assert (first["calls"], first["failed"], first["failures"]) == (100, 10, {"TIMEOUT": 10})
    assert (first["p50_seconds"], first["p95_seconds"]) == (0.5, 0.95)
    assert (first["input_bytes"], first["output_bytes"]) == (200, 3000)
    assert (second["tool"], second["denied"], second["p95_seconds"]) == ("zebra", 1, 0.5)
    assert percentile([1.0, 2.0], 0.5) == 1.0
