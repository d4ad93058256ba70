"""What a finished call puts on the two streams, and its exit code."""

from __future__ import annotations

import os

from ferrule.calls.streams import ERROR_BYTES, SUMMARY_BYTES
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome

_CONFIG_REQUIRED = "config_required"
_ADVICE_BYTES = 1024
_GRANT_READ = ("ferrule permissions grant ", " --read ")
_EVENT_BYTES = 1 << 18  # that are looked at; ERROR_BYTES of them at most are shown
_HEADING, _OF_THE_TOOL = b"For the administrator", b"(The tool:) for the administrator"


class Output:
    """document: the JSON for stdout, without its newline. text: what goes to stderr. exit_code: 0 or 1."""

    __slots__ = ("document", "exit_code", "text")

    def __init__(self, document: bytes, text: bytes, exit_code: int) -> None:
        self.document = document
        self.text = text
        self.exit_code = exit_code


def render(
    outcome: Outcome,
    tool: InstalledTool | None,
    name: str,
    names: Mapping[str, str],
    environ: Mapping[str, str] | None = None,
    *,
    is_terminal: bool | None = None,
) -> Output:
    """The output of a call, free of every secret that the call could have leaked.

    Args:
        name: the tool that was asked for, also where it is not installed.
        names: other names that tools are linked under; what the host and the tool say about tools uses them.
        environ: of the caller, `os.environ` by default.
        is_terminal: whether the caller's stderr is one; this process's is asked where it is not said.
    """
    # A result comes without secrets from the supervisor; what a plugin makes of a failure does not.
    if outcome.failure is None:
        return Output(outcome.result or b"{}", _render_text(outcome, ""), 0)
    from ferrule.plugin import failures

    document = _redact_json(failures.document(_rename(outcome.failure, names), tool), outcome)
    return render_around(document, outcome, names.get(name, name), names, environ, is_terminal=is_terminal)


def render_around(
    document: bytes,
    outcome: Outcome,
    name: str,
    names: Mapping[str, str],
    environ: Mapping[str, str] | None = None,
    *,
    is_terminal: bool | None = None,
) -> Output:
    """The output of a call that has failed, whose document is there already.

    Args:
        name: the tool's, for the user.
        environ, is_terminal: see `render`.
    """
    from ferrule.plugin import failures

    failure = _rename(outcome.failure or {}, names)
    exit_code = 0 if _exits_zero(os.environ if environ is None else environ) else 1
    summary = failures.summary(failure, name) if exit_code else ""
    return Output(document, _render_text(outcome, summary, advice_of(failure, name), is_terminal), exit_code)


def _exits_zero(environ: Mapping[str, str]) -> bool:
    """Whether a failure ends with 0: the client that sets IKIGAI_AGENT_ID throws the document away otherwise."""
    chosen = environ.get("FERRULE_EXIT_ZERO", "")
    return chosen == "1" if chosen in ("0", "1") else bool(environ.get("IKIGAI_AGENT_ID"))


def _rename(facts: Mapping[str, object], names: Mapping[str, str]) -> Mapping[str, object]:
    if not names:
        return facts
    from ferrule.text.aliases import rename_text

    return {key: rename_text(value, names) if isinstance(value, str) else value for key, value in facts.items()}


def advice_of(facts: Mapping[str, object] | None, name: str) -> str:
    """What an administrator can do about a failure, as a line for people; empty where nobody knows of anything.

    name: the tool's, for the user.
    """
    text = facts.get("admin") if facts else None
    if not isinstance(text, str) or not text:
        return ""
    return f"{_HEADING.decode()} of {name}: {text}{_advise_family(text)}\n"


def _advise_family(advice: str) -> str:
    """The same grant for all tools that come with one, as a sentence; empty where it is one alone, or may not write."""
    _, command, rest = advice.partition(f"`{_GRANT_READ[0]}")
    tool, option, path = rest.partition(_GRANT_READ[1])
    if not command or not option or " " in tool or "`" not in path:
        return ""
    from ferrule.discovery import find_family

    family = find_family(tool)
    if not family:
        return ""
    pattern, path = f"{tool.partition('_')[0]}_*", path.rpartition("`")[0]
    whole = f"{_GRANT_READ[0]}'{pattern}'{_GRANT_READ[1]}{path}"
    return f" `{whole}` allows it to all {len(family)} of {family[0].distribution}."


def _render_text(outcome: Outcome, summary: str, advice: str = "", is_terminal: bool | None = None) -> bytes:
    """stderr: first what happened, where the exit code says that something did; then events; then what was printed.

    A `config_required` event is all there is, since the client hands stderr on as that event.

    Args:
        advice: stands at the end, and behind what the client shows the model of a failure.
    """
    for line in _lines([event for event in outcome.events if event.get("kind") == _CONFIG_REQUIRED], outcome):
        if len(line) <= ERROR_BYTES:
            return line
    text = _cut(_redact(summary.encode(errors="replace"), outcome), SUMMARY_BYTES - 1) + b"\n" if summary else b""
    for line in _lines(outcome.events, outcome):
        if len(text) + len(line) <= ERROR_BYTES:
            text += line
    shown = _cut(_to_legible_utf8(_redact(advice.encode(errors="replace"), outcome)), _ADVICE_BYTES) if advice else b""
    room = ERROR_BYTES - len(text) - (len(shown) + SUMMARY_BYTES if shown else 0)
    text += _cut(render_printed(outcome, max(0, room)).replace(_HEADING, _OF_THE_TOOL), max(0, room))
    text = _keep_letters_whole(text, SUMMARY_BYTES) if summary else text
    if not shown:
        return text
    is_cut = bool(summary) and not (os.isatty(2) if is_terminal is None else is_terminal)
    return text + _place_behind(text, shown, is_cut=is_cut)


def _lines(events: Iterable[Mapping[str, object]], outcome: Outcome) -> Iterator[bytes]:
    """The events as lines without secrets: the first of them, which are more than there is room for."""
    left = _EVENT_BYTES
    for event in events:
        line = strict_json.dumps(event)
        left -= len(line)
        if left < 0:
            return
        yield _redact_json(line, outcome) + b"\n"


def _place_behind(text: bytes, advice: bytes, *, is_cut: bool) -> bytes:
    """The advice on a line of its own, behind the first bytes where a model is shown these alone."""
    end = b"\n" if text and not text.endswith(b"\n") else b""
    missing = SUMMARY_BYTES - len(text) - len(end)
    if is_cut and missing > 0:
        end += b" " * (missing - 1) + b"\n"
    return end + advice


def render_printed(outcome: Outcome, size: int = ERROR_BYTES) -> bytes:
    """The first bytes of what the call printed, as whole letters and without secrets."""
    return _cut(_to_legible_utf8(_redact(outcome.text, outcome)), size) if outcome.text else b""


def _to_legible_utf8(text: bytes) -> bytes:
    """UTF-8 without NUL, which would end the text for the client."""
    return text.decode(errors="replace").replace("\0", "\ufffd").encode()


def _cut(data: bytes, size: int) -> bytes:
    return data if len(data) <= size else data[:size].decode(errors="ignore").encode()


def _keep_letters_whole(data: bytes, size: int) -> bytes:
    """The same, without a letter that begins in the first bytes and does not end there: the client fails over one."""
    begin = len(_cut(data, size))
    if begin >= min(size, len(data)):
        return data
    return data[:begin] + b"?" * (size - begin) + data[size:].lstrip(bytes(range(0x80, 0xC0)))


def _redact(data: bytes, outcome: Outcome) -> bytes:
    if not outcome.secrets:
        return data
    from ferrule.text.redaction import redact

    return redact(data, outcome.secrets)


def _redact_json(document: bytes, outcome: Outcome) -> bytes:
    if not outcome.secrets:
        return document
    from ferrule.text.redaction import redact_json

    return redact_json(document, outcome.secrets)
