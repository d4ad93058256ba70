"""Several services side by side, within one time: one that is slow or fails costs its own answer alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import ToolError
from ferrule_scholar.asking.client import SHAPE_ERRORS, ScholarClient, service_error, shape_error

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_scholar.asking.scholar import Found, Scholar

_LATE_SECONDS = 0.25  # after the deadline, for a request that ends by it to say so

Task = Callable[["Scholar", ScholarClient], "Found"]


class Opinion(NamedTuple):
    """What came of asking one service: what it found, or why not. requests: how many were sent."""

    name: str
    label: str
    found: Found | None = None
    error: ToolError | None = None
    requests: int = 0

    def as_json(self) -> JSONObject:
        """`{"name", "state", "requests"}`, with `resultCount` and `total`, or `kind`, `error` and a time to wait."""
        facts: JSONObject = {"name": self.name, "state": "answered" if self.found else "failed"}
        if self.found:
            facts["resultCount"] = len(self.found.works)
            if self.found.total is not None:
                facts["total"] = self.found.total
        if self.error:
            details = self.error.details or {}
            facts |= {"kind": details.get("kind", "upstream_unavailable"), "error": self.error.message}
            if "retryAfterSeconds" in details:
                facts["retryAfterSeconds"] = details["retryAfterSeconds"]
        return facts | {"requests": self.requests}


def ask_all(scholars: Mapping[str, Scholar], task: Task, context: Context, seconds: float) -> list[Opinion]:
    """What each service says to a task, in the order of the services.

    Args:
        seconds: that all get, at the same time.

    Raises:
        ToolError where a setting cannot be used; no service is asked then.
    """
    return _ask_at_once([(one, task) for one in scholars.values()], context, seconds)


def ask_each(scholar: Scholar, tasks: Sequence[Task], context: Context, seconds: float) -> list[Opinion]:
    """What one service says to several tasks, in their order: side by side, each in turn with all that ask it.

    seconds: that all tasks get, at the same time. Raises ToolError where a setting cannot be used.
    """
    return _ask_at_once([(scholar, task) for task in tasks], context, seconds)


def _ask_at_once(questions: Sequence[tuple[Scholar, Task]], context: Context, seconds: float) -> list[Opinion]:
    deadline = time.monotonic() + seconds
    desks = [_Desk(one, task, ScholarClient(one.service, context, deadline)) for one, task in questions]
    if len(desks) == 1:
        desks[0].work()  # without a thread
        return [desks[0].opinion()]
    threads = [threading.Thread(target=desk.work, daemon=True) for desk in desks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline + _LATE_SECONDS - time.monotonic()))
    return [desk.opinion() for desk in desks]


class _Desk:
    """One service with its task. What is written here after `opinion` was asked for counts no more."""

    def __init__(self, scholar: Scholar, task: Task, client: ScholarClient) -> None:
        self._scholar = scholar
        self._task = task
        self._client = client
        self._found: Found | None = None
        self._error: ToolError | None = None

    def work(self) -> None:
        label = self._scholar.service.label
        try:
            with self._client:
                self._found = self._task(self._scholar, self._client)
        except ToolError as error:
            self._error = error
        except SHAPE_ERRORS:
            self._error = shape_error(label)
        except Exception as error:  # noqa: BLE001 - a third party's service must not take the others with it
            self._error = service_error(label, "API_ERROR", f"cannot be asked ({type(error).__name__})")

    def opinion(self) -> Opinion:
        name, label, found, error = self._scholar.name, self._scholar.service.label, self._found, self._error
        if found is None and error is None:
            error = service_error(label, "TIMEOUT", "gave no answer in time", kind="network")
        return Opinion(name, label, found, error, self._client.requests)
