"""An installed tool that another plugin calls within its own process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule.plugin.hooks.context import ANSWER_BYTES, Context
from ferrule.plugin.hooks.credential_values import ask_for_values
from ferrule.plugin.loader import load
from ferrule.schema import schema_file
from ferrule.schema.arguments import prepare
from ferrule.supervision import supervisor
from ferrule.supervision.channel.channel import current_channel
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.channel.questions import Reception, Relay
from ferrule.trust import admission

if TYPE_CHECKING:
    from ferrule.confinement.policy import Policy
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.plugin.hooks.result_policy import ResultPolicy
    from ferrule.plugin.loader import LoadedTool
    from ferrule.supervision.channel.channel import Channel
    from ferrule.supervision.channel.questions import Answer
    from ferrule.text.json_types import JSONMapping, JSONObject


class OpenedTool:
    """A tool whose plugin is loaded, for one call. Its methods run the plugin's code.

    tool: what is installed; its `source` and `value` say which code it is. context: what `execute` gets.
    """

    def __init__(
        self, loaded: LoadedTool, channel: Channel, settings: JSONMapping, deadline: float, max_bytes: int
    ) -> None:
        self.tool: InstalledTool = loaded.tool
        self._loaded = loaded
        self._channel = channel
        self._settings = settings
        self._deadline = deadline
        self._max_bytes = max_bytes

    @cached_property
    def context(self) -> Context:
        """The tool's Context. The parent knows the secrets in it from then on. Raises ToolCrashed as `credentials`."""
        credentials = self.credentials()
        return Context(
            self.tool.name,
            self._deadline,
            credentials=credentials,
            settings=self._settings,
            send_event=self._channel.event,
            max_bytes=self._max_bytes,
            values=ask_for_values(self._channel, self.tool.name, credentials),
        )

    def credentials(self) -> list[Credential]:
        """The credentials that it declares. Raises ToolCrashed where it declares something else."""
        return self._loaded.credentials()

    def result_policy(self) -> ResultPolicy:
        """What may be done with its results. Raises ToolCrashed where the hook returns something else."""
        return self._loaded.result_policy()

    def prepare(self, arguments: JSONObject) -> JSONObject:
        """The arguments as the host hands them on. Raises ArgumentsInvalid for those that do not fit its schema."""
        schema = schema_file.read_static(self.tool) or schema_file.require_valid(self._loaded.schema(), self.tool)
        return prepare(arguments, schema["parameters"])

    def validate(self, arguments: JSONObject) -> list[str]:
        """Its own findings about arguments that `prepare` has returned: what is wrong, each without a full stop."""
        return self._loaded.validate(arguments)

    def execute(self, arguments: JSONObject) -> JSONObject:
        """The result of a call with arguments that `prepare` has returned. Raises what the tool raises.

        A result may also say that the call has failed; `ferrule.errors.failure_in` reads that.
        """
        return self._loaded.execute(arguments, self.context)


def open_tool(name: str, channel: Channel, *, deadline: float, max_bytes: int = ANSWER_BYTES) -> OpenedTool:
    """Load an installed tool for one call. Runs its code, so call it within `supervise` alone.

    channel: gets the secrets and the events of the tool. deadline: of its Context, an instant of `time.monotonic()`.
    max_bytes: that its result may have.

    Raises ToolUnknown, ToolNameClash, ToolDisabled, ToolDiffers, LockUnusable, ConfigurationMalformed, and ToolBroken
    where it cannot be loaded.
    """
    settings = configuration.read()
    loaded = load(admission.find(name, settings))
    return OpenedTool(loaded, channel, settings.tool(name), deadline, max_bytes)


def supervise(
    work: Callable[[Channel], JSONObject],
    *,
    deadline: float,
    memory_mib: int,
    max_bytes: int,
    tool: str = "",
    source: str | None = None,
    gives_credentials: bool = True,
    answer: Answer | None = None,
) -> Outcome:
    """Do work that runs plugins in a child, and say how it ended; never raises for anything that the work does.

    work: gets the Channel, on which it may send events, and returns the result. deadline: an instant of
    `time.monotonic()`. memory_mib: MiB of address space. max_bytes: of the result. tool: an installed tool to whose
    permissions the child is held; without it, to those of the process that asks. Where these permissions cannot be
    read, or were not accepted, that is the failure. source: the distribution, as `entry_points` gives it, whose tools
    alone get their credentials; None for any. gives_credentials: False where the tools only get to know which of
    their credentials are set, so that those of several distributions may be loaded into one process. answer: gives a
    JSON object for what the work asks by `channel.ask({"work": …})`, in this process and soon, so that a child that
    may touch little finds out what only this process may. Whatever the work starts is gone when this returns. No
    other thread may be running.

    In the process of a tool, the credentials come from the host that runs it, and only those of tools that its list
    `tools` of permissions names.
    """
    host = _who_answers({"source": source, "gives_values": gives_credentials})
    try:
        policy = _policy_of(tool) if tool else None
    except FerruleError as error:  # nobody knows what it may, so nothing of it runs
        return Outcome(None, error.facts())
    return supervisor.supervise(
        lambda channel: channel.result(work(channel)),
        deadline=deadline,
        memory=memory_mib,
        size_limit=max_bytes,
        policy=policy,
        answer=host if answer is None else Reception(answer, host),
    )


def find_configured(tools: Sequence[str]) -> dict[str, bool | None]:
    """Whether all is set that each tool says to need, in the keys `credentials` and `settings` of its `tool.json`.

    None where that is not known without running the tool's code. In the process of a tool, the host that runs it
    answers, for those that the tool's list `tools` of permissions names. Raises AnswerMissing, ConfigurationMalformed.
    """
    from ferrule.plugin.surroundings import CONFIGURED, answer_configured

    channel = current_channel()
    question: JSONObject = {CONFIGURED: list(tools)}
    answer = answer_configured(question) if channel is None else channel.ask(question)
    found = (answer or {}).get(CONFIGURED)
    return {name: found.get(name) if isinstance(found, dict) else None for name in tools}


def _who_answers(facts: JSONMapping) -> Relay | Answer:
    channel = current_channel()
    if channel is not None:
        return Relay(channel, facts)

    def answer(question: JSONObject) -> JSONObject:
        from ferrule.plugin.surroundings import answer_for_called

        return answer_for_called({**question, **facts})

    return answer


def _policy_of(name: str) -> Policy | None:
    """None for a tool that cannot be had, which the work finds out itself. Raises as `Admission.policy`."""
    from ferrule.trust.grants import granted
    from ferrule.trust.policy import resolve

    try:
        settings = configuration.read()
        tool = admission.find(name, settings)
    except FerruleError:
        return None
    if current_channel() is None:  # no tool's process, so that the call begins here
        return admission.admit(tool, settings).policy()
    # Whether what it asks for was accepted is known where its own calls begin; here it gets less than its caller.
    return resolve(name, granted(tool, settings), settings, os.environ)
