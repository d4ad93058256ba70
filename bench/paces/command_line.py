"""One question, and 50 rows of a file, by the command lines of ferrule and of `llm`, with the same model on loopback.

Usage: python bench/paces/command_line.py --peers PYTHON [--runs N] [--json]

--peers: an interpreter of an environment with the requirements of bench/paces/peers.txt.

The model speaks OpenAI's Chat Completions, and answers after 100 ms. `llm` asks one question for each run, so the rows
are a loop of a shell over its command; `ferrule ask --rows` asks them at once. Seconds, medians of the runs, in turn.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import Command, Cost, run

QUESTION, ROWS, SECONDS_OF_THE_MODEL = "What is the capital of Norway?", 50, 0.1
KEY = "a-key-of-the-bench-0123456789"
MESSAGE = {"role": "assistant", "content": "Oslo."}
REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1741569952,
    "model": "local",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29},
}


class Model(BaseHTTPRequestHandler):
    """Answers each question alike."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(SECONDS_OF_THE_MODEL)
        body = json.dumps(REPLY).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing is logged."""


class Contender(NamedTuple):
    """A program. one: asks one question. many: asks the rows."""

    name: str
    one: Command
    many: Command


def main() -> None:
    """Print a line for each work and contender."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve() as url:
        contenders = ferrule(Path(folder), url), llm(Path(folder), url, options.peers)
        for number, runs in ((1, options.runs), (ROWS, max(1, options.runs // 5))):
            commands = [one.one if number == 1 else one.many for one in contenders]
            for contender, command in zip(contenders, commands, strict=True):
                insist(contender.name, command, folder, number)
            costs = list(zip(*([run(command) for command in commands] for _ in range(runs)), strict=True))
            for contender, taken in zip(contenders, costs, strict=True):
                tell(contender.name, number, taken, as_json=options.json)


def insist(name: str, command: Command, folder: str, number: int) -> None:
    """Run it once, so that what it keeps is there, and count the answers."""
    argv = [str(part) for part in command.argv]
    done = subprocess.run(argv, env={**os.environ, **command.environ}, capture_output=True, text=True, check=True)
    rows = Path(folder, "out.csv")
    said = done.stdout + (rows.read_text() if number > 1 and rows.exists() else "")
    if said.count("Oslo.") < number:
        sys.exit(f"{name} has answered {said.count('Oslo.')} of {number}: {done.stderr[-2000:]}")


@contextmanager
def serve() -> Iterator[str]:
    """The model's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def ferrule(folder: Path, url: str) -> Contender:
    """`ferrule ask`, which offers no tool to the model, as `llm` offers none."""
    config, rows = folder / "config.toml", folder / "rows.csv"
    config.write_text(f'[ask.providers.local]\nbase_url = "{url}"\n')
    with rows.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("question",), *((f"{QUESTION} {number}",) for number in range(ROWS))])
    environ = {"FERRULE_CONFIG": str(config), "FERRULE_STATE": str(folder / "state")}
    ask: list[str | Path] = [Path(sys.executable).with_name("ferrule"), "ask", "--no-tools", "--model", "local/local"]
    # Kept answers would be given again: the state is removed before each run.
    many: list[str | Path] = ["sh", "-c", 'rm -rf "$FERRULE_STATE" "$0"; exec "$@"', folder / "out.csv", *ask]
    many += [QUESTION, "--rows", rows, "--out", folder / "out.csv"]
    return Contender("ferrule ask", Command([*ask, QUESTION], environ=environ), Command(many, environ=environ))


def llm(folder: Path, url: str, python: str) -> Contender:
    """`llm` with an address of its own, as its documentation describes it."""
    home = folder / "llm"
    home.mkdir()
    home.joinpath("extra-openai-models.yaml").write_text(
        f"- model_id: local\n  model_name: local\n  api_base: {url}\n  can_stream: false\n"
    )
    environ = {"LLM_USER_PATH": str(home), "OPENAI_API_KEY": KEY}
    ask: list[str | Path] = [Path(python).with_name("llm"), "-m", "local", "--no-stream"]
    loop = f'for number in $(seq {ROWS}); do "$@" "{QUESTION} $number"; done'
    many = Command(["sh", "-c", loop, "sh", *ask], environ=environ)
    return Contender("llm", Command([*ask, QUESTION], environ=environ), many)


def tell(name: str, number: int, taken: tuple[Cost, ...], *, as_json: bool) -> None:
    """Print the medians."""
    cpu, wall = (statistics.median(one[index] for one in taken) for index in (0, 1))
    facts = {"contender": name, "questions": number, "cpu_seconds": round(cpu, 2), "seconds": round(wall, 2)}
    text = f"{name:12} {number:3} questions  {cpu:6.2f} s of the processor  {wall:6.2f} s"
    print(json.dumps(facts) if as_json else text, flush=True)


if __name__ == "__main__":
    main()
