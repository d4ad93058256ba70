"""What a finished call puts on the two streams, and its exit code."""

import os

from ferrule import strict_json
from ferrule.streams import ERROR_BYTES, SUMMARY_BYTES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.discovery import InstalledTool
    from ferrule.supervisor import Outcome

_CONFIG_REQUIRED = "config_required"


class Answer:
    """document: the JSON for stdout, without its newline. text: what goes to stderr. exit_code: 0 or 1."""

    __slots__ = ("document", "exit_code", "text")

    def __init__(self, document: bytes, text: bytes, exit_code: int) -> None:
        self.document = document
        self.text = text
        self.exit_code = exit_code

    @classmethod
    def of(cls, outcome: "Outcome", tool: "InstalledTool | None", name: str, names: "Mapping[str, str]") -> "Answer":
        """The answer to a call, free of every secret that the call could have leaked.

        name: the tool that was asked for, also where it is not installed. names: other names that tools are linked
        under; what the host and the tool say about tools uses them.
        """
        document, summary, exit_code = outcome.result or b"{}", "", 0
        if outcome.failure is not None:
            from ferrule import failures

            failure = _renamed(outcome.failure, names)
            document = failures.document(failure, tool)
            summary = failures.summary(failure, names.get(name, name))
            exit_code = 0 if _exits_zero(os.environ) else 1
        text = _text(outcome, summary if exit_code else "")
        return cls(_redacted(document, outcome), _redacted(text, outcome), exit_code)


def _exits_zero(environ: "Mapping[str, str]") -> bool:
    """Whether a failure ends with 0: the client that sets IKIGAI_AGENT_ID throws the document away otherwise."""
    chosen = environ.get("FERRULE_EXIT_ZERO", "")
    return chosen == "1" if chosen in ("0", "1") else bool(environ.get("IKIGAI_AGENT_ID"))


def _renamed(facts: "dict[str, object]", names: "Mapping[str, str]") -> "dict[str, object]":
    if not names:
        return facts
    from ferrule.renaming import rename_text

    return {key: rename_text(value, names) if isinstance(value, str) else value for key, value in facts.items()}


def _text(outcome: "Outcome", summary: str) -> bytes:
    """stderr: first what happened, where the exit code says that something did; then events; then what was printed.

    A `config_required` event is all there is, since the client hands stderr on as that event.
    """
    events = [strict_json.dumps(event) + b"\n" for event in outcome.events]
    for event, line in zip(outcome.events, events, strict=True):
        if event.get("kind") == _CONFIG_REQUIRED and len(line) <= ERROR_BYTES:
            return line
    parts = [_first_line(summary)] if summary else []
    for part in (*events, outcome.text):
        room = ERROR_BYTES - sum(map(len, parts))
        if part is outcome.text:
            parts.append(part[:room])
        elif len(part) <= room:
            parts.append(part)
    return b"".join(parts)


def _first_line(summary: str) -> bytes:
    line = summary.encode(errors="replace")[: SUMMARY_BYTES - 1]
    return line.decode(errors="ignore").encode() + b"\n"


def _redacted(data: bytes, outcome: "Outcome") -> bytes:
    if not outcome.secrets:
        return data
    from ferrule.redaction import redact

    return redact(data, outcome.secrets)
