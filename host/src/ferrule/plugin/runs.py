"""Tools that are run for other tools, by the list `tools` of their permissions.

One is run as in every call of it: held to its own permissions, with its own settings and credentials. The process that
does so is forked by one that was made before the host learnt any secret of the caller's. The caller gets the result,
without any secret.
"""

from __future__ import annotations

import os
import time

from ferrule import discovery
from ferrule.errors import PermissionDenied
from ferrule.plugin.admission.admitted_tool import AdmittedTool
from ferrule.plugin.called_tool import answer_with, not_run, work_of
from ferrule.plugin.failures import explain_error
from ferrule.plugin.surroundings import Surroundings, run_facts
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.channel.questions import RUN, RUN_KIND, fork_answer, give_forked
from ferrule.supervision.supervisor import supervise
from ferrule.supervision.zygote import Zygote
from ferrule.trust.composition import fits

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from ferrule.config.configuration import Configuration
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.zygote import Begin, ForkedProcess
    from ferrule.text.json_types import JSONMapping, JSONObject

_MAX_RESULT_BYTES = 4 << 20
_MAX_SECONDS = 86_400.0  # of a run; its caller's own deadline comes first
_MAX_DEPTH = 3  # of tools that run tools


class RunZygote:
    """Has other tools run for one call of a tool, where it may have some run. It is entered to be made.

    Made before anything is read that the other tools must not see, such as the values of the caller's credentials.
    depth: how many tools have run one another so far, with this one.
    """

    def __init__(self, tool: InstalledTool, settings: Configuration, depth: int = 1) -> None:
        """Raises ConfigurationMalformed."""
        self._facts = run_facts(tool, settings, depth)
        self._zygote: Zygote | None = None

    def __enter__(self) -> RunZygote | None:
        if self._facts["names"]:
            self._zygote = Zygote({RUN_KIND: begin_run(os.getpid())})
        return self if self._zygote else None

    def start(self, question: JSONMapping, files: tuple[int, int]) -> ForkedProcess:
        """Have a question answered, see `fork_answer`."""
        if self._zygote is None:
            raise ValueError("the zygote has not been made")
        return fork_answer(self._zygote, {**question, **self._facts}, files)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zygote is not None:
            self._zygote.close()


def begin_run(parent: int) -> Begin:
    """What a process does that a zygote forks to run a tool. parent: the process that has the zygote.

    The question has the `caller`, the `names` and the `depth` of `run_called`, as `run_facts` gives them.
    """

    def answer(question: JSONObject) -> JSONObject:
        if "environ" in question:  # of the caller; those that a keeper shares with it are here already
            os.environ.update(question.pop("environ"))
        return run_called(question, question["caller"], question["names"], question["depth"])

    return lambda files: give_forked(files, answer, parent)


def run_called(
    question: JSONMapping, caller: str = "", names: Sequence[str] | None = None, depth: int = 0
) -> JSONObject:
    """Run the tool that a question names, and answer with what came of it, as `outcome_in` reads it.

    Args:
        question: `run`, the tool; `operation`, one that its tool.json names, else it is executed; `arguments`;
            `deadline`, an instant of `time.monotonic()`; `max_bytes` of the result.
        caller: the tool that has asked; empty for a program of the user's.
        names: of tools that it may run, as in the list `tools` of permissions; None for any.
        depth: how many tools have run one another so far. It forks, so no other thread may be running.
    """
    try:
        outcome = _run(question, caller, names, depth)
    except Exception as error:  # noqa: BLE001 - the caller waits for an answer, also to a defect of the host
        outcome = Outcome(None, explain_error(error)[0])
    return answer_with(outcome)


def _run(question: JSONMapping, caller: str, names: Sequence[str] | None, depth: int) -> Outcome:
    """Raises FerruleError where it does not come to that."""
    admitted = _find(str(question.get(RUN)), caller, names)
    settings, tool = admitted.configuration(), admitted.tool()
    if depth >= _MAX_DEPTH:
        raise PermissionDenied(f"{tool.name} is not run: {depth} tools have run one another already.")
    now = time.monotonic()
    deadline = min(number_in(question, "deadline", now), now + _MAX_SECONDS)
    max_bytes = int(min(max(0, number_in(question, "max_bytes", _MAX_RESULT_BYTES)), _MAX_RESULT_BYTES))
    work = work_of(tool, question, settings.tool(tool.name), settings.content, deadline, max_bytes)
    with RunZygote(tool, settings, depth + 1) as runs:
        policy = admitted.policy()
        surroundings = Surroundings(tool, policy)
        outcome = supervise(
            work,
            deadline=deadline,
            memory=settings.memory(tool.name),
            size_limit=max_bytes,
            policy=policy,
            secrets=surroundings.secrets,
            answer=surroundings.answer,
            runs=runs,
        )
    if outcome.failure is not None and outcome.is_said:
        from ferrule.plugin.attribution import attribute

        attribute(outcome, policy, tool)  # else what it has forged would count, repeated by its caller, as the host's
    return outcome


def _find(name: str, caller: str, names: Sequence[str] | None) -> AdmittedTool:
    """The tool. Raises PermissionDenied where the caller does not run it."""
    is_run = names is None or any(fits(one, names) for one in discovery.scan().get(name, ()))
    if is_run and caller != name:
        return AdmittedTool(name)
    raise not_run(name, caller)


def number_in(question: JSONMapping, key: str, default: float) -> float:
    """A number of a question, which a plugin's code may have written; the default where it is none."""
    value = question.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else default
