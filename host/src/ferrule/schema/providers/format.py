"""What a form is: a shape, and what the provider makes of a schema in that shape."""

from __future__ import annotations

from ferrule.schema.rules.contract import contract_errors
from ferrule.schema.rules.recommendations import advice
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ferrule.text.json_types import JSONObject

    Shape = Callable[[JSONObject], JSONObject]
    Gather = Callable[[list[JSONObject]], list[JSONObject]]
    Judge = Callable[[JSONObject], Iterator["Loss"]]


class Loss:
    """One thing in a schema that a provider refuses, or does not hold a model to, in one form.

    Args:
        pointer: the JSON pointer (RFC 6901), from the top of the schema document, of what is concerned.
        message: a sentence that says what becomes of it.
        refused: True where the provider answers every request that has the tool in it with an error.
        rule: the id of the schema rule that warns of the same place; None where only this form is concerned.
    """

    __slots__ = ("message", "pointer", "refused", "rule")

    def __init__(self, pointer: str, message: str, refused: bool, rule: str | None = None) -> None:
        self.pointer = pointer
        self.message = message
        self.refused = refused
        self.rule = rule

    def as_dict(self) -> JSONObject:
        """The loss as a JSON object."""
        return {"pointer": self.pointer, "message": self.message, "refused": self.refused, "rule": self.rule}

    def __repr__(self) -> str:
        return f"Loss({self.pointer!r}, {self.message!r}, refused={self.refused})"


class ProviderFormat:
    """A provider's form of a tool.

    Args:
        name: as `ferrule schemas --for` has it.
        provider: what people call who reads it.
    """

    __slots__ = ("_gather", "_judge", "_shape", "name", "provider")

    def __init__(self, name: str, provider: str, shape: Shape, judge: Judge, gather: Gather = list) -> None:
        self.name = name
        self.provider = provider
        self._shape = shape
        self._judge = judge
        self._gather = gather

    def __call__(self, schema: object) -> JSONObject:
        """The schema in this form, as JSON that shares nothing with it. Raises ValueError where it breaks a rule."""
        return self._shape(read_schema(schema))

    def tools(self, schemas: Iterable[object]) -> list[JSONObject]:
        """The `tools` of a request with all of them, in their order. Raises ValueError as a call does."""
        return self._gather([self(schema) for schema in schemas])

    def losses(self, schema: object) -> tuple[Loss, ...]:
        """What the provider refuses or drops, in its order. Raises ValueError for a schema that breaks a rule."""
        document = read_schema(schema)
        told: dict[str, str] = {}
        for finding in advice(document):
            told.setdefault(finding.pointer, finding.id)
        found = tuple(self._judge(document))
        for loss in found:
            loss.rule = loss.rule or told.get(loss.pointer)
        return found

    def __repr__(self) -> str:
        return f"<ProviderFormat {self.name}>"


def read_schema(schema: object) -> JSONObject:
    """A copy that holds JSON alone: lists for tuples, and nothing that the schema's owner could change."""
    try:
        copy = strict_json.loads(strict_json.dumps(schema))
    except strict_json.Unrepresentable as error:
        raise ValueError(f"the schema cannot be written as JSON: {error}") from None
    findings = contract_errors(copy)
    if findings or not isinstance(copy, dict):
        finding = findings[0]
        place = finding.pointer or "its top"
        raise ValueError(f"the schema breaks the rule {finding.id} at {place}: {finding.message}")
    return copy
