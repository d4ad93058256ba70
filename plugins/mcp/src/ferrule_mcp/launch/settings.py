"""What somebody who adds a server has to say first: the settings that a bundle or a registry's entry asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ferrule_mcp.launch.plan import LaunchRefused, Secret
from ferrule_mcp.launch.secret_values import credential_name

Answers = Mapping[str, str | Sequence[str]]
"""Values of settings by their names; several where the setting takes several."""


class Setting(NamedTuple):
    """One value that a server needs.

    name: by which it is answered. kind: `string`, `number`, `boolean`, `file` or `directory`. default: empty where
    there is none. choices: empty where any value will do.
    """

    name: str
    description: str = ""
    kind: str = "string"
    is_secret: bool = False
    is_required: bool = False
    takes_several: bool = False
    default: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


class Filled(NamedTuple):
    """The settings with their values. values: what stands for each in a text; a secret is `{name}` of its credential.

    secrets: by the name of the setting. omitted: the settings that have no value and need none; a secret of them has
    its credential, and no argument.
    """

    values: Mapping[str, tuple[str, ...]]
    secrets: Mapping[str, Secret]
    omitted: frozenset[str] = frozenset()


def fill_settings(settings: Sequence[Setting], answers: Answers) -> Filled:
    """The value of each setting: the answer, or the default. A secret without one becomes a credential, too.

    Raises LaunchRefused for an answer to nothing, a value that is no choice, and a setting that is required and has
    no value.
    """
    names = {one.name for one in settings}
    unknown = sorted(set(answers) - names)
    if unknown:
        known = ", ".join(sorted(names)) or "none"
        raise LaunchRefused(f"There is no setting {unknown[0]}.", hint=f"The settings are: {known}.")
    values: dict[str, tuple[str, ...]] = {}
    secrets: dict[str, Secret] = {}
    omitted: set[str] = set()
    for one in settings:
        given = _read_answer(one, answers.get(one.name))
        if one.is_secret:
            secret = Secret(credential_name(one.name), given[0] if given else "")
            secrets[one.name] = secret
            values[one.name] = ("{" + secret.name + "}",)
        else:
            values[one.name] = given
        if not given and not one.is_required:
            omitted.add(one.name)
    missing = [one for one in settings if one.is_required and not values[one.name]]
    if missing:
        listed = "; ".join(f"{one.name}: {one.description or one.kind}" for one in missing)
        raise LaunchRefused(f"The server needs settings: {listed}.", hint=f"Add --set {missing[0].name}=VALUE.")
    return Filled(values, secrets, frozenset(omitted))


def _read_answer(setting: Setting, answer: str | Sequence[str] | None) -> tuple[str, ...]:
    if answer is None:
        return setting.default
    given = (answer,) if isinstance(answer, str) else tuple(answer)
    wrong = [value for value in given if setting.choices and value not in setting.choices]
    if wrong:
        raise LaunchRefused(
            f"{wrong[0]!r} is no value of the setting {setting.name}.",
            hint=f"It is one of: {', '.join(setting.choices)}.",
        )
    if len(given) > 1 and not setting.takes_several:
        raise LaunchRefused(f"The setting {setting.name} takes one value.", hint="Name it once.")
    return given
