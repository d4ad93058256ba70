"""What is asked about papers once they are found: where they can be read, and whether they were retracted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ferrule.errors import ToolError
from ferrule_scholar.asking.client import (
    SHAPE_ERRORS,
    ScholarClient,
    mapping,
    objects,
    service_error,
    shape_error,
    text,
)
from ferrule_scholar.asking.service import Service
from ferrule_scholar.asking.settings import EMAIL_VARIABLE, contact_of
from ferrule_scholar.scholars.crossref import NAME as CROSSREF
from ferrule_scholar.scholars.crossref import Crossref

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_scholar.works.work import Work

_SECONDS = 4.0  # for both together, since an answer without them is one
_LATE_SECONDS = 0.25
_AT_ONCE = 4
_REPOSITORY = "repository"

UNPAYWALL = Service(
    "Unpaywall",
    "https://api.unpaywall.org/v2",
    "FERRULE_UNPAYWALL_ENDPOINT",
    "unpaywall_endpoint",
    pace=((10, 1.0),),
    contact="email",
)


class Enriched(NamedTuple):
    """Papers with what was found out.

    checks: what came of each of both, as JSON. is_passing: whether what is missing may be there the next time, which is
    not so where a setting is missing.
    """

    works: list[Work]
    checks: JSONObject
    is_passing: bool


class _Answer(NamedTuple):
    """Papers with what one check adds to them. why: what is missing; "" where nothing is."""

    works: list[Work]
    why: str = ""


def enrich(works: Sequence[Work], context: Context, *, has_access: bool = True) -> Enriched:
    """The papers with open-access links of Unpaywall and notices of Crossref, side by side, as far as time allows.

    has_access: whether links are looked for.
    """
    deadline = time.monotonic() + min(_SECONDS, context.remaining() / 2)
    notices = _Check(lambda: _find_notices(works, ScholarClient(Crossref.service, context, deadline)))
    links = _Check(lambda: _find_links(works, context, deadline))
    checks: JSONObject = {}
    if has_access:
        _run_both(notices, links, deadline)
    else:
        notices.run()  # without a thread, which may outlive the call for a moment
    checks["retractions"] = notices.state()
    found = list(notices.found or works)
    if has_access:
        checks["openAccess"] = links.state()
        found = [_with_access(one, other) for one, other in zip_longest(found, links.found or [])]
    return Enriched(found, checks, any(one.is_passing for one in ((notices, links) if has_access else (notices,))))


def _run_both(notices: _Check, links: _Check, deadline: float) -> None:
    for check in (notices, links):
        check.start()
    for check in (notices, links):
        check.join(max(0.0, deadline + _LATE_SECONDS - time.monotonic()))


class _Check(threading.Thread):
    """One of both, in a thread. found: the papers with what it adds, None where it failed or has not ended."""

    def __init__(self, work: Callable[[], _Answer]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self.found: list[Work] | None = None
        self._reason = "gave no answer in time"
        self._is_set = True  # whether the settings are there that it needs

    def run(self) -> None:
        try:
            found, self._reason = self._work()
            self.found = found
        except ToolError as error:
            self._reason = error.message
            self._is_set = error.code != "CONFIG_ERROR"
        except SHAPE_ERRORS:
            self._reason = shape_error("The service").message

    @property
    def is_passing(self) -> bool:
        """Whether something is missing that may be there the next time."""
        return self._is_set and bool(self._reason)

    def state(self) -> JSONObject:
        """`{"state": "checked"}`, or `{"state": "partial" or "skipped", "why": …}`."""
        if self.found is not None and not self._reason:
            return {"state": "checked"}
        return {"state": "skipped" if self.found is None else "partial", "why": self._reason}


def _find_notices(works: Sequence[Work], client: ScholarClient) -> _Answer:
    """What Crossref has of each DOI that it has not been asked for already."""
    dois = [one.doi for one in works if one.doi and CROSSREF not in one.sources]
    with client:
        known = {one.doi: one for one in Crossref().find_many(dois, client)} if dois else {}
    return _Answer([_with_notice(one, known.get(one.doi)) for one in works])


def _with_notice(work: Work, record: Work | None) -> Work:
    return work._replace(notice=record.notice) if record and record.notice else work


def _with_access(work: Work, other: Work | None) -> Work:
    if other is None or other.doi != work.doi:
        return work
    return work._replace(is_open=other.is_open, pdf_url=other.pdf_url, licence=other.licence)


def _find_links(works: Sequence[Work], context: Context, deadline: float) -> _Answer:
    """What Unpaywall has of each paper with a DOI and without a file. Raises ToolError where it answered for none."""
    if not contact_of(context):
        message = f"Unpaywall wants an e-mail address: set {EMAIL_VARIABLE}, or email in [tools.{context.tool}]"
        raise ToolError("CONFIG_ERROR", f"{message} of config.toml.")
    wanted = [one for one in works if one.doi and not one.pdf_url]
    found: dict[str, Work] = {}
    failures: list[ToolError] = []
    clients = [ScholarClient(UNPAYWALL, context, deadline) for _ in wanted[:_AT_ONCE]]
    parts = [wanted[start :: len(clients)] for start in range(len(clients))]
    threads = [
        threading.Thread(target=_read_links, args=(part, client, found, failures), daemon=True)
        for part, client in zip(parts, clients, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    missing = {one.doi for one in wanted} - found.keys()
    if not missing:
        return _Answer([found.get(one.doi, one) for one in works])
    failure = failures[0] if failures else service_error(UNPAYWALL.label, "TIMEOUT", "gave no answer in time")
    if not found:
        raise failure
    why = f"{failure.message} {len(missing)} of {len(wanted)} papers were not looked for."
    return _Answer([found.get(one.doi, one) for one in works], why)


def _read_links(
    works: Sequence[Work], client: ScholarClient, found: dict[str, Work], failures: list[ToolError]
) -> None:
    """Several papers, one after the other, by one connection."""
    with client:
        for work in works:
            try:
                record = client.get_json(f"/{quote(work.doi, safe='/')}")
                found[work.doi] = work if record is None else _read_access(work, record)
            except ToolError as error:
                failures.append(error)
                return
            except SHAPE_ERRORS:
                failures.append(shape_error(UNPAYWALL.label))


def _read_access(work: Work, record: object) -> Work:
    """The paper with a place at which it can be read: a file of a repository first, which programs may fetch."""
    facts = mapping(record)
    if facts.get("is_oa") is not True:
        return work
    places = [mapping(facts.get("best_oa_location")), *objects(facts.get("oa_locations"))]
    files = [one for one in places if text(one.get("url_for_pdf"))]
    files.sort(key=lambda one: text(one.get("host_type")) != _REPOSITORY)
    best = files[0] if files else places[0]
    pdf, licence = text(best.get("url_for_pdf")), text(best.get("license"))
    return work._replace(is_open=True, pdf_url=pdf or work.pdf_url, licence=licence or work.licence)
