"""What fetches a page and makes text of it, by name; run as a program, one call of one of them.

Usage: echo '{"url": "http://…"}' | python bench/peers/hostile_tools.py NAME

Prints one JSON object, whose text is cut so that it fits what the client reads, and exits with 0. An exception of the
library becomes the answer `{"error": …}`, which counts as one. Only `naive` does neither, as tools are that are
written in an hour.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 20  # for what takes a timeout, so that it can end before the client does
MOST = 60_000  # bytes of JSON
ADDRESS_SPACE = 4 << 30  # bytes: far more than counts as survival, and less than would hurt the machine


def naive(url: str) -> str:
    """httpx and html5lib, as they come."""
    response = import_module("httpx").get(url, follow_redirects=True)
    tree = import_module("html5lib").parse(response.text, namespaceHTMLElements=False)
    for parent in tree.iter():
        for child in [child for child in parent if child.tag in ("script", "style")]:
            parent.remove(child)
    return " ".join("".join(tree.itertext()).split())


def markdownify(url: str) -> str:
    """requests and markdownify."""
    response = import_module("requests").get(url, timeout=SECONDS)
    return str(import_module("markdownify").markdownify(response.text))


def html2text(url: str) -> str:
    """httpx and html2text."""
    response = import_module("httpx").get(url, follow_redirects=True, timeout=SECONDS)
    return str(import_module("html2text").html2text(response.text))


def trafilatura(url: str) -> str:
    """requests, since its own fetching refuses loopback, and its markdown."""
    response = import_module("requests").get(url, timeout=SECONDS)
    extract = import_module("trafilatura").extract
    return extract(response.text, output_format="markdown", include_links=True, favor_recall=True) or ""


def markitdown(url: str) -> str:
    """Its own fetching, by requests, and its markdown."""
    return str(import_module("markitdown").MarkItDown().convert(url).text_content)


def pydantic_ai(url: str) -> str:
    """The tool that pydantic-ai gives to agents, loopback allowed."""
    tool = import_module("pydantic_ai.common_tools.web_fetch").WebFetchLocalTool(
        max_content_length=50_000, allow_local_urls=True, timeout=SECONDS
    )
    answer = asyncio.run(tool(url))
    return f"{answer['title']}\n{answer['content']}" if isinstance(answer, dict) else repr(answer)[:100]


TOOLS: dict[str, Callable[[str], str]] = {
    "naive": naive,
    "markdownify": markdownify,
    "html2text": html2text,
    "trafilatura": trafilatura,
    "markitdown": markitdown,
    "pydantic-ai": pydantic_ai,
}


def main() -> None:
    """Read a call, print the answer."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    name, url = sys.argv[1], json.load(sys.stdin)["url"]
    if name == "naive":
        print(json.dumps({"content": TOOLS[name](url)}))
        return
    try:
        answer = {"content": TOOLS[name](url)}
    except Exception as error:  # noqa: BLE001 - whatever a library raises, a careful tool answers
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(fitting(answer))


def fitting(answer: dict[str, str]) -> str:
    """The answer as JSON that the client reads whole."""
    answer = {key: value.encode(errors="replace").decode().replace("\0", "") for key, value in answer.items()}
    while len(text := json.dumps(answer)) > MOST:
        answer = {key: value[: min(MOST, len(value) // 2)] for key, value in answer.items()}
    return text


if __name__ == "__main__":
    main()
