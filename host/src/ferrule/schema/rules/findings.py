"""What a rule reports. Imports nothing before a finding is made: this is on the path of `--schema`."""

from __future__ import annotations

ANTHROPIC, GEMINI, OPENAI = "Anthropic", "Gemini", "OpenAI"


class Finding:
    """One thing that is wrong with a schema.

    Args:
        id: the rule's id, a key of RULES.
        severity: "error" or "warning".
        pointer: the JSON pointer (RFC 6901), from the top of the schema document, of what has to change; where
            something is missing, of the place where it is missing.
        message: what is wrong, and what it costs.
        fix: what to do about it.
        refused_by: the providers that refuse every request with such a tool in it, as the client sends it.
    """

    __slots__ = ("fix", "id", "message", "pointer", "refused_by", "severity")

    def __init__(
        self,
        rule: str,
        pointer: str,
        message: str,
        fix: str,
        severity: str | None = None,
        refused_by: tuple[str, ...] = (),
    ) -> None:
        """Raise KeyError where RULES has no such rule; the severity is the rule's, unless one is given."""
        from ferrule.schema.rules.definitions import RULES

        self.id = rule
        self.severity = severity or RULES[rule][0]
        self.pointer = _encodable(pointer)
        self.message = _encodable(message)
        self.fix = _encodable(fix)
        self.refused_by = refused_by

    def as_dict(self) -> dict[str, str]:
        """The finding as a JSON object, all of whose values are text that UTF-8 can hold."""
        return {name: getattr(self, name) for name in ("id", "severity", "pointer", "message", "fix")}

    def __repr__(self) -> str:
        return f"Finding({self.id!r}, {self.pointer!r}, {self.message!r})"


def pointer_to(parent: str, *tokens: object) -> str:
    """The JSON pointer of a member of what `parent` points to, escaped as RFC 6901 says."""
    for token in tokens:
        parent += "/" + str(token).replace("~", "~0").replace("/", "~1")
    return parent


def format_value(value: object) -> str:
    """A value in a sentence: short scalars as JSON has them, everything else by its kind; never raises."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    for kind, name in ((dict, "an object"), (list | tuple, "an array"), (int | float, "a number")):
        if isinstance(value, kind):
            return name
    return f"a value of type {type(value).__name__}"


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
