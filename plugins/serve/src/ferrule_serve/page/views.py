"""What the page shows, from the catalogue and the pool: the tools, one of them, the last calls."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ferrule import __version__
from ferrule.admin.inventory import OK
from ferrule.text import strict_json
from ferrule_serve.page.fields import JSON, PREFIX, Field, fields
from ferrule_serve.page.markup import document, element, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

    from ferrule_serve.catalogue import ServedTool
    from ferrule_serve.page.recent import ObservedPool, RecentCall
    from ferrule_serve.pool import Answered

TOKEN = "page_token"  # noqa: S105 - the name of a field
_LONGEST = 100_000  # characters that are shown of an answer


class Tried(NamedTuple):
    """A call that was made on the page. form: what was sent. events: of the tool, as far as they are shown."""

    answered: Answered
    form: Mapping[str, str]
    events: Sequence[Mapping[str, object]]


def index(tools: Sequence[ServedTool], pool: ObservedPool, failure: str) -> bytes:
    """The page at `/`. failure: why it is not known which tools there are; empty where it is."""
    usable = sum(tool.state == OK for tool in tools)
    said = f"{usable} served, {len(tools) - usable} not usable."
    rows = [_tool_row(tool) for tool in sorted(tools, key=lambda tool: (tool.state == OK, tool.name))]
    listed = table("Tools", ("Tool", "State", "Description", "From"), rows, class_="tools") if rows else None
    return _page(
        "Tools",
        "",
        element("h1", "Tools"),
        element("p", failure, class_="problem") if failure else element("p", said),
        listed,
        element("h2", "Last calls", id="calls"),
        _calls(pool),
    )


def last_calls(pool: ObservedPool) -> bytes:
    """The page with the last calls alone, from which the script takes them."""
    return _page("Last calls", "", element("h1", "Last calls"), _calls(pool))


def tool_page(tool: ServedTool, token: str, tried: Tried | None = None) -> bytes:
    """The page of one tool. token: that a form has to carry."""
    installed = tool.installed
    facts = f"{installed.distribution} {installed.version}, {installed.value}"
    hint = str((tool.error or {}).get("hint") or "")
    trying = (
        element("div", element("div", *_forms(tool, token, tried)), _result(tried), class_="try")
        if tool.state == OK
        else None
    )
    return _page(
        tool.name,
        "../",
        element("p", element("a", "All tools", href="../")),
        element("h1", element("bdi", tool.name), " ", _state(tool)),
        element("p", facts, class_="quiet"),
        element("p", tool.why, class_="problem") if tool.error else None,
        element("p", hint, class_="text") if hint else None,
        element("p", _description(tool), class_="text"),
        trying,
        *_findings(tool),
        *_schema(tool),
    )


def problem(title: str, message: str, root: str) -> bytes:
    """A page that says why there is none. root: the relative URL of `/`."""
    back = element("p", element("a", "All tools", href=root or "./"))
    return _page(title, root, element("h1", title), element("p", message, class_="problem"), back)


def _page(title: str, root: str, *content: Element | None) -> bytes:
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} · ferrule"),
        element("link", rel="icon", href=root + "page/icon.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href=root + "page/page.css"),
        element("script", src=root + "page/page.js", defer=True),
    )
    skip = element("a", "Skip to the content", href="#content", class_="skip")
    banner = element("header", element("a", "ferrule", href=root or "./"), f" {__version__}")
    main = element("main", *content, id="content", tabindex="-1")
    return document(element("html", head, element("body", skip, banner, main), lang="en"))


def _tool_row(tool: ServedTool) -> tuple[Element | str, ...]:
    said = element("div", element("div", _description(tool), class_="text"))
    if tool.error:
        said.append(element("div", tool.why, class_="problem"))
    if tool.findings:
        said.append(element("div", _count(len(tool.findings), "finding"), class_="quiet"))
    link = element("a", element("bdi", tool.name), href="tools/" + quote(tool.name, safe=""))
    return link, _state(tool), said, f"{tool.installed.distribution} {tool.installed.version}"


def _description(tool: ServedTool) -> str:
    return str((tool.schema or {}).get("description") or "No description.")


def _state(tool: ServedTool) -> Element:
    return element("span", tool.state, class_="state good" if tool.state == OK else "state bad")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _calls(pool: ObservedPool) -> Element:
    stats = pool.stats()
    said = f"{stats.running} running, {stats.queued} waiting, {stats.answered} answered."
    rows = [_call_row(call) for call in pool.recent]
    heads = ("Began (UTC)", "Tool", "Outcome", "Took", "Received", "Answered", "By")
    listed = table("Last calls", heads, rows, class_="calls") if rows else element("p", "No call yet.", class_="quiet")
    return element("div", element("p", said), listed, id="last-calls")


def _call_row(call: RecentCall) -> tuple[Element | str, ...]:
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(call.began))
    kind = {"ok": " good", "failed": " bad"}.get(call.outcome, "")
    outcome = element("span", f"{call.outcome} {call.code}".strip(), class_="state" + kind)
    took = "" if call.seconds is None else f"{call.seconds:.3f} s"
    sent = "" if call.answered is None else _bytes(call.answered)
    moment = element("time", began[11:19], datetime=began)
    return moment, element("bdi", call.tool), outcome, took, _bytes(call.received), sent, call.by


def _bytes(size: int) -> str:
    return f"{size:,} B"


def _findings(tool: ServedTool) -> list[Element]:
    if not tool.findings:
        return []
    rows = [
        (
            element(
                "span", str(one.get("severity")), class_="state" + (" bad" if one.get("severity") == "error" else "")
            ),
            element("code", str(one.get("id"))),
            element("code", str(one.get("pointer") or "/")),
            element("div", str(one.get("message")), element("div", str(one.get("mend")), class_="quiet")),
        )
        for one in tool.findings
    ]
    return [
        element("h2", "Findings"),
        table("Findings", ("Severity", "Rule", "Where", "What"), rows, class_="findings"),
    ]


def _schema(tool: ServedTool) -> list[Element]:
    if tool.schema is None:
        return []
    schema = tool.form.get("inputSchema", tool.schema.get("parameters"))
    name = "Schema of the arguments"
    return [element("h2", name), element("pre", _pretty(schema), tabindex="0", role="region", aria_label=name)]


def _forms(tool: ServedTool, token: str, tried: Tried | None) -> list[Element]:
    sent = tried.form if tried else {}
    shown = fields(tool.form["inputSchema"])
    filled = [_labelled(field, index, sent.get(PREFIX + field.name, "")) for index, field in enumerate(shown)]
    text = element("textarea", sent.get(JSON, "{}"), id="json", name=JSON, rows="6", spellcheck="false")
    raw = element(
        "details",
        element("summary", "All arguments as JSON"),
        _form(tool, token, element("label", "A JSON object", for_="json"), text, label="Call with JSON"),
        open=JSON in sent,
    )
    note = "A field that is empty is left out. The host checks the arguments, as it does for a model."
    without = "This tool takes no arguments."
    first = _form(tool, token, element("p", note if shown else without, class_="quiet"), *filled, label="Call")
    return [element("h2", "Try it"), first, raw]


def _form(tool: ServedTool, token: str, *content: Element, label: str) -> Element:
    return element(
        "form",
        element("input", type="hidden", name=TOKEN, value=token),
        *content,
        element("button", label, type="submit"),
        method="post",
        action=quote(tool.name, safe="") + "#result",
        autocomplete="off",
    )


def _labelled(field: Field, index: int, value: str) -> Element:
    identity = f"field-{index}"
    said = [element("div", text) for text in (field.description, field.hint) if text]
    label = element("label", element("bdi", field.name), " (required)" if field.is_required else "", for_=identity)
    about = element("div", *said, id=f"{identity}-about", class_="quiet text") if said else None
    described = f"{identity}-about" if said else None
    return element("div", label, about, _control(field, identity, described, value), class_="field")


def _control(field: Field, identity: str, described: str | None, value: str) -> Element:
    name = PREFIX + field.name
    if field.kind == "choice":
        options = [element("option", "(left out)", value="")]
        options += [element("option", _label(one), value=one, selected=one == value) for one in field.choices]
        return element("select", *options, id=identity, name=name, aria_describedby=described)
    if field.kind in ("text", "json"):
        return element("textarea", value, id=identity, name=name, rows="2", aria_describedby=described)
    mode = "decimal" if field.kind == "number" else None
    return element("input", id=identity, name=name, value=value, inputmode=mode, aria_describedby=described)


def _label(choice: str) -> str:
    value = json.loads(choice)
    return value if isinstance(value, str) else choice


def _result(tried: Tried | None) -> Element:
    """Where the answer stands; the script puts it there without loading the page again."""
    content: list[Element] = [
        element("p", "Nothing was called yet.", class_="quiet", id="result-status", role="status")
    ]
    if tried is not None:
        content = _answer(tried)
    return element("section", element("h2", "Answer", id="answer"), *content, id="result", aria_labelledby="answer")


def _answer(tried: Tried) -> list[Element]:
    answered = tried.answered
    outcome = element("span", "failed" if answered.is_error else "ok", class_=f"state {_mood(answered)}")
    facts = f" in {answered.seconds:.3f} s, {_bytes(len(answered.document))}"
    return [
        element("p", outcome, facts, id="result-status", role="status"),
        *_block("Document", _pretty(strict_json.loads(answered.document))),
        *_block("Events", "\n".join(json.dumps(event, ensure_ascii=False) for event in tried.events)),
        *_block("Printed", answered.text),
    ]


def _mood(answered: Answered) -> str:
    return "bad" if answered.is_error else "good"


def _block(title: str, text: str) -> list[Element]:
    if not text:
        return []
    cut = f"The first {_LONGEST:,} of {len(text):,} characters." if len(text) > _LONGEST else ""
    shown = element("pre", text[:_LONGEST], tabindex="0", role="region", aria_label=title)
    return [element("h3", title), *([element("p", cut, class_="quiet")] if cut else []), shown]


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
