"""The pages that were found, read at the same time: each in a process of its own, within a time and a size.

A page that is slow, or made to stall what reads it, costs itself and no other one. The processes are copies of this
one, which has imported what reads pages before it makes them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

from ferrule import Context, ToolError, run_bounded
from ferrule.errors import WorkFailed

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.errors import FerruleError

PAGE_SECONDS = 10.0
_ANSWER_SECONDS = 1.5  # of the call, which are left for what is done with the pages
_END_SECONDS = 0.5  # in which a page that is late says so itself
_CPU_SECONDS = 8
_MEMORY_MIB = 256  # with what the processes share, which is about 70
_SPARE_BYTES = 64 << 10  # of what is said of a page besides its text
_NO_PROCESS: JSONObject = {
    "reason": "The system could start no process that reads it.",
    "kind": "upstream_unavailable",
    "retryable": True,
    "suggestedAction": "retry_after_delay",
}


class Source(NamedTuple):
    """A page that was read. url: where it was found, after redirects. found: the result of the search.

    facts: as the answer has them. authors: as one text. journal: the name of one that it stands in. date: ISO 8601, as
    far as it is known. doi: as the page itself has it. is_kept: whether an earlier call has read it.
    """

    url: str
    title: str
    authors: str
    site: str
    journal: str
    date: str
    doi: str
    text: str
    facts: JSONObject
    found: Mapping[str, str]
    is_kept: bool = False


class Failure(NamedTuple):
    """A page that could not be read. facts: `{"url", "kind", "reason", "retryable", "suggestedAction"}`."""

    facts: JSONObject
    is_late: bool


def read_pages(
    results: Sequence[Mapping[str, str]], context: Context, max_bytes: int
) -> tuple[list[Source], list[Failure]]:
    """Read the pages of a search's results, in their order. max_bytes: of the text of each."""
    if not results:
        return [], []
    seconds = min(PAGE_SECONDS, max(0.0, context.remaining() - _ANSWER_SECONDS))

    def read(url: str) -> JSONObject:
        context.deadline = time.monotonic() + max(0.1, seconds - _END_SECONDS)  # of the copy's own context
        return _read_page(url, context, max_bytes)

    try:
        outcomes = run_bounded(
            [partial(read, one["url"]) for one in results],
            seconds=seconds,
            memory_mib=_MEMORY_MIB,
            cpu_seconds=_CPU_SECONDS,
            max_bytes=4 * max_bytes + _SPARE_BYTES,
        )
    except OSError:  # the system gives no process
        return [], [Failure({"url": one["url"], **_NO_PROCESS}, is_late=False) for one in results]
    sources, failures = [], []
    for found, outcome in zip(results, outcomes, strict=True):
        if isinstance(outcome, dict):
            sources.append(Source(**outcome, found=found))
        else:
            failures.append(_describe_failure(found["url"], outcome, seconds))
    return sources, failures


@contextmanager
def importing_reader() -> Iterator[None]:
    """Import what each copy needs, once for all of them, while the block waits for something else."""
    importing = Thread(target=_import_reader, name="import the reader")
    importing.start()
    try:
        yield
    finally:
        importing.join()  # before the copies are made, which no lock of an import may be held in


def _import_reader() -> None:
    try:
        import ferrule_research.page.answer
        import ferrule_research.page.kept_pages
        import ferrule_research.page.sources.web_page  # noqa: F401 - it is used in the copies
        from ferrule_fetch.library import import_reader

        import_reader()
    except Exception:  # noqa: BLE001 - it is raised again where it is needed
        return


def _read_page(url: str, context: Context, max_bytes: int) -> JSONObject:
    """The fields of a `Source`, but for `found`, in a copy of the process. Raises ToolError."""
    from ferrule_fetch.library import check_url
    from ferrule_research.page.answer import find_article_facts
    from ferrule_research.page.budget import truncate
    from ferrule_research.page.call import read_content
    from ferrule_research.page.credibility.classification import classify
    from ferrule_research.page.errors import translate_errors

    with translate_errors(url):
        check_url(url, context)
        page = read_content(url, context, max_bytes)
    work = page.bibliography.bounded()
    kind = classify(page.url, work, page.embedded)
    text = truncate(page.text, max_bytes)
    facts: JSONObject = {
        "contentType": page.kind,
        **kind.as_json(),
        "extractionQuality": page.quality,
        **({"truncated": True} if text != page.text else {}),
        **find_article_facts(page, kind, context),
    }
    return {
        "url": page.url,
        "title": work.title,
        "authors": work.author,
        "site": work.site,
        "journal": work.journal,
        "date": work.date.iso() if work.date else "",
        "doi": facts.get("detectedDoi") or work.place.doi,
        "text": text,
        "facts": facts,
        "is_kept": page.kept_seconds is not None,
    }


def _describe_failure(url: str, error: FerruleError, seconds: float) -> Failure:
    if isinstance(error, ToolError) and error.details and "kind" in error.details:
        named = ("kind", "retryable", "retryAfterSeconds", "suggestedAction")
        details = {name: error.details[name] for name in named if name in error.details}
        return Failure({"url": url, "reason": error.message, **details}, is_late=False)
    limit = error.limit if isinstance(error, WorkFailed) else None
    if limit == "seconds":
        reason, kind, action = f"It was not read within {seconds:.1f} seconds.", "network", "retry_after_delay"
    elif limit:
        reason, kind, action = "Reading it took too much of the machine.", "content_empty", "inform_user"
    else:
        reason, kind, action = "What reads it failed.", "content_empty", "report_bug"
    facts = {"url": url, "reason": reason, "kind": kind, "retryable": kind == "network", "suggestedAction": action}
    return Failure(facts, is_late=limit == "seconds")
