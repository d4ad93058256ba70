"""Whether what a tool answers has the shape that it declares: held against its `result_schema` by jsonschema."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from ferrule.content import object_in
from ferrule.discovery import scan
from ferrule.plugin.declaration import read_declaration


def require_declared_shape(tool: str, result: Mapping[str, Any]) -> None:
    """Fail with each place of a result, of a call that succeeded, that is not as the tool declares it."""
    found = object_in(dict(result))
    wrong = [f"{error.json_path}: {error.message}" for error in _validator(tool).iter_errors(found)]
    assert wrong == [], f"{tool} answers what it does not declare"


@cache
def _validator(tool: str) -> Draft202012Validator:
    (installed,) = scan()[tool]
    schema = read_declaration(installed.value).result_schema
    assert schema is not None, f"{tool} declares no result_schema"
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
