"""What the page shows, from the catalogue and the pool, by the templates of this package.

Every text that a template writes is escaped, and characters are made visible that would not be, or that would hide what
others are. Only `as_value` leaves them, in the fields of forms, whose values are sent again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ferrule import __version__
from ferrule.text import strict_json
from ferrule_serve.page.call_lines import Endpoint, call_lines
from ferrule_serve.page.client_blocks import client_blocks, result_as_json
from ferrule_serve.page.form_fields import JSON, form_fields

if TYPE_CHECKING:
    from ferrule_serve.catalogue import ServedTool
    from ferrule_serve.page.call_history import CallHistory
    from ferrule_serve.page.trials import TimedEvent, Trial
    from ferrule_serve.pool import Pool

TOKEN = "page_token"  # noqa: S105 - the name of a field
_MAX_CHARS = 100_000  # that are shown of an answer

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # a text with these can show in another order
_VISIBLE = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"}
_VISIBLE |= {code: f"<U+{code:04X}>" for code in (0x7F, *_DIRECTIONS)}


class TrialView:
    """A call that was made on the page, for the templates. endpoint: where clients make the same call."""

    def __init__(self, trial: Trial, endpoint: Endpoint) -> None:
        self.call, self.answer, self.key = trial.call, trial.answer, trial.key
        self.form, self.waited, self.is_error = trial.form, trial.waited, trial.answer.is_error
        self.arguments = trial.arguments.decode(errors="replace")
        self.document = _indent(strict_json.loads(trial.answer.document))
        self.events = "\n".join(event_line(event) for event in trial.events)
        self.blocks = client_blocks(trial.result, trial.answer.document)
        self.lines = call_lines(trial.call.tool, trial.arguments, trial.own, endpoint)
        self.result = _indent(result_as_json(trial.result))
        self.structured = _structured(trial)


def event_line(event: TimedEvent) -> str:
    """An event in a line of its own, with the time since the call's beginning."""
    return f"{event.seconds:.3f} s  {json.dumps(event.event, ensure_ascii=False)}"


def event_facts(event: TimedEvent) -> dict[str, object]:
    """An event for the script, which writes it as text."""
    done, total, message = event.progress or (None, None, "")
    facts = {"line": _make_visible(event_line(event)), "progress": done, "total": total}
    return {**facts, "message": _make_visible(message)}


def _structured(trial: Trial) -> str:
    """What is structured, or that it is the document, or that there is nothing."""
    structured = trial.result.get("structuredContent")
    if structured is None:
        return "none"
    is_document = structured == strict_json.loads(trial.answer.document)
    return "the document" if is_document else _indent(structured)


def show_index(tools: Sequence[ServedTool], pool: Pool, history: CallHistory, failure: str, find: str = "") -> bytes:
    """The page at `/`.

    Those whose name has a word come first.

    Args:
        failure: why it is not known which tools there are; empty where it is.
        find: words to look for.
    """
    words = find.lower().split()
    found = [tool for tool in tools if all(word in _searched(tool) for word in words)]
    in_order = sorted(
        found, key=lambda tool: (not any(word in tool.name.lower() for word in words), tool.is_served, tool.name)
    )
    return _render(
        "index.html",
        tools=in_order,
        counts={"all": len(tools), "served": sum(tool.is_served for tool in tools)},
        find=find,
        failure=failure,
        stats=pool.stats(),
        history=history.latest_first(),
    )


def _searched(tool: ServedTool) -> str:
    """The text in which words are looked for, as the script looks for them in the table's rows."""
    origin = f"{tool.installed.distribution} {tool.installed.version}"
    return f"{tool.name} {tool.state} {tool.description} {tool.why} {origin}".lower()


def show_calls(pool: Pool, history: CallHistory) -> bytes:
    """The page with the last calls alone, from which the script takes them."""
    return _render("calls.html", stats=pool.stats(), history=history.latest_first())


def show_tool(tool: ServedTool, token: str, trial: TrialView | None = None) -> bytes:
    """The page of one tool. token: that a form has to carry."""
    return _render(
        "tool.html",
        tool=tool,
        token=token,
        trial=trial,
        fields=form_fields(tool.input_schema) if tool.is_served else [],
        sent=trial.form if trial else {},
        schema=_indent(tool.form.get("inputSchema", (tool.schema or {}).get("parameters"))),
    )


def show_problem(title: str, message: str, root: str) -> bytes:
    """A page that says why there is none. root: the relative URL of `/`."""
    return _render("problem.html", title=title, message=message, root=root)


def _render(template: str, **values: object) -> bytes:
    return environment.get_template(template).render(values).encode(errors="replace")


def _make_visible(value: object) -> str:
    """What a template writes: markup that is escaped already as it is, everything else with all of it visible."""
    return value if isinstance(value, Markup) else str(value).replace("\r\n", "\n").translate(_VISIBLE)


def _label_choice(choice: str) -> str:
    value = json.loads(choice)
    return value if isinstance(value, str) else choice


def _indent(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


environment = Environment(
    loader=PackageLoader("ferrule_serve.page"),
    autoescape=True,
    finalize=_make_visible,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters |= {
    "as_value": escape,
    "bytes": lambda size: f"{size:,} B",
    "choice_label": _label_choice,
    "path_segment": lambda name: quote(name, safe=""),
}
environment.globals |= {"version": __version__, "token_field": TOKEN, "json_field": JSON, "max_chars": _MAX_CHARS}
