"""`notes add` and `notes remove`, with what is missing from them: no check of the path, no care about a race."""

import os
import re
import stat
import sys

from standin.behaviour import Behaviour
from standin.flags import Parsed
from standin.generation import Failure, Generation, now, os_error, rfc3339
from standin.notebooks import required, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What go-yaml, too, writes as it is, and a time, which it does not; for everything else YAML itself is asked.
PLAIN = re.compile(r"[A-Za-z]{3,}( [A-Za-z]{3,})+")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)")


def add(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    notebook = required(generation, parsed)
    title, path = _title_and_path(parsed)
    data = _data(parsed.all("data"))
    target = _target(notebook.root, title, path)
    if os.path.exists(target):
        raise Failure(f"note already exists: {target}")
    _make_folder(os.path.dirname(target))
    body = _read_stdin() or _body(title, parsed.text("template"), notebook.config.get("templates") or {})
    text = f"---\n{_frontmatter(title, data)}---\n\n{body}"
    try:
        # Whatever has come there since the look is overwritten.
        write(target, text, newline="")
    except OSError as error:
        raise Failure(f"failed to create note: {os_error('open', target, error)}") from None
    print(f"Created note: {target}")


def remove(generation: Generation, parsed: Parsed, behaviour: Behaviour) -> None:
    notebook = required(generation, parsed)
    name = parsed.arguments[0]
    target = os.path.normpath(os.path.join(notebook.root, name if name.endswith(".md") else f"{name}.md"))
    if not os.path.exists(target):
        raise Failure(f"note not found: {target}")
    os.unlink(target)
    print(f"Removed note: {target}")


def slug_of(text: str) -> str:
    kept = re.sub(r"[^a-z0-9\s-]", "", text.lower(), flags=re.ASCII)
    return re.sub(r"\s+", "-", kept, flags=re.ASCII).strip("-")


def _title_and_path(parsed: Parsed) -> tuple[str, str]:
    words = [*parsed.arguments, "", ""]
    if not parsed.is_given("title"):
        return words[0], words[1]
    print("⚠️  Warning: --title is deprecated", file=sys.stderr)
    return parsed.text("title"), words[0]


def _data(pairs: list[str]) -> "dict[str, Any]":
    data: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise Failure(f"parsing --data flags: invalid --data format: {pair} (expected field=value)")
        if name in data:
            known = data[name]
            data[name] = [*known, value] if isinstance(known, list) else [known, value]
        else:
            data[name] = value
    return data


def _target(root: str, title: str, path: str) -> str:
    slug = slug_of(title)
    if title and not slug:
        raise Failure("title produces empty filename after slugification")
    if not title and not path:
        slug = now().strftime("%Y-%m-%d-%H%M%S")
    if not path or path.endswith("/"):
        path = f"{path}{slug}.md"
    elif not path.endswith(".md"):
        path += ".md"
    return os.path.normpath(os.path.join(root, path.lstrip("/")))


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Failure(f"failed to create directory: {os_error('mkdir', folder, error)}") from None


def _read_stdin() -> str:
    """All that comes on stdin, unless it is a device: an open pipe on which nothing comes is waited for."""
    return "" if stat.S_ISCHR(os.fstat(0).st_mode) else sys.stdin.read()


def _body(title: str, template: str, templates: dict[str, str]) -> str:
    heading = f"# {title}\n\n" if title else "\n"
    if not template:
        return heading
    if template in templates:
        return templates[template].replace("{{title}}", title) if title else templates[template]
    # An unknown template is no error, and the default that takes its place brings a frontmatter of its own.
    named = f"title: {title}\n" if title else ""
    return f"---\n{named}created: {rfc3339(now())}\n---\n\n{heading if title else ''}"


def _frontmatter(title: str, data: "dict[str, Any]") -> str:
    fields = {"created": rfc3339(now()), **({"title": title} if title else {}), **data}
    return "".join(_field(name, fields[name]) for name in sorted(fields))


def _field(name: str, value: "Any") -> str:
    if isinstance(value, list):
        import textwrap

        items = "".join(f"- {_scalar(item)}" for item in value)
        return f"{_scalar(name).rstrip()}:\n{textwrap.indent(items, '    ')}"
    return f"{_scalar(name).rstrip()}: {_scalar(value)}"


def _scalar(text: str) -> str:
    """Text as go-yaml writes it: in double quotes where it would be read as something else, a block of many lines."""
    if text in ("created", "title") or PLAIN.fullmatch(text):
        return f"{text}\n"
    if TIME.fullmatch(text):
        return f'"{text}"\n'
    import yaml

    resolver: Any = yaml.SafeLoader("")
    is_plain = resolver.resolve(yaml.ScalarNode, text, (True, False)) == "tag:yaml.org,2002:str"
    style = "|" if "\n" in text else None if is_plain else '"'
    written = yaml.safe_dump([text], default_style=style, allow_unicode=True, width=10**9, indent=4)
    return str(written).removeprefix("- ")
