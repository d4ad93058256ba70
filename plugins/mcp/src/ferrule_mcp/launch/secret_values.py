"""Values in a command line and in variables that look like secrets: they belong into the credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ferrule_mcp.launch.plan import Launch, Remote, Secret

_WORDS = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH(?!OR(?!IZ))", re.IGNORECASE)
_SWITCHES = re.compile(r"-+(?:no|disable|skip|allow|enable|use|with|without)-", re.IGNORECASE)
_FILES = ("_FILE", "_PATH", "_DIR", "_URL", "_URI", "_HOST", "_ENDPOINT", "_TYPE", "_NAME", "_ID", "_METHOD", "_MODE")
_PLACES = ("/", "./", "../", "~/", "http://", "https://")
_PLAIN = re.compile(r"(?:true|false|yes|no|on|off|none|null|\d{1,8})?", re.IGNORECASE)
_KNOWN = re.compile(
    r"(?:sk-[\w-]{16,}|sk_(?:live|test)_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{30,}|hf_\w{20,}|npm_\w{30,}|tvly-[\w-]{16,}"
    r"|fc-[0-9a-f]{24,}|ntn_\w{20,}|secret_\w{30,}|BSA[\w-]{20,}|lin_api_\w{20,}|pypi-[\w-]{30,}|figd_[\w-]{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_\w{30,}|shpat_\w{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"
)
_LOGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@", re.IGNORECASE)
_USER = re.compile(r"://(?P<user>[^/@\s]+)@")
_QUERY = re.compile(
    r"[?&](?P<name>[^=&#\s]*(?:key|token|secret|password|auth)[^=&#\s]*)=(?P<value>[^&#\s]+)", re.IGNORECASE
)
_BEARER = re.compile(r"(?P<head>.*\b(?:Bearer|Basic|Token)\s+)(?P<value>\S+)", re.IGNORECASE | re.DOTALL)
_HEADER = re.compile(r"(?P<name>[A-Za-z][\w-]*):\s*(?P<value>\S.*)")
_PLACEHOLDER = re.compile(
    r"<.*>|\[.*\]|\.{3,}|x{3,}|\*{3,}|(?:your|my|insert|enter|replace|put)[-_ ].*|.*[-_ ]here|"
    r"\$\{?\w+\}?|changeme|todo|(?:api[-_ ]?key|token|secret|password)",
    re.IGNORECASE,
)  # fmt: skip
_NO_NAME = re.compile(r"[^a-z0-9]+")


def may_hold_secret(name: str, value: str) -> bool:
    """Whether a variable, a header or an option is likely to hold a secret, by its name and its value."""
    if _KNOWN.fullmatch(value) or _LOGIN.match(value):
        return True
    if not _is_secret_name(name) or name.upper().replace("-", "_").endswith(_FILES):
        return False
    return not value or not (_PLAIN.fullmatch(value) or value.startswith(_PLACES))


def has_login(text: str) -> bool:
    """Whether an address has a password or a token before its host. `git@host` of ssh is none."""
    found = _USER.search(text)
    return found is not None and found["user"] != "git"


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for one that its reader has to put there, as `<YOUR KEY>` does."""
    return not value or _PLACEHOLDER.fullmatch(value.strip()) is not None


def credential_name(text: str) -> str:
    """The name of a credential for a variable, an option or a header: `--api-key` -> `api_key`."""
    return _NO_NAME.sub("_", text.lower()).strip("_") or "secret"


def extract_secrets(launch: Launch) -> Launch:
    """The launch with its secrets apart: variables lose them, and arguments have `{name}` where they stood."""
    given = {"{" + one.name + "}" for one in launch.secrets}
    secrets = list(launch.secrets)
    for secret in _find_in_variables(launch.variables):
        if not any(mark in launch.variables[secret.variable] for mark in given):
            secrets.append(_rename(secret, secrets))
    hidden = {one.variable for one in secrets if one.variable}
    variables = {name: value for name, value in launch.variables.items() if name not in hidden}
    arguments: list[str] = []
    for word in launch.arguments:
        is_given = any(mark in word for mark in given)
        written, found = (word, []) if is_given else _hide_in_word(word, arguments[-1] if arguments else "")
        found = [_rename(one, secrets) for one in found]
        secrets += found
        arguments.append(written.format_map(_Names(found)) if found else word)
    notes = [_describe(one) for one in secrets[len(launch.secrets) :]]
    changed = launch._replace(variables=variables, arguments=tuple(arguments), secrets=tuple(secrets))
    return changed.add_notes(*notes)


def extract_remote_secrets(remote: Remote) -> Remote:
    """The server at an address with its secrets apart: those of headers, of the address's query and its login."""
    given = {"{" + one.name + "}" for one in remote.secrets}
    secrets = list(remote.secrets)

    def hide(text: str, hidden: tuple[str, list[Secret]]) -> str:
        if any(mark in text for mark in given) or not hidden[1]:
            return text
        found = [_rename(one, secrets) for one in hidden[1]]
        secrets.extend(found)
        return hidden[0].format_map(_Names(found))

    url = hide(remote.url, _hide_in_address(remote.url))
    headers = {name: hide(text, _hide_in_header(name, text)) for name, text in remote.headers.items()}
    notes = [_describe(one) for one in secrets[len(remote.secrets) :]]
    return remote._replace(url=url, headers=headers, secrets=tuple(secrets), notes=(*remote.notes, *notes))


def _hide_in_address(url: str) -> tuple[str, list[Secret]]:
    login = _USER.search(url)
    if login:
        head, tail = url[: login.start("user")], url[login.end("user") :]
        return f"{_escape(head)}{{s0}}{_escape(tail)}", [Secret("login", login["user"])]
    return _hide_part(url)


def _hide_in_header(name: str, text: str) -> tuple[str, list[Secret]]:
    if not may_hold_secret(name, text):
        return text, []
    bearer = _BEARER.fullmatch(text)
    head, value = (bearer["head"], bearer["value"]) if bearer else ("", text)
    return _escape(head) + "{s0}", [_make(name, value)]


class _Names(dict[str, str]):
    """Writes `{0}`, `{1}` in a word as the names of its secrets in braces."""

    def __init__(self, secrets: list[Secret]) -> None:
        super().__init__({f"s{number}": "{" + one.name + "}" for number, one in enumerate(secrets)})


def _find_in_variables(variables: Mapping[str, str]) -> Iterator[Secret]:
    for name, value in variables.items():
        if may_hold_secret(name, value):
            yield Secret(credential_name(name), "" if is_placeholder(value) else value, name)


def _hide_in_word(word: str, before: str) -> tuple[str, list[Secret]]:
    """A word as a template for `str.format_map`, and the secrets that it had. before: the word in front of it."""
    name, equals, value = word.partition("=")
    if equals and name.lstrip("-").replace("-", "_").isidentifier() and may_hold_secret(name, value):
        return f"{_escape(name)}={{s0}}", [_make(name, value)]
    if before.startswith("-") and "=" not in before and not word.startswith("-") and may_hold_secret(before, word):
        return "{s0}", [_make(before, word)]
    if equals and name.startswith("-"):
        written, found = _hide_in_word(value, name)
        return f"{_escape(name)}={written}" if found else word, found
    if _LOGIN.match(word):
        return "{s0}", [_make(before if before.startswith("-") else "url", word)]
    if _KNOWN.fullmatch(word):
        return "{s0}", [_make(before if before.startswith("-") else "token", word)]
    return _hide_part(word)


def _hide_part(word: str) -> tuple[str, list[Secret]]:
    """A header or an address of which a part is secret."""
    header = _HEADER.fullmatch(word)
    if header and _is_secret_name(header["name"]) and "//" not in word[: header.start("value") + 2]:
        bearer = _BEARER.fullmatch(word)
        at = bearer.start("value") if bearer else header.start("value")
        return _escape(word[:at]) + "{s0}", [_make(header["name"], word[at:])]
    query = _QUERY.search(word) if "://" in word else None
    if query:
        head, tail = word[: query.start("value")], word[query.end("value") :]
        return f"{_escape(head)}{{s0}}{_escape(tail)}", [_make(query["name"], query["value"])]
    return word, []


def _is_secret_name(name: str) -> bool:
    return _WORDS.search(name) is not None and not _SWITCHES.match(name)


def _make(name: str, value: str) -> Secret:
    return Secret(credential_name(name), "" if is_placeholder(value) else value)


def _rename(secret: Secret, others: list[Secret]) -> Secret:
    """The secret under a name that no other one has."""
    taken = {one.name for one in others}
    number, name = 2, secret.name
    while name in taken:
        name, number = f"{secret.name}_{number}", number + 1
    return secret._replace(name=name)


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _describe(secret: Secret) -> str:
    place = f"the variable {secret.variable}" if secret.variable else "an argument"
    return f"The value of {place} looks like a secret: it becomes the credential {secret.name}."
