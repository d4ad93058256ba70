"""The plain form of a schema: no more than what libraries take that know a small part of JSON Schema."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.schema.providers.translation import Translation
    from ferrule.text.json_types import JSONObject


class PlainSchema:
    """A tool's schema as types by name, `properties`, `required`, `items`, `enum` of texts and `description` alone.

    What these cannot say is said in the descriptions. An object of anything is a text that holds JSON, an `enum` of
    numbers one of texts; so the arguments of a call have to be read.

    schema: as the tool prints it; it is not changed. form: the same in plain words, `{"name", "description",
    "parameters"}`. Raises ValueError where the schema breaks a rule of the format.
    """

    def __init__(self, schema: object) -> None:
        from ferrule.schema.providers.adaptation import adapt
        from ferrule.schema.providers.format import read_schema

        self.form: JSONObject
        self.translation: Translation
        self.form, self.translation, _ = adapt(read_schema(schema), "plain")

    def read(self, arguments: JSONObject) -> JSONObject:
        """Arguments that fit the form, as the tool takes them. They are not held against the schema yet.

        Raises ArgumentsInvalid where a text holds no JSON that should.
        """
        from ferrule.schema.providers.translation import translate

        return translate(arguments, self.translation)
