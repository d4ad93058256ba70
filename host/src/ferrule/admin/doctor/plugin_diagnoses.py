"""What installed distributions find wrong themselves: the entry points of the group `ferrule.diagnoses`.

A distribution adds `NAME = "module:function"`. The function takes nothing and gives `Diagnosis` objects. It runs in a
supervised child that has no network, no variable of a secret, nothing to write to, and of the user's files those alone
that a command of the distribution has shown it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from ferrule import discovery
from ferrule.admin import shown_files
from ferrule.admin.doctor.diagnosis_entry import ERROR, NOTE, WARNING, Diagnosis
from ferrule.admin.entry_point import EntryPoint, entry_points
from ferrule.errors import CallInterrupted, FerruleError
from ferrule.installed.supervised_work import run_supervised

if TYPE_CHECKING:
    from ferrule.confinement.policy import Policy
    from ferrule.supervision.channel.channel import Channel

_TITLE = "diagnosis"


def examine() -> Iterator[Diagnosis]:
    """What the distributions find. One whose function fails is told itself, and keeps no other from being asked."""
    for one in entry_points(discovery.DIAGNOSES)[0].values():
        try:
            files = shown_files.recorded(one)
            answer = run_supervised(partial(_examine_in_child, one, files), _policy(one, files))
        except CallInterrupted:
            raise
        except FerruleError as error:
            yield Diagnosis("diagnosis-broken", ERROR, one.name, error.message, error.hint)
        else:
            found = cast("dict[str, list[dict[str, str]]]", answer)["findings"]
            yield from (Diagnosis(**facts) for facts in found)


def _policy(one: EntryPoint, files: Iterable[str]) -> Policy:
    from ferrule.trust.load_policy import policy_for_code

    places = (os.path.realpath(path) for path in files)
    return policy_for_code(one.name, read=[place for place in places if os.path.isfile(place)])


def _examine_in_child(one: EntryPoint, files: Mapping[str, str], channel: Channel) -> None:
    shown_files.hand_over(files)
    function = one.load(_TITLE)
    if not callable(function):
        raise one.unusable(_TITLE, "is no function")
    found = list(function())
    if not all(isinstance(entry, Diagnosis) and entry.severity in (ERROR, WARNING, NOTE) for entry in found):
        raise one.unusable(_TITLE, "gives something else than ferrule.cli.Diagnosis")
    channel.result({"findings": [entry.as_dict() for entry in found]})
