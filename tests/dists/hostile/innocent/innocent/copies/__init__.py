"""What is allowed to fork."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os

from ..table import innocent


@innocent
def pool_of_processes(scene):
    """Computes in processes of its own."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(_square, range(10))


@innocent
def executor_of_processes(scene):
    """Computes in processes of an executor."""
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        return list(pool.map(_square, range(5)))


@innocent
def fork_and_wait(scene):
    """Forks once, and reads from a pipe what the copy says."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"from the copy")
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 100).decode()
    return text, os.waitpid(child, 0)[1]


def _square(number):
    return number * number


from ..plugin import Tools  # noqa: E402 - the table has to be full first

tools = Tools()
