"""A client that finds and calls tools exactly as ikigai does, limits and rough edges included.

    python -m ferrule_testkit.ikigai list [--system DIR] [--folder DIR ...]
    python -m ferrule_testkit.ikigai call TOOL [JSON] [--system DIR] [--folder DIR ...]

`list` prints one JSON object a line for each tool found, `call` the one object that the model would be shown,
with exit code 0 where that says `tool_success`. `--folder` replaces the default folders, `--system` adds the
first of them.

What a tool may rely on, and what it has to survive:

- `discover`: every executable file `NAME-tool` of the folders is run with `--schema`, one after the other. It
  has one second and 8,191 bytes; one that fails is left out without a word.
- `call`: the file is run without an argument, as the leader of a process group of its own, with
  IKIGAI_AGENT_ID set. It gets the JSON on stdin, and has 30 seconds. stdout is read to its end and only then
  stderr, 65,535 bytes of each.
- Both time limits are alarms that nobody handles: a late tool **ends the client** with SIGALRM. So does a
  tool that leaves stdout open in a child, or fills the pipe of stderr before it has closed stdout. A test of
  such a tool runs this file, or `call` with shorter `Limits`, in a process of its own.
- The alarm of a call is set when the arguments are written: a tool that reads none of more than a pipe holds
  (64 KiB) hangs the client for good.

Only what the path of a call needs is imported, so that discovering tools measures the tools.
"""

import json
import os
import re
import signal
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Any  # whatever one JSON document may hold

SUFFIX = "-tool"
ERROR_BYTES = 242  # the client formats "Tool failed: " and stderr into a buffer of 256 bytes
PIPE_BYTES = 4_096  # an empty pipe takes as many without waiting for its reader
DEEPEST = 40_000  # more levels than 65,535 bytes can open and close again


class Limits:
    """The client's limits, in whole seconds and in bytes; the defaults are its real ones. Frozen."""

    __slots__ = ("call_seconds", "output_bytes", "schema_bytes", "schema_seconds")
    schema_seconds: int
    schema_bytes: int
    call_seconds: int
    output_bytes: int

    def __init__(
        self,
        *,
        schema_seconds: int = 1,
        schema_bytes: int = 8_191,
        call_seconds: int = 30,
        output_bytes: int = 65_535,
    ) -> None:
        object.__setattr__(self, "schema_seconds", schema_seconds)
        object.__setattr__(self, "schema_bytes", schema_bytes)
        object.__setattr__(self, "call_seconds", call_seconds)
        object.__setattr__(self, "output_bytes", output_bytes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Limits are frozen: cannot set {name}")


CLIENT = Limits()


class Tool:
    """A tool that was found: `name` from its file's name, `path` as it is run, `schema` as it was printed."""

    __slots__ = ("name", "path", "schema")

    def __init__(self, name: str, path: str, schema: "Json") -> None:
        self.name = name
        self.path = path
        self.schema = schema


# ---- discovery


def default_folders(system: str | None = None) -> list[str]:
    """The folders in the order of reading; the project's is relative, and so is the path of its tools."""
    personal = [os.path.expanduser("~/.ikigai/tools/"), ".ikigai/tools/"]
    return personal if system is None else [system, *personal]


def discover(folders: Iterable[str | os.PathLike[str]], limits: Limits = CLIENT) -> "dict[str, Tool]":
    """Run every tool's `--schema` and return the tools by name; later folders override earlier ones.

    A schema that is late ends the process with SIGALRM. What else a tool does wrong leaves it out.
    """
    found: dict[str, Tool] = {}
    for folder in folders:
        for path in _executables(os.fspath(folder)):
            try:
                schema = read_schema(path, limits)
            except ValueError:
                continue
            name = tool_name(path)
            found[name] = Tool(name, path, schema)
    return dict(sorted(found.items()))


def tool_name(path: str) -> str:
    """`…/web-fetch-tool` is web_fetch: the schema's own `name` is never looked at."""
    return path.rpartition("/")[2].removesuffix(SUFFIX).replace("-", "_")


def read_schema(path: str, limits: Limits = CLIENT) -> "Json":
    """Run `path --schema` and parse what it prints; ValueError where the client would skip the tool."""
    reader, writer = os.pipe()
    # The client sets its alarm just after the start. Before it, a late tool is late on a busy machine too.
    _set_alarm(limits.schema_seconds)
    silenced = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
    printed = (os.POSIX_SPAWN_DUP2, writer, 1)
    pid = _spawn([path, "--schema"], os.environ, [printed, silenced], group=os.getpgrp())
    os.close(writer)
    output = _read(reader, limits.schema_bytes)
    signal.alarm(0)
    if not _succeeded(pid):
        raise ValueError(f"{path} --schema failed")
    return parse_strictly(output)


def _executables(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        path = f"{folder}/{name}"
        if name.endswith(SUFFIX) and name != SUFFIX and _is_executable(path):
            yield path


def _is_executable(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & stat.S_IXUSR)
    except OSError:
        return False


# ---- a call


def call(
    tool: Tool, arguments: "dict[str, Any] | str", *, agent_id: str = "agent-1", limits: Limits = CLIENT
) -> "dict[str, Any]":
    """Call `tool` with `arguments` (a string is passed on as it is) and return what the model is shown.

    That is `{"tool_success": True, "result": …}` or `{"tool_success": False, "error": …, "error_code": …}`.
    A tool that is late ends the process with SIGALRM.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    first, rest = text.encode()[:PIPE_BYTES], text.encode()[PIPE_BYTES:]
    pid, stdin, stdout, stderr = _start_call(tool.path, {**os.environ, "IKIGAI_AGENT_ID": agent_id}, first)
    if not _write(stdin, rest) and pid is not None:
        return _give_up(pid, stdout, stderr)
    _set_alarm(limits.call_seconds)
    output = _read(stdout, limits.output_bytes)
    complaint = _read(stderr, limits.output_bytes)
    signal.alarm(0)
    if not _succeeded(pid):
        return _failure(_shown(complaint), "TOOL_FAILED")
    if not output:
        return _failure("Tool produced no output", "TOOL_FAILED")
    return _wrapped(output)


def _start_call(path: str, environment: Mapping[str, str], first: bytes) -> tuple[int | None, int, int, int]:
    """Start the tool in a new process group; return its id and our ends of stdin, stdout and stderr."""
    stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
    # The client forks, and writes before the tool runs. posix_spawn returns when it runs already, and a tool
    # that reads nothing may be gone then: what any pipe holds is written first.
    os.write(stdin[1], first)
    inside = [stdin[0], stdout[1], stderr[1]]
    copies = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(inside)]
    pid = _spawn([path], environment, copies, group=0)
    for end in inside:
        os.close(end)
    return pid, stdin[1], stdout[0], stderr[0]


def _write(descriptor: int, data: bytes) -> bool:
    """Write `data`, close, and say whether all of it was taken; there is no time limit on this."""
    try:
        return not data or os.write(descriptor, data) == len(data)
    except BrokenPipeError:
        return False
    finally:
        os.close(descriptor)


def _give_up(pid: int, *descriptors: int) -> "dict[str, Any]":
    for descriptor in descriptors:
        os.close(descriptor)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return _failure("Failed to write arguments to tool", "TOOL_FAILED")


def _shown(complaint: bytes) -> str:
    """What the model sees of stderr; U+FFFD is a character cut in two, which the client cannot serialise."""
    if not complaint:
        return "Tool exited with non-zero status"
    return "Tool failed: " + _c_string(complaint)[:ERROR_BYTES].decode(errors="replace")


def _wrapped(output: bytes) -> "dict[str, Any]":
    try:
        return {"tool_success": True, "result": parse_strictly(_c_string(output))}
    except ValueError:
        return _failure("Tool returned invalid JSON", "INVALID_OUTPUT")


def _failure(error: str, code: str) -> "dict[str, Any]":
    return {"tool_success": False, "error": error, "error_code": code}


def _c_string(data: bytes) -> bytes:
    """What a call prints is copied as a C string, so a NUL byte ends it; a schema is parsed by its length."""
    return data.partition(b"\0")[0]


# ---- processes


def _spawn(
    command: list[str], environment: Mapping[str, str], actions: "list[tuple[Any, ...]]", group: int
) -> int | None:
    """Start `command` in process group `group` (0: its own) and return its id.

    None where it cannot be run: the forked client would end with exit code 1 there.
    """
    # Python ignores these two, and a tool would inherit that; the client leaves them as they are.
    defaults = (signal.SIGPIPE, signal.SIGXFSZ)
    try:
        return os.posix_spawn(
            command[0], command, environment, file_actions=actions, setpgroup=group, setsigdef=defaults
        )
    except OSError:
        return None


def _set_alarm(seconds: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)


def _read(descriptor: int, limit: int) -> bytes:
    """Read to the end or to `limit` bytes, then close: a tool that writes on meets a broken pipe."""
    data = b""
    while len(data) < limit and (part := os.read(descriptor, limit - len(data))):
        data += part
    os.close(descriptor)
    return data


def _succeeded(pid: int | None) -> bool:
    return pid is not None and os.waitpid(pid, 0)[1] == 0


# ---- JSON as the client's parser (yyjson without flags) reads it


_LONE_SURROGATE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F])|.)", re.DOTALL)


def parse_strictly(data: bytes) -> "Json":
    """Parse one JSON document; ValueError for all that the client's parser refuses.

    That is, besides broken syntax: invalid UTF-8, a byte order mark, NaN and Infinity, numbers past the range
    of a double, lone surrogate escapes, raw control characters, anything after the document. Duplicate keys
    (here the last one wins) and the escape of NUL are fine. The client follows any nesting; CPython 3.12 and
    later end between 1,000 and 10,000 levels, with RecursionError.
    """
    text = data.decode()
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, DEEPEST))
    try:
        document = _DECODER.decode(text)
    finally:
        sys.setrecursionlimit(usual)
    # On the text, since a value that a duplicate key replaces is refused as well.
    if any(match[1] for match in _LONE_SURROGATE.finditer(text)):
        raise ValueError("lone surrogate")
    return document


def _real(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits[:20]}… is past the range of a double")
    return number


def _integer(digits: str) -> int | float:
    is_exact = len(digits) <= 20 and -(2**63) <= int(digits) < 2**64
    return int(digits) if is_exact else _real(digits)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_float=_real, parse_int=_integer, parse_constant=_refuse)


# ---- the command


def _options(words: list[str]) -> tuple[list[str], list[str]]:
    """Split the command line into its plain words and the folders to read."""
    plain: list[str] = []
    folders: list[str] = []
    system: str | None = None
    rest = iter(words)
    for word in rest:
        if word == "--folder":
            folders.append(next(rest))
        elif word == "--system":
            system = next(rest)
        else:
            plain.append(word)
    return plain, folders or default_folders(system)


def main(words: list[str]) -> int:
    """Run the command; the exit code is 0, 1 for a call that failed, 2 for a command line that is wrong."""
    sys.setrecursionlimit(DEEPEST)
    try:
        plain, folders = _options(words)
    except StopIteration:
        plain = []
    match plain:
        case ["list"]:
            for tool in discover(folders).values():
                _print({"name": tool.name, "path": tool.path, "schema": tool.schema})
            return 0
        case ["call", name] | ["call", name, _]:
            answer = _call_by_name(name, plain[2] if len(plain) == 3 else "{}", folders)
            _print(answer)
            return 0 if answer["tool_success"] else 1
    sys.stderr.write("usage: ikigai.py list | call TOOL [JSON]  [--system DIR] [--folder DIR ...]\n")
    return 2


def _call_by_name(name: str, arguments: str, folders: list[str]) -> "dict[str, Any]":
    tools = discover(folders)
    if name not in tools:
        return _failure("Tool not found in registry", "TOOL_NOT_FOUND")
    return call(tools[name], arguments)


def _print(document: "dict[str, Any]") -> None:
    sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
