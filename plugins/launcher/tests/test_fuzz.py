"""The readers of links, of a keeper's frames and of input, in one process with sanitizers that gets changed seeds.

FERRULE_FUZZ_SECONDS=600 has it go on for that long, with a seed that it says.
"""

import os
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from ferrule_testkit.launcher import SANITIZED, SOURCE, load_hook

pytestmark = [pytest.mark.process, pytest.mark.slow]

FUZZ = Path(__file__).parent / "fuzz"
SECONDS = float(os.environ.get("FERRULE_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("FERRULE_FUZZ_SEED", str(time.time_ns() if SECONDS else 1)))
INPUTS = 4_000
_SIZES = (0, 1, 4, 5, 255, 256, 0x7FFF, 0xFFFF, 1 << 20, (1 << 20) + 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_WORDS = (b"\n", b"\\", b"\\n", b" ", b"\0", b"{", b"}", b'"', b"A", b"B\1\0\0\0001", b"O", b"form 1\n", b"tool ")
_MAX_BYTES = 1 << 17
SEEDS = sorted((FUZZ / "seeds").iterdir())
KINDS = sorted({path.name[0] for path in SEEDS})


def mutate(seeds: Sequence[bytes], chance: random.Random) -> Iterator[bytes]:
    """Endless: one seed after the other as it is, and then changed ones."""
    yield from seeds
    while True:
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 1, 2, 3, 8, 30))):
            _change(data, seeds, chance)
        yield bytes(data[:_MAX_BYTES])


def _change(data: bytearray, seeds: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 1, 4, 16, 200)))
    kind = chance.randrange(7)
    if kind == 0:
        data[at:end] = b""
    elif kind == 1:
        data[at:at] = bytes(data[at:end]) * chance.choice((1, 2, 50))
    elif kind == 2:
        data[at:end] = chance.randbytes(end - at)
    elif kind == 3:
        data[at : at + 4] = chance.choice(_SIZES).to_bytes(4, "little")
    elif kind == 4:
        data[at:at] = chance.choice(_WORDS)
    elif kind == 5:
        other = chance.choice(seeds)
        begin = chance.randrange(len(other) + 1)
        data[at:end] = other[begin : begin + chance.randrange(400)]
    elif at < len(data):
        data[at] ^= 1 << chance.randrange(8)


class Driver(NamedTuple):
    """The process."""

    process: "subprocess.Popen[bytes]"

    def give(self, kind: str, data: bytes) -> int:
        """What came of one input; -1 where the process has ended."""
        self.process.stdin.write(kind.encode() + len(data).to_bytes(4, "little") + data)
        self.process.stdin.flush()
        return int.from_bytes(self.process.stdout.read(1) or b"\xff", "big", signed=True)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    compiler = load_hook().find_compiler()
    if not compiler:
        pytest.skip("there is no C compiler; scripts/install-system-packages installs one")
    program = tmp_path_factory.mktemp("fuzz") / "driver"
    rest = [path for path in SOURCE.glob("*.c") if path.name not in ("main.c", "keeper.c")]
    command = [*compiler, "-std=c11", "-O1", *SANITIZED, str(FUZZ / "driver.c"), *map(str, rest), "-o", str(program)]
    subprocess.run(command, check=True)
    pipe = subprocess.PIPE
    with subprocess.Popen([program], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield Driver(process)
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.name)
def test_a_seed_is_read_as_its_name_says(path: Path, driver: Driver) -> None:
    assert driver.give(path.name[0], path.read_bytes()) == int(path.suffix[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_no_bytes_end_a_reader(kind: str, driver: Driver) -> None:
    chance = random.Random(SEED)
    limit = time.monotonic() + SECONDS / len(KINDS)
    for number, data in enumerate(mutate([path.read_bytes() for path in SEEDS if path.name[0] == kind], chance)):
        if number >= INPUTS and time.monotonic() >= limit:
            break
        came = driver.give(kind, data)
        if came < 0:
            (FUZZ / f"found-{kind}").write_bytes(data)
            pytest.fail(f"seed {SEED}, input {number}: {driver.process.stderr.read().decode()[-3000:]}")
    print(f"{number} inputs of {kind}, seed {SEED}")
