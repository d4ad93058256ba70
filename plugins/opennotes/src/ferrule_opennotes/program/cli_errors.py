"""What the CLI said when it refused. Its stderr holds log lines, the message, the usage, and the message again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_opennotes import errors
from ferrule_opennotes.program.process import shorten_command

if TYPE_CHECKING:
    from ferrule_opennotes.program.process import Output, Program

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MESSAGE = re.compile(r"^Error: (.*?)(?=\nUsage:|\Z)", re.MULTILINE | re.DOTALL)
_CRASH = re.compile(r"^(?:panic|fatal error): .*", re.MULTILINE)
_LOG_LINE = re.compile(r'^(?:\{"level":|\S+(?: ?[AP]M)?[ \t]+(?:TRC|DBG|INF|WRN|ERR|FTL|PNC)\b)')


def extract_message(stderr: str) -> str:
    """The message of a failed run, without log lines and usage; "" where stderr holds nothing of the kind."""
    text = _COLOURS.sub("", stderr).replace("\r\n", "\n")
    found = _MESSAGE.search(text)
    if found:
        message = _drop_repetition(found[1].strip())
    else:
        crash = _CRASH.search(text)
        message = crash[0] if crash else _find_last_line(text)
    return errors.shorten(message)


def require_success(output: Output, program: Program, arguments: list[str]) -> str:
    """What a successful run printed. Raises ToolError CLI_FAILED with the CLI's own words where it failed."""
    if output.exit_code == 0:
        return output.stdout
    command = shorten_command([text.encode(errors="replace") for text in (program.path, *arguments)])
    message = extract_message(output.stderr) or _describe_end(output.exit_code)
    raise errors.cli_failed(message, command, output.exit_code)


def _describe_end(exit_code: int) -> str:
    how = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
    return f"it ended with {how} and said nothing"


def _drop_repetition(message: str) -> str:
    """The message, where it stands twice because no usage came between."""
    half = (len(message) - 1) // 2
    return message[:half] if message[:half] == message[half + 1 :] and message[half : half + 1] == "\n" else message


def _find_last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if not _LOG_LINE.match(line)), lines[-1] if lines else "")
