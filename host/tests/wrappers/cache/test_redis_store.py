"""The store of several machines: a real server, which may be slow, full, closed, or somebody else's."""

import multiprocessing
import os
import re
import signal
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ferrule.content.artifacts.settings import Settings
from ferrule.content.artifacts.store import ArtifactStore
from ferrule.storage import RedisConnection, StorageError
from ferrule.wrappers.cache import entries
from ferrule.wrappers.cache.entries import Entry
from ferrule.wrappers.cache.keys import key_of
from ferrule.wrappers.cache.redis_store import RedisStore
from ferrule.wrappers.cache.single_flight import FOLLOWER, LEADER, TIMEOUT
from ferrule_testkit.programs.redis_server import RedisServer

pytestmark = pytest.mark.process


PATIENT = 30.0  # seconds, where it is not the bound that is tested
NOBODY = "redis://127.0.0.1:1/0"


def entry(name: str = "a", *, seconds: float = 100.0) -> Entry:
    asked = {"tool": "web_fetch", "arguments": {"url": name}, "identity": {}}
    return Entry(key_of(asked), asked, {"result": {"content": name}}, entries.now(), seconds)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as server:
        yield server


@pytest.fixture
def opened() -> Iterator[Callable[..., RedisStore]]:
    """Open a store, which is closed with the test."""
    with ExitStack() as stack:

        def opened(url: str, seconds: float = PATIENT) -> RedisStore:
            store = RedisStore(url, seconds)
            stack.callback(store.close)
            return store

        yield opened


@pytest.fixture
def store(server: RedisServer, opened: Callable[..., RedisStore]) -> RedisStore:
    return opened(server.url)


def test_what_was_kept_is_found_by_another_client(
    store: RedisStore, server: RedisServer, opened: Callable[..., RedisStore]
) -> None:
    store.put(entry())
    found = opened(server.url, PATIENT).get(entry().key)
    assert found is not None
    assert found.outcome == {"result": {"content": "a"}}
    assert found.is_live(entries.now())
    assert store.get(entry("b").key) is None


def test_the_server_ends_the_life_of_an_entry_and_says_how_old_it_is(store: RedisStore, server: RedisServer) -> None:
    kept = entry(seconds=100)
    store.put(kept)
    (name,) = server.names()
    assert 0 < server.ask("PTTL", name) <= 100_000
    server.ask("PEXPIRE", name, 40_000)
    found = store.get(kept.key)
    assert found is not None
    assert 59 < (found.age(entries.now()) or 0) < 62
    server.ask("PEXPIRE", name, 1)
    time.sleep(0.01)
    assert store.get(kept.key) is None


@pytest.mark.parametrize("damage", ["torn", "other", "list", "eternal"])
def test_what_is_not_as_it_was_left_is_a_miss_or_told(damage: str, store: RedisStore, server: RedisServer) -> None:
    kept = entry()
    store.put(kept)
    (name,) = server.names()
    data = server.ask("GET", name)
    server.ask("DEL", name)
    if damage == "list":
        server.ask("RPUSH", name, data)
        with pytest.raises(StorageError, match="WRONGTYPE"):
            store.get(kept.key)
        return
    changed = {"torn": data[:-5], "other": entries.write(entry("b")), "eternal": data}[damage]
    server.ask("SET", name, changed, *(() if damage == "eternal" else ("PX", 5000)))
    assert store.get(kept.key) is None


def test_arguments_and_settings_are_hashes_there(store: RedisStore) -> None:
    question = {"tool": "t", "arguments": {"query": "cats"}, "identity": {"settings": {"token": "open-sesame"}}}
    seen = str(store.redacted_question(question))
    assert "cats" not in seen
    assert "open-sesame" not in seen
    assert "query" in seen


def test_all_entries_are_listed_and_nothing_else(store: RedisStore, server: RedisServer) -> None:
    server.ask("SET", "another:program", "1")
    server.ask("SET", "ferrule:cache:1:zz", "1", "PX", 1000)
    for number in range(30):
        store.put(entry(str(number)))
    assert sorted(kept.key for kept, _ in store.all()) == sorted(entry(str(n)).key for n in range(30))
    assert store.remove(entry("0").key)
    assert not store.remove(entry("0").key)
    assert len(list(store.all())) == 29


def test_a_password_a_user_and_a_database_are_taken_from_the_url(
    tmp_path: Path, opened: Callable[..., RedisStore]
) -> None:
    with RedisServer(tmp_path, "--requirepass", "s/cr:t") as server:
        url = f"redis://:s%2Fcr%3At@127.0.0.1:{server.port}/3"
        store = opened(url, PATIENT)
        store.put(entry())
        assert store.place == f"redis://127.0.0.1:{server.port}/3"
        assert server.ask("DBSIZE", url=url) == 1
        assert server.ask("DBSIZE", url=url.replace("/3", "/0")) == 0
        named = opened(url.replace("redis://:", "redis://default:"), PATIENT)
        assert named.get(entry().key) is not None
        with pytest.raises(StorageError) as raised:
            opened(url.replace("cr", "xx"), PATIENT).get(entry().key)
        assert str(raised.value) == "Redis refused a command: WRONGPASS"


def test_a_socket_of_the_file_system_will_do(tmp_path: Path, opened: Callable[..., RedisStore]) -> None:
    with RedisServer(tmp_path, "--unixsocket", str(tmp_path / "s")):
        store = opened(f"unix://{tmp_path}/s?db=2", PATIENT)
        store.put(entry())
        assert store.get(entry().key) is not None


@pytest.mark.parametrize(
    "url", ["", "nonsense", "http://host/", "redis://", "redis://host/x", "redis://host:x/", "unix://", "redis:/host"]
)
def test_a_url_that_is_none_is_told_without_being_repeated(url: str, opened: Callable[..., RedisStore]) -> None:
    with pytest.raises(StorageError) as raised:
        opened(url).get("a" * 64)
    assert "redis://HOST:6379/0" in str(raised.value) or "Redis cannot be used" in str(raised.value)


def test_where_nobody_listens_that_is_told(opened: Callable[..., RedisStore]) -> None:
    with pytest.raises(StorageError, match="Connection refused"):
        opened(NOBODY).get("a" * 64)


def test_a_server_that_says_nothing_costs_its_time_once(opened: Callable[..., RedisStore]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        store = opened(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", 0.1)
        with pytest.raises(StorageError, match="too slow"):
            store.get("a" * 64)
        silent.close()
        for use in (lambda: store.get("a" * 64), lambda: store.put(entry()), lambda: store.flight("a" * 64).join(9)):
            with pytest.raises(StorageError, match="too slow"):
                use()


def test_a_server_that_drips_costs_no_more_than_its_time(opened: Callable[..., RedisStore]) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        over = threading.Event()

        def drip() -> None:
            client, _ = listening.accept()
            with client:
                client.sendall(b"$100000\r\n")
                while not over.wait(0.01):
                    client.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            with pytest.raises(StorageError, match="too slow"):
                opened(f"redis://127.0.0.1:{listening.getsockname()[1]}/0", 0.2).get("a" * 64)
        finally:
            over.set()
            dripping.join()


def test_a_stopped_server_is_too_slow(server: RedisServer, opened: Callable[..., RedisStore]) -> None:
    os.kill(server.pid, signal.SIGSTOP)
    try:
        with pytest.raises(StorageError, match="too slow"):
            opened(server.url, 0.2).get("a" * 64)
    finally:
        os.kill(server.pid, signal.SIGCONT)


def test_a_reply_that_was_not_waited_for_is_never_that_to_a_later_command(server: RedisServer) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    connection = RedisConnection(server.url, PATIENT)
    connection.ask(("SET", "a", "of a"), ("SET", "b", "of b"))
    before = signal.signal(signal.SIGALRM, interrupt)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            connection.ask(("GET", "a"))
    finally:
        os.kill(server.pid, signal.SIGCONT)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(StorageError):
        connection.ask(("GET", "b"))


def test_a_server_without_memory_refuses_and_is_told(store: RedisStore, server: RedisServer) -> None:
    server.ask("CONFIG", "SET", "maxmemory", "1")
    with pytest.raises(StorageError, match="OOM"):
        store.put(entry())


@pytest.fixture
def answering() -> Iterator[Callable[[bytes], str]]:
    """A server that answers every command with the same bytes; its URL."""
    with ExitStack() as stack:

        def answering(reply: bytes) -> str:
            class Handler(socketserver.BaseRequestHandler):
                def handle(self) -> None:
                    while data := self.request.recv(1 << 16):
                        # A command begins with the number of its words.
                        self.request.sendall(reply * len(re.findall(rb"(?m)^\*\d+\r$", data)))

            server = stack.enter_context(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler))
            serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            serving.start()
            stack.callback(serving.join)
            stack.callback(server.shutdown)
            return f"redis://127.0.0.1:{server.server_address[1]}/0"

        yield answering


ODD = pytest.mark.parametrize(
    "reply",
    [
        b":5\r\n",
        b"$-1\r\n",
        b"+OK\r\n",
        b"$3\r\nabc\r\n",
        b"*1\r\n:1\r\n",
        b"*2\r\n:1\r\n:2\r\n",
        b"%1\r\n+a\r\n+b\r\n",
    ],
)


@ODD
def test_answers_of_other_kinds_are_told(
    reply: bytes, answering: Callable[[bytes], str], opened: Callable[..., RedisStore]
) -> None:
    url = answering(reply)
    with pytest.raises(StorageError, match="something else answers"):
        opened(url).get("a" * 64)
    with pytest.raises(StorageError, match="something else answers"):
        list(opened(url).all())


def test_nobody_waits_for_a_leader_that_does_not_exist(
    answering: Callable[[bytes], str], opened: Callable[..., RedisStore]
) -> None:
    flight = opened(answering(b"$-1\r\n")).flight("a" * 64)
    with pytest.raises(StorageError, match="contradicts itself"):
        flight.join(PATIENT)


@ODD
def test_no_artifact_is_promised_that_was_not_kept(reply: bytes, answering: Callable[[bytes], str]) -> None:
    store = ArtifactStore(Settings(lambda key, _: {"redis": answering(reply)}.get(key)))
    with pytest.raises(StorageError, match="something else answers"):
        store.put("a" * 64, b"{}", 60)
    with pytest.raises(StorageError, match="something else answers"):
        store.get("a" * 64)


def test_something_else_than_redis_is_told(opened: Callable[..., RedisStore]) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def greet() -> None:
            client, _ = listening.accept()
            with client:
                client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                client.recv(100)

        greeting = threading.Thread(target=greet)
        greeting.start()
        with pytest.raises(StorageError, match="something else answers"):
            opened(f"redis://127.0.0.1:{listening.getsockname()[1]}/0", 5.0).get("a" * 64)
        greeting.join()


def _fly(url: str, told: "multiprocessing.connection.Connection", keeps: bool) -> None:
    store = RedisStore(url, PATIENT)
    flight = store.flight(entry().key)
    told.send(flight.join(60.0))
    told.recv()
    if keeps:
        store.put(entry())
    flight.end()


class Flying:
    def __init__(self, server: RedisServer, *, keeps: bool = False) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_fly, args=(server.url, theirs, keeps), daemon=True)
        self.process.start()

    def came(self) -> str:
        assert self.pipe.poll(60.0)
        return str(self.pipe.recv())

    def end(self) -> None:
        self.pipe.send("end")
        self.process.join()


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [True, False])
def test_the_first_leads_and_the_others_follow_on_all_machines(keeps: bool, server: RedisServer) -> None:
    leader = Flying(server, keeps=keeps)
    assert leader.came() == LEADER
    others = [Flying(server) for _ in range(5)]
    assert not any(other.pipe.poll(0.2) for other in others)
    leader.end()
    assert [other.came() for other in others] == [FOLLOWER] * 5
    for other in others:
        other.end()


@pytest.mark.slow
def test_where_the_leader_dies_its_lease_runs_out_and_one_other_leads(server: RedisServer) -> None:
    leader = Flying(server)
    assert leader.came() == LEADER
    others = [Flying(server, keeps=True) for _ in range(3)]
    time.sleep(0.2)
    os.kill(leader.process.pid or 0, signal.SIGKILL)
    came: list[str] = []
    while others:
        ready = next((other for other in others if other.pipe.poll(0.01)), None)
        if ready:
            came.append(ready.came())
            ready.end()
            others.remove(ready)
    assert came == [LEADER, FOLLOWER, FOLLOWER]


def test_a_lease_is_renewed_as_long_as_the_tool_works(server: RedisServer, opened: Callable[..., RedisStore]) -> None:
    flight = opened(server.url, PATIENT).flight("a" * 64)
    assert flight.join(0) == LEADER
    (name,) = server.names()
    server.ask("PEXPIRE", name, 1_500)
    limit = time.monotonic() + 30
    while server.ask("PTTL", name) <= 1_500:
        assert time.monotonic() < limit
        time.sleep(0.02)
    flight.end()
    assert server.ask("EXISTS", name) == 0


def test_whoever_ends_a_flight_leaves_that_of_another_alone(
    server: RedisServer, opened: Callable[..., RedisStore]
) -> None:
    flight = opened(server.url, PATIENT).flight("a" * 64)
    assert flight.join(0) == LEADER
    (name,) = server.names()
    server.ask("SET", name, "another")
    flight.end()
    assert server.ask("GET", name) == b"another"


def test_nobody_waits_past_the_time(server: RedisServer, opened: Callable[..., RedisStore]) -> None:
    leader = opened(server.url, PATIENT).flight("a" * 64)
    assert leader.join(0) == LEADER
    assert opened(server.url, PATIENT).flight("a" * 64).join(0.05) == TIMEOUT
    leader.end()


def test_a_connection_says_where_it_goes_and_never_the_password() -> None:
    connection = RedisConnection("redis://me:secret@cache.example:7000/5", 1.0)
    assert connection.place == "redis://cache.example:7000/5"
