"""Why a server gave no answer, as an error of the tool, with the server's own last words."""

from __future__ import annotations

import os

from ferrule import ToolError
from ferrule_mcp.stdio.lines import shorten_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrule_mcp.stdio.lines import Tail

SERVER_FAILED, TIMEOUT, INPUT_REQUIRED = "SERVER_FAILED", "TIMEOUT", "INPUT_REQUIRED"
_WORDS_LINES = 6  # of stderr
_MAX_WORDS_CHARS = 1_500
_AGAIN = "Call it again; where it fails each time, the administrator can start it by itself and see more."

_AT_START = "It may lack an argument, a variable or a right, which the administrator can give it."


class Failures:
    """The errors of one session.

    Args:
        server: its name, as the administrator gave it.
        secrets: gives the values that no error may show a part of.
    """

    def __init__(self, server: str, secrets: Callable[[], Sequence[str]] = tuple) -> None:
        self._server = server
        self._secrets = secrets

    def renew(self, secrets: Callable[[], Sequence[str]]) -> Failures:
        """Those of the next call of the same session."""
        return Failures(self._server, secrets)

    def explain_start(self, command: Sequence[str], folder: str, error: OSError) -> ToolError:
        """The server cannot be started."""
        place = error.filename if isinstance(error.filename, str) else command[0]
        where = f" in the folder {folder}" if folder else ""
        return ToolError(
            SERVER_FAILED,
            f"The MCP server {self._server} cannot be started{where}: {error.strerror}: {place}.",
            hint="The administrator can install it anew, by `ferrule mcp refresh`, or correct its folder.",
        )

    def explain_end(self, status: int | None, during: str, said: Tail, garbage: Sequence[str]) -> ToolError:
        """The server has ended, or has closed its stdout.

        Args:
            status: as `os.waitpid` says it, None where it runs on.
            during: the request that waited.
            said: stderr.
            garbage: the first lines of stdout that were no messages.
        """
        how = "closed its stdout" if status is None else f"ended with {_name_status(status)}"
        hint = _AT_START if during == "initialize" else _AGAIN
        return self._fail(f"{how} before it had answered {during}", said, garbage, _describe_status(status), hint)

    def explain_silence(self, seconds: float, during: str, said: Tail, garbage: Sequence[str]) -> ToolError:
        """The time is over."""
        message = self._describe(f"has not answered {during} within {seconds:.1f} s", said, garbage)
        hint = "Ask for less, or call it again."
        if during == "initialize":
            hint = "It may wait for a service or a network that it cannot reach, or need longer for its first start."
        return ToolError(TIMEOUT, message, hint=hint, details={"seconds": round(seconds, 1)})

    def explain_excess(self, what: str, said: Tail) -> ToolError:
        """The server writes more than it may. what: the end of a sentence, as OutputTooLarge has it."""
        return self._fail(what, said, (), {}, hint="Ask for less. The call was ended.")

    def explain_answer(self, what: str) -> ToolError:
        """The answer is none that the protocol knows. what: the end of a sentence about the server."""
        return ToolError(SERVER_FAILED, f"The MCP server {self._server} {what}.", hint=_AGAIN)

    def explain_inputs(self, wanted: Sequence[str]) -> ToolError:
        """The server goes on only with an answer that nobody is there to give."""
        return ToolError(
            INPUT_REQUIRED,
            f"The MCP server {self._server} asks for something that a tool cannot give: {'; '.join(wanted)}.",
            hint="Nobody can be asked during a call. Put it into the arguments, if there is one for it.",
        )

    def _fail(
        self,
        what: str,
        said: Tail,
        garbage: Sequence[str],
        details: Mapping[str, object],
        hint: str = _AGAIN,
    ) -> ToolError:
        return ToolError(SERVER_FAILED, self._describe(what, said, garbage), hint=hint, details=details or None)

    def _describe(self, what: str, said: Tail, garbage: Sequence[str]) -> str:
        words = self._clean(said.last_lines(_WORDS_LINES))
        text = f"The MCP server {self._server} {what}."
        if garbage:
            text += f" What it wrote to stdout is no message: {self._clean(garbage[:1])}"
        return f"{text} Its last words: {words}" if words else f"{text} It said nothing on stderr."

    def _clean(self, lines: Sequence[str]) -> str:
        """The last of these lines, in which no part of a credential stands: a line is cut after they are out of it."""
        from ferrule.text.redaction import redact

        text = redact("\n".join(lines).encode(errors="replace"), self._secrets()).decode(errors="replace")
        kept: list[str] = []
        for line in reversed(text.split("\n")):
            kept.insert(0, shorten_line(line))
            if sum(map(len, kept)) > _MAX_WORDS_CHARS:
                break
        return "\n".join(kept)


def _name_status(status: int) -> str:
    if os.WIFSIGNALED(status):
        from signal import Signals

        number = os.WTERMSIG(status)
        return next((one.name for one in Signals if one == number), f"signal {number}")
    return f"exit code {os.WEXITSTATUS(status)}"


def _describe_status(status: int | None) -> dict[str, object]:
    if status is None:
        return {}
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exitCode": os.WEXITSTATUS(status)}
