"""What no tool has to declare."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ctypes
import datetime
import decimal
import gzip
import importlib.metadata
import importlib.resources
import json
import locale
import logging
import mimetypes
import mmap
import os
import pathlib
import queue
import random
import shutil
import signal
import socket
import sqlite3
import ssl
import tarfile
import tempfile
import threading
import time
import unicodedata
import uuid
import zipfile
import zoneinfo

from ..table import innocent


@innocent
def own_state(scene):
    """Keeps a file in its own state folder, replaces it, and reads it again."""
    folder = _own_folder(scene)
    path = folder / "notes.json"
    for number in range(3):
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps({"number": number}))
        fresh.chmod(0o600)
        fresh.replace(path)
    found = json.loads(path.read_text()), sorted(one.name for one in folder.iterdir())
    path.unlink()
    return found


@innocent
def database_in_its_state(scene):
    """Keeps a database in its own state folder, with a journal of writes ahead."""
    path = _own_folder(scene) / "words.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table words (word)")
        database.executemany("insert into words values (?)", [("one",), ("two",)])
    with contextlib.closing(sqlite3.connect(path)) as database:
        found = database.execute("select word from words order by word").fetchall()
    for one in path.parent.glob("words.sqlite*"):
        one.unlink()
    return found


@innocent
def log_in_its_state(scene):
    """Writes a log to its own state folder."""
    path = _own_folder(scene) / "tool.log"
    log = logging.getLogger("innocent")
    handler = logging.FileHandler(path)
    log.addHandler(handler)
    log.warning("all is well")
    handler.close()
    text = path.read_text()
    path.unlink()
    return text


@innocent
def temporary_files(scene):
    """Uses temporary files and folders of all kinds, and changes their modes and times."""
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w+") as named:
        named.write("words")
        named.flush()
        copy = shutil.copy2(named.name, folder)
        os.chmod(copy, 0o640)
        os.utime(copy, (5, 5))
        os.symlink(copy, os.path.join(folder, "link"))
        os.rename(copy, os.path.join(folder, "moved"))
        moved = os.stat(os.path.join(folder, "moved"))
        with tempfile.TemporaryFile() as unnamed, tempfile.SpooledTemporaryFile(4) as spooled:
            unnamed.write(b"12345")
            spooled.write(b"123456789")
            return oct(moved.st_mode), moved.st_mtime, unnamed.tell(), spooled.tell(), sorted(os.listdir(folder))


@innocent
def archives(scene):
    """Packs and unpacks archives in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.txt").write_text("a" * 1000)
        with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(folder / "a.txt", "a.txt")
        with tarfile.open(folder / "a.tar.gz", "w:gz") as packed:
            packed.add(folder / "a.txt", "b.txt")
        with zipfile.ZipFile(folder / "a.zip") as packed, tarfile.open(folder / "a.tar.gz") as other:
            packed.extractall(folder / "out")
            other.extractall(folder / "out", filter="data")
        return sorted(path.name for path in (folder / "out").iterdir()), len(gzip.compress(b"a" * 1000, mtime=0))


@innocent
def threads(scene):
    """Works in many threads, with locks, queues and a pool."""
    given, lock, total = queue.Queue(), threading.Lock(), []

    def work():
        while (number := given.get()) is not None:
            with lock:
                total.append(number * number)

    workers = [threading.Thread(target=work) for _ in range(16)]
    for worker in workers:
        worker.start()
    for number in [*range(200), *[None] * 16]:
        given.put(number)
    for worker in workers:
        worker.join()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return sum(total), sum(pool.map(len, ["abc"] * 100))


@innocent
def event_loop(scene):
    """Runs an event loop with tasks, threads, timers and a pair of sockets."""

    async def main():
        one, other = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=one)
        other.sendall(b"line\n")
        line = await reader.readline()
        writer.close()
        other.close()
        slept = await asyncio.gather(*(asyncio.sleep(0.001, number) for number in range(20)))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR2, lambda: None)
        return line.decode(), sum(slept), await asyncio.to_thread(len, "four")

    return asyncio.run(main())


@innocent
def arrays(scene):
    """Computes with numpy, whose libraries start threads of their own."""
    numpy = _imported("numpy")
    if numpy is None:
        return "not installed"
    square = numpy.arange(40_000, dtype="float64").reshape(200, 200)
    return float((square @ square).trace()), [round(float(one), 6) for one in numpy.random.default_rng(5).random(3)]


@innocent
def columns(scene):
    """Writes and reads columns of pyarrow in a temporary folder."""
    pyarrow = _imported("pyarrow")
    if pyarrow is None:
        return "not installed"
    import pyarrow.compute
    import pyarrow.parquet

    table = pyarrow.table({"n": list(range(1000)), "word": ["a", "b"] * 500})
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.parquet.write_table(table, f"{folder}/t.parquet")
        read = pyarrow.parquet.read_table(f"{folder}/t.parquet", use_threads=True)
    return read.num_rows, pyarrow.compute.sum(read["n"]).as_py()


@innocent
def analysis(scene):
    """Asks duckdb, in memory and in a file."""
    duckdb = _imported("duckdb")
    if duckdb is None:
        return "not installed"
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(f"{folder}/a.duckdb") as database:
        database.execute("create table t as select range as n from range(10000)")
        return database.execute("select count(*), sum(n), avg(n) from t").fetchall()


@innocent
def time_zones(scene):
    """Knows the time zones of the world, and the local one."""
    moment = datetime.datetime(2026, 7, 1, 12, tzinfo=datetime.UTC)
    zones = ("Europe/Oslo", "America/New_York", "Asia/Kathmandu")
    return [moment.astimezone(zoneinfo.ZoneInfo(zone)).isoformat() for zone in zones], list(time.tzname)


@innocent
def languages(scene):
    """Sets the locale, and knows characters and types of files."""
    name = locale.setlocale(locale.LC_ALL, "C.UTF-8")
    return name, unicodedata.name("\N{SNOWMAN}"), mimetypes.guess_type("a.json"), locale.getpreferredencoding()


@innocent
def certificates(scene):
    """Makes a context of TLS with the certificates that the system trusts."""
    context = ssl.create_default_context()
    certifi = _imported("certifi")
    if certifi is not None:
        context.load_verify_locations(certifi.where())
    return context.verify_mode.name, len(context.get_ca_certs()) > 0


@innocent
def places(scene):
    """Asks where it is: the home, its user, the working folder, the processors."""
    home = pathlib.Path.home()
    return str(home), os.path.expanduser("~/x"), os.getcwd() != "", (os.cpu_count() or 0) > 0, os.getuid()


@innocent
def resources(scene):
    """Reads data of its own package, and of a library."""
    own = importlib.resources.files(__package__).joinpath("tool.json").read_text()
    version = importlib.metadata.version("pluggy")
    return json.loads(own), version.count(".") > 0


@innocent
def numbers(scene):
    """Computes with decimals, random numbers and identifiers."""
    decimal.getcontext().prec = 30
    return str(decimal.Decimal(2).sqrt()), random.Random(5).random(), str(uuid.uuid5(uuid.NAMESPACE_URL, "a")), len(
        os.urandom(8)
    )


@innocent
def native_code(scene):
    """Calls a function of C, with a callback, which needs memory that may be run."""
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    values = (ctypes.c_int * 5)(5, 1, 4, 2, 3)
    ctypes.CDLL(None).qsort(values, 5, ctypes.sizeof(ctypes.c_int), compare(lambda a, b: a[0] - b[0]))
    return list(values)


@innocent
def shared_pages(scene):
    """Maps a temporary file into its memory, and changes it there."""
    with tempfile.TemporaryFile() as file:
        file.write(b"0" * 4096)
        file.flush()
        with mmap.mmap(file.fileno(), 0) as pages:
            pages[:5] = b"words"
        file.seek(0)
        return file.read(6).decode()


@innocent
def its_own_signals(scene):
    """Sends itself a signal, and sets a timer."""
    got = []
    signal.signal(signal.SIGUSR2, lambda *_: got.append("own"))
    os.kill(os.getpid(), signal.SIGUSR2)
    signal.signal(signal.SIGALRM, lambda *_: got.append("timer"))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    limit = time.monotonic() + 5
    while len(got) < 2 and time.monotonic() < limit:
        time.sleep(0.005)
    return got


@innocent
def names_of_hosts(scene):
    """Looks up names that need no network."""
    return sorted({one[4][0] for one in socket.getaddrinfo("127.0.0.1", 80)}), socket.getservbyname("https")


def _own_folder(scene):
    folder = pathlib.Path(scene["state"], "tools", scene["tool"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


from ..plugin import Tools  # noqa: E402 - the table has to be full first

tools = Tools()
