"""A query ends soon when somebody wants it to, and goes on spending nothing."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import duckdb
import pytest

import ferrule_duckdb
from ferrule_testkit.model.server import ModelServer, after, says

pytestmark = pytest.mark.process


MANY = "SELECT count(stps_ask_ai(i, 'p')) FROM t"


@pytest.fixture
def slow(server: ModelServer) -> ModelServer:
    """A server that takes its time: all rows of one vector would take ten seconds and more."""
    server.script(lambda request: after(0.05, says("x")))
    return server


def wait_until_asked(server: ModelServer) -> None:
    while not server.requests:
        time.sleep(0.01)


def is_quiet(server: ModelServer) -> bool:
    """Whether nothing more is asked, once what was under way has arrived."""
    time.sleep(0.2)
    before = len(server.requests)
    time.sleep(0.5)
    return len(server.requests) == before < 1000


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("how", ["connection", "registration", "close"])
def test_a_query_ends_when_it_is_interrupted_from_another_thread(con, slow, how, threads):
    registration = ferrule_duckdb.register(con, tools=())
    con.execute(f"SET threads = {threads}")
    con.execute("CREATE TABLE t AS SELECT i FROM range(300000) r(i)")
    end = {"connection": con.interrupt, "registration": registration.interrupt, "close": registration.close}[how]
    interrupter = threading.Thread(target=lambda: (wait_until_asked(slow), end()))
    interrupter.start()
    kind = duckdb.InvalidInputException if how == "close" else duckdb.InterruptException
    with pytest.raises(kind, match=r"(?i)interrupted|closed"):
        con.execute(MANY).fetchall()
    interrupter.join()
    assert is_quiet(slow)
    ferrule_duckdb.register(con)
    assert con.execute("SELECT stps_ask_ai('a', 'after')").fetchall() == [("x",)]


def test_an_interruption_ends_no_query_of_another_connection(con, slow):
    ferrule_duckdb.register(con, tools=())
    other = con.cursor()
    ferrule_duckdb.register(other)
    rows = []
    sql = "SELECT stps_ask_ai(i, 'p') FROM range(40) t(i)"
    asking = threading.Thread(target=lambda: rows.extend(other.execute(sql).fetchall()))
    asking.start()
    wait_until_asked(slow)
    con.interrupt()
    asking.join()
    assert rows == [("x",)] * 40


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 4])
def test_ctrl_c_ends_a_query(slow, threads):
    # Where SIGINT is ignored, as in what a shell starts with `&`, a program has no handler of its own.
    program = f"""
        import signal, sys, duckdb, ferrule_duckdb
        signal.signal(signal.SIGINT, signal.default_int_handler)
        con = duckdb.connect()
        con.execute("SET threads = {threads}")
        ferrule_duckdb.register(con, tools=())
        con.execute("CREATE TABLE t AS SELECT i FROM range(300000) r(i)")
        try:
            con.execute("{MANY}").fetchall()
        except (KeyboardInterrupt, duckdb.InterruptException, RuntimeError) as error:
            assert con.execute("SELECT 42").fetchall() == [(42,)]
            sys.exit(f"caught {{type(error).__name__}}: {{error}}")
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until_asked(slow)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        finally:
            process.kill()  # which does nothing to one that has ended
    # DuckDB's error, or Python's own, which may come while the program has to do with the first.
    assert "caught" in said or "KeyboardInterrupt" in said
    assert "interrupt" in said.lower()
    assert process.returncode
    assert is_quiet(slow)


def test_ctrl_c_that_a_program_handles_itself_ends_nothing(con, slow):
    ferrule_duckdb.register(con, tools=())
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        asking = threading.Thread(target=lambda: (wait_until_asked(slow), os.kill(os.getpid(), signal.SIGINT)))
        asking.start()
        rows = con.execute("SELECT stps_ask_ai(i, 'p') FROM range(40) t(i)").fetchall()
        asking.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert (rows, heard) == ([("x",)] * 40, [True])


@pytest.mark.slow
def test_a_program_may_end_while_a_query_of_a_thread_asks(slow):
    program = """
        import os, sys, threading, time, duckdb, ferrule_duckdb
        con = duckdb.connect()
        ferrule_duckdb.register(con, tools=())
        ask = lambda: con.execute("SELECT count(stps_ask_ai(i, 'p')) FROM range(2000) t(i)").fetchall()
        threading.Thread(target=ask, daemon=True).start()
        while not ferrule_duckdb.register(con.cursor()).usage.requests:
            time.sleep(0.05)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=20, check=False)
    assert is_quiet(slow)


@pytest.mark.slow
def test_a_program_that_is_done_says_nothing_on_stderr(server):
    program = """
        import duckdb, ferrule_duckdb
        con = duckdb.connect()
        con.execute("SET enable_progress_bar = false")  # which is shown where a statement takes seconds
        ferrule_duckdb.register(con, tools=())
        print(con.execute("SELECT stps_ask_ai('a', 'p')").fetchone()[0])
        def in_a_function():
            inner = duckdb.connect()
            inner.execute("SET enable_progress_bar = false")
            ferrule_duckdb.register(inner, tools=())
            inner.execute("SELECT stps_ask_ai('a', 'p')")
        in_a_function()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, timeout=100, check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("Context: a\n\nQuestion: p\n", "")


@pytest.mark.skipif(sys.platform == "darwin", reason="only Linux forks safely; elsewhere it is not tried")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_asks_on_a_connection_of_its_own(con, server):
    ferrule_duckdb.register(con, tools=())
    con.execute("SELECT stps_ask_ai('a', 'p')")

    def ask_in_the_child() -> None:
        with duckdb.connect() as own:
            ferrule_duckdb.register(own, tools=())
            same = own.execute("SELECT stps_ask_ai('a', 'p') = stps_ask_ai('a', 'p')").fetchone()
        os._exit(0 if same == (True,) else 1)

    child = multiprocessing.get_context("fork").Process(target=ask_in_the_child)
    child.start()
    child.join(20)
    assert child.exitcode == 0
    assert len(server.requests) == 2
