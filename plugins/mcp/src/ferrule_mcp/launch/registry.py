"""The entry of a server in a registry of the protocol, `server.json`: its packages and its addresses."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ferrule_mcp.launch.command_line import parse_command
from ferrule_mcp.launch.json_values import read_object, read_objects, read_texts, write_value
from ferrule_mcp.launch.plan import Launch, LaunchRefused, Remote, Secret
from ferrule_mcp.launch.secret_values import credential_name, extract_remote_secrets, may_hold_secret
from ferrule_mcp.launch.settings import Answers, Filled, Setting, fill_settings

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_MAX_BYTES = 4 << 20
_SNAKE = re.compile(r"_([a-z])")
_VARIABLE = re.compile(r"\{(?P<name>[A-Za-z_][\w-]*)\}")
_RUNNERS = {"npm": ("npx", "-y"), "pypi": ("uvx",)}
_OTHERS = {
    "oci": "a container image: nothing that ferrule sets holds a server in a container",
    "docker": "a container image: nothing that ferrule sets holds a server in a container",
    "nuget": "a package of .NET, which is resolved anew at each start",
    "mcpb": "a bundle: fetch the file and add it by its path",
}
_REMOTES = {"streamable-http": "http", "http": "http", "sse": "sse"}


class _Input(NamedTuple):
    """One word, variable or header of the entry. text: with `{name}` for settings. setting: that the whole value is."""

    name: str
    text: str
    settings: tuple[Setting, ...]
    is_named: bool = False
    is_optional: bool = False


class Choice(NamedTuple):
    """One way to the server. kind: `npm`, `pypi`, `http` or `sse`. settings: what has to be answered for it."""

    kind: str
    title: str
    settings: tuple[Setting, ...]
    words: tuple[_Input, ...]
    variables: tuple[_Input, ...]
    package: str = ""
    options: tuple[_Input, ...] = ()

    def plan(self, answers: Answers) -> Launch | Remote:
        """The plan with the settings answered. Raises LaunchRefused."""
        filled = fill_settings(self.settings, answers)
        if self.kind in ("http", "sse"):
            return self._plan_remote(filled)
        options = _write_words(self.options, filled)
        words = [*_RUNNERS[self.kind], *(word for word in options if word not in ("-y", "--yes")), self.package]
        words += _write_words(self.words, filled)
        variables = {one.name: _write_text(one.text, filled) for one in self.variables}
        variables = {name: text for name, text in variables.items() if text}
        return parse_command(words, Path("/"), *_place_secrets(words, variables, filled))

    def _plan_remote(self, filled: Filled) -> Remote:
        url = "".join(_write_words(self.words, filled))
        if not url.startswith(("http://", "https://")) or any(one.name in url for one in filled.secrets.values()):
            raise LaunchRefused("The entry's address is none that can be written down.", hint="Add the URL yourself.")
        headers = {one.name: _write_text(one.text, filled) for one in self.variables}
        used = [
            one for one in filled.secrets.values() if any("{" + one.name + "}" in text for text in headers.values())
        ]
        headers = {name: text for name, text in headers.items() if text}
        return extract_remote_secrets(Remote(self.kind, url, headers, tuple(used)))


class Entry(NamedTuple):
    """A server of a registry. refused: why the other ways to it cannot be taken, one sentence each."""

    name: str
    version: str
    description: str
    choices: tuple[Choice, ...]
    refused: tuple[str, ...]


def read_entry(source: Path | JSONObject, registries: Sequence[str] = ()) -> Entry:
    """The entry in a file, or as it came from a registry, with or without what a registry puts around it.

    registries: addresses of those whose packages are the ones that are fetched here, as the admin says.

    Raises LaunchRefused where it is no entry, or has no way that can be taken.
    """
    content = _camel(_read_file(source) if isinstance(source, Path) else source)
    server = read_object(content.get("server")) or content
    name = server.get("name")
    if not isinstance(name, str) or not (server.get("packages") or server.get("remotes")):
        raise LaunchRefused(
            "This is no server.json: it has no name, or neither packages nor remotes.", hint="Check it."
        )
    packages, remotes = read_objects(server.get("packages")), read_objects(server.get("remotes"))
    known = {_show_address(one) for one in registries}
    refused = [reason for one in packages if (reason := _why_refused(one, known))]
    choices = [_read_package(one) for one in packages if not _why_refused(one, known)]
    choices += [_read_remote(one) for one in remotes if one.get("type") in _REMOTES]
    if not choices:
        raise LaunchRefused(f"{name} cannot be added: {' '.join(refused)}", hint=_advise(packages, known))
    description = str(server.get("description", ""))
    return Entry(name, str(server.get("version", "")), description, tuple(choices), tuple(refused))


def _read_file(path: Path) -> JSONObject:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        content = json.loads(data) if len(data) <= _MAX_BYTES else None
    except OSError as error:
        raise LaunchRefused(f"{path} cannot be read: {error.strerror}.", hint="Correct the path.") from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise LaunchRefused(f"{path} is no server.json: it holds no JSON object.", hint="Fetch it again.")
    return content


def _camel(value: JSONObject) -> JSONObject:
    """Older entries write `registry_type` where newer ones write `registryType`. Names of variables stay."""

    def change(inner: object, is_named: bool) -> object:
        if isinstance(inner, list):
            return [change(one, False) for one in inner]
        if not isinstance(inner, dict):
            return inner
        names = {key: key if is_named else _SNAKE.sub(lambda found: found[1].upper(), key) for key in inner}
        return {names[key]: change(one, key == "variables") for key, one in inner.items()}

    changed = change(value, False)
    return changed if isinstance(changed, dict) else {}


def _advise(packages: Sequence[JSONObject], known: Collection[str]) -> str:
    """What to do where no package can be taken."""
    others = [address for one in packages if (address := _other_registry(one)) and address not in known]
    if not others:
        return "Ask its author for a package on npm or PyPI."
    return f"Where packages are fetched from that registry here, add --registry {shlex.quote(others[0])}."


def _other_registry(package: JSONObject) -> str:
    """The address of the registry that a package names for itself; empty where it names none."""
    return _show_address(str(package.get("registryBaseUrl") or ""))


def _show_address(address: str) -> str:
    """An address without the name and the password that may stand in it, and without characters that are not shown."""
    shown = "".join(one for one in address.strip() if one.isprintable()).rstrip("/")
    try:
        parts = urlsplit(shown)
    except ValueError:
        return shown.rpartition("@")[2]
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _why_refused(package: JSONObject, known: Collection[str]) -> str:
    """Empty where it can be taken. known: addresses of registries whose packages are those that are fetched here."""
    kind = str(package.get("registryType") or package.get("registryName") or "")
    identifier = str(package.get("identifier") or package.get("name") or "")
    transport = package.get("transport")
    if kind not in _RUNNERS:
        return f"{identifier} is {_OTHERS.get(kind, f'in the registry {kind!r}, which is not known here')}."
    if isinstance(transport, dict) and transport.get("type", "stdio") != "stdio":
        return f"{identifier} serves at an address that it opens itself: start it, and add the URL."
    if identifier.startswith("-") or not identifier:
        return "A package of the entry has no name."
    other = _other_registry(package)
    if other and other not in known:
        # One of the same name in the registry that is asked may be anybody's.
        return f"{identifier} is a package in the registry {other}, and the one that {kind} asks here may be another."
    return ""


def _read_package(package: JSONObject) -> Choice:
    kind = str(package.get("registryType") or package.get("registryName"))
    identifier = str(package.get("identifier") or package.get("name"))
    version = str(package.get("version") or "")
    mark = "@" if kind == "npm" else "=="
    named = f"{identifier}{mark}{version}" if version and version != "latest" else identifier
    words = [_read_input(one, number) for number, one in enumerate(read_objects(package.get("packageArguments")))]
    options = [_read_input(one, number) for number, one in enumerate(read_objects(package.get("runtimeArguments")))]
    variables = [_read_input(one, 0) for one in read_objects(package.get("environmentVariables"))]
    settings = _merge_settings([*words, *options, *variables])
    return Choice(kind, f"{named} of {kind}", settings, tuple(words), tuple(variables), named, tuple(options))


def _read_remote(remote: JSONObject) -> Choice:
    kind = _REMOTES[str(remote.get("type"))]
    url = _read_input({"value": remote.get("url", ""), "variables": remote.get("variables")}, 0)
    headers = [_read_input(one, 0) for one in read_objects(remote.get("headers"))]
    return Choice(kind, url.text, _merge_settings([url, *headers]), (url,), tuple(headers))


def _read_input(content: JSONObject, number: int) -> _Input:
    """One input: a fixed text, perhaps with variables in it, or a setting of its own."""
    name = str(content.get("name") or content.get("valueHint") or f"argument_{number + 1}")
    is_named = content.get("type") == "named"
    value = content.get("value")
    if value is not None:
        inner = read_object(content.get("variables"))
        found = [one["name"] for one in _VARIABLE.finditer(str(value))]
        settings = tuple(_read_variable(key, read_object(inner.get(key))) for key in dict.fromkeys(found))
        return _Input(name, str(value), settings, is_named)
    if (content.get("type") == "named" and content.get("format") == "boolean") or _is_switch(content):
        return _Input(name, "", (), is_named)
    own = _read_setting(name.lstrip("-"), content)
    return _Input(name, "{" + own.name + "}", (own,), is_named, is_optional=True)


def _is_switch(content: JSONObject) -> bool:
    """Whether a named argument stands alone: nothing of it says that it has a value."""
    keys = ("default", "choices", "valueHint", "placeholder", "format", "isSecret", "isRepeated", "isRequired")
    return content.get("type") == "named" and not any(content.get(key) for key in keys)


def _read_variable(name: str, content: JSONObject) -> Setting:
    """A setting that is a part of a text: without it the text is not whole."""
    setting = _read_setting(name, content)
    return setting._replace(is_required=setting.is_required or not setting.default)


def _read_setting(name: str, content: JSONObject) -> Setting:
    default = content.get("default")
    secret = content.get("isSecret")
    return Setting(
        name,
        str(content.get("description") or ""),
        is_secret=secret if isinstance(secret, bool) else may_hold_secret(name, ""),
        is_required=content.get("isRequired") is True,
        takes_several=content.get("isRepeated") is True,
        default=() if default in (None, "") else (write_value(default),),
        choices=tuple(read_texts(content.get("choices"))),
    )


def _merge_settings(inputs: Sequence[_Input]) -> tuple[Setting, ...]:
    return tuple({one.name: one for given in inputs for one in given.settings}.values())


def _write_words(inputs: Sequence[_Input], filled: Filled) -> list[str]:
    words: list[str] = []
    for one in inputs:
        own = one.settings[0].name if one.is_optional else ""
        texts = list(filled.values[own]) if own else [_write_text(one.text, filled)]
        texts = [] if own in filled.omitted else texts
        for text in texts:
            words += ([one.name, text] if text else [one.name]) if one.is_named else [text]
    return words


def _write_text(text: str, filled: Filled) -> str:
    return _VARIABLE.sub(lambda found: ",".join(filled.values.get(found["name"], (found[0],))), text)


def _place_secrets(
    words: Sequence[str], variables: Mapping[str, str], filled: Filled
) -> tuple[dict[str, str], list[Secret]]:
    """The variables without those that are a secret as a whole, and the secrets with where they go."""
    placed: list[Secret] = []
    rest = dict(variables)
    for secret in filled.secrets.values():
        mark = "{" + secret.name + "}"
        whole = [name for name, text in rest.items() if text == mark]
        placed += [secret._replace(variable=name) for name in whole]
        rest = {name: text for name, text in rest.items() if name not in whole}
        if any(mark in text for text in (*words, *rest.values())):
            placed.append(secret)
    return rest, placed


def name_of(entry: Entry) -> str:
    """A short name for the server: the last part of its own."""
    return credential_name(entry.name.rpartition("/")[2])
