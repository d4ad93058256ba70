"""What a call of a tool needs to know of it, for a process that never reads config.toml.

The process of a tool begins as a copy of the one that supervises it, and has all its memory. So what config.toml says
of other tools must not be there: the answer is the one that was kept, or it is worked out in a copy of this process,
which ends at once.
"""

from __future__ import annotations

import os

from ferrule.config import configuration
from ferrule.config.configuration import Configuration
from ferrule.discovery import InstalledTool
from ferrule.errors import FerruleError
from ferrule.trust.door import kept_admission

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.confinement.policy import Policy
    from ferrule.errors import ErrorFacts
    from ferrule.text.json_types import JSONMapping, JSONObject


class Refused(FerruleError):
    """A failure that another process has met. reported: its facts."""

    def __init__(self, reported: ErrorFacts, traceback: bytes = b"") -> None:
        super().__init__(reported["message"])
        self.code = reported["code"]
        self.traceback = traceback
        self._reported = reported

    def facts(self) -> ErrorFacts:
        """The facts as they were reported."""
        return self._reported


class AdmittedTool:
    """The answer for the tool of one name. Each method raises what stood in the way of that part of it.

    A failure of the copy is raised as Refused.
    """

    def __init__(self, name: str, *, is_called: bool = True) -> None:
        """is_called: whether what it asks for counts as accepted now, where nothing was accepted before."""
        self._name = name
        self._is_called = is_called
        self._facts: JSONObject | None = None

    def configuration(self) -> Configuration:
        """The configuration as far as the process of the tool may see it."""
        content = self._part("content")
        return Configuration(configuration.default_path(), content, os.environ, is_whole=False)

    def tool(self) -> InstalledTool:
        """The tool itself, which is one that may run."""
        self._part("content")  # what is wrong with config.toml counts first
        return InstalledTool(**self._part("tool"))

    def schema(self) -> JSONObject | None:
        """See `schema_file.read_static`."""
        schema: JSONObject | None = self._part("schema")
        return schema

    def policy(self) -> Policy:
        """See `Admission.policy`; the one that was kept, where it still counts."""
        granted = self._part("grant")
        kept = kept_admission.find_policy(self._facts, os.environ) if self._facts and self.is_kept else None
        return kept or self._resolve(granted)

    def list_given(self) -> Sequence[str]:
        """The variables of its credentials that the tool is given."""
        given: Sequence[str] = self._part("grant")["given"]
        return given

    def require_accepted_version(self) -> None:
        """Raise PermissionsHeld for a new version that asks for more: no client is to offer what cannot run."""
        if self._facts and self._facts.get("was_new_version"):
            _part_of({**self._facts, "grant": None}, "grant")

    @property
    def is_kept(self) -> bool:
        """Whether all parts are those that were kept, so that nothing stands in the way of any."""
        return bool(self._facts and self._facts.get("is_kept"))

    def has_others_run(self) -> bool:
        """Whether the tool may have other tools run."""
        return bool(self._part("grant")["permissions"]["tools"])

    def _part(self, name: str) -> JSONObject:
        if self._facts is None:
            self._facts = self._find_facts()
        return _part_of(self._facts, name)

    def _find_facts(self) -> JSONObject:
        kept = kept_admission.read(self._name)
        is_enough = kept is not None and (not self._is_called or kept.get("grant") is not None)
        if kept is not None and is_enough and not _is_disabled(kept, self._name):
            return kept
        from ferrule.plugin.admission import judgement

        return judgement.judge_in_copy(self._name, is_called=self._is_called)

    def _resolve(self, granted: JSONObject) -> Policy:
        from ferrule.trust.door.admission import Admission, Grant
        from ferrule.trust.policy import WholeConfigurationNeeded

        try:
            policy = Admission(self.tool(), self.configuration(), Grant.from_dict(granted)).policy()
        except WholeConfigurationNeeded:
            return self._policy_of_copy()
        if self._facts and self.is_kept:
            kept_admission.keep_policy(self._name, self._facts, policy, os.environ)
        return policy

    def _policy_of_copy(self) -> Policy:
        from ferrule.confinement.policy import Policy
        from ferrule.plugin.admission import judgement

        return Policy(**_part_of(judgement.find_policy_in_copy(self._name), "policy"))


def _is_disabled(facts: JSONMapping, name: str) -> bool:
    """By the environment, which is no part of what was kept."""
    return Configuration("", facts["content"], os.environ).is_disabled(name)


def _part_of(facts: JSONObject, name: str) -> JSONObject:
    for failure in facts["failures"]:
        if failure["part"] == name:
            raise Refused(failure["facts"], failure["traceback"].encode())
    found: JSONObject = facts[name]
    return found
