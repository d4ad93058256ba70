"""A tool without a fault, on the standard library alone. A faulty tool changes one step of it.

The name of the tool is the name of its file. A failure is a document on stdout, and ends with 0.
"""

import json
import os
import sys

_MAX_INPUT_BYTES = 1 << 20
_NOT_MEANT = (None, "", [])  # what strict providers fill optional parameters with; 0 is one for `days`


class Forecast:
    """One run. Each method is a step: `main` takes `answer_schema`, or `read`, `answer` and `write`."""

    def __init__(self) -> None:
        self.name = os.path.basename(sys.argv[0]).removesuffix("-tool").replace("-", "_")

    def main(self) -> None:
        if sys.argv[1:] == ["--schema"]:
            self.answer_schema()
        else:
            self.write(self.render(self.answer(self.read())))

    # ---- the schema

    def answer_schema(self) -> None:
        self.write(json.dumps(self.schema()).encode() + b"\n")

    def schema(self) -> dict:
        return {"name": self.name, "description": self.describe(), "parameters": self.parameters()}

    def describe(self) -> str:
        return "Tells the weather of a city for some days. Use it for questions about the weather."

    def parameters(self) -> dict:
        return {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city, such as Oslo", "maxLength": 2000},
                "days": {"type": "integer", "description": "Days to look ahead", "minimum": 1, "maximum": 7},
                "unit": {"type": "string", "description": "Unit of temperatures", "enum": ["C", "F"]},
                "hours": {"type": "array", "description": "Hours of interest", "items": {"type": "integer"}},
            },
            "required": ["city"],
        }

    # ---- a call

    def read(self) -> bytes:
        return sys.stdin.buffer.read() if sys.stdin else b""

    def answer(self, data: bytes) -> dict:
        try:
            arguments = self.drop_unmeant(self.parse(data))
            self.check(arguments)
        except ValueError as error:
            return self.fail(str(error))
        return self.forecast(arguments)

    def parse(self, data: bytes) -> dict:
        if len(data) > _MAX_INPUT_BYTES:
            raise ValueError("The arguments have more than 1 MiB.")
        try:
            arguments = json.loads(data)
        except (ValueError, RecursionError):
            raise ValueError("The arguments are not JSON in UTF-8.") from None
        if not isinstance(arguments, dict):
            raise ValueError("The arguments are not an object.")
        return arguments

    def drop_unmeant(self, arguments: dict) -> dict:
        required = self.parameters().get("required", [])
        return {
            name: value
            for name, value in arguments.items()
            if name in required or not (value in _NOT_MEANT or (name == "days" and value == 0))
        }

    def check(self, arguments: dict) -> None:
        self.check_names(arguments)
        self.check_types(arguments)
        self.check_bounds(arguments)

    def check_names(self, arguments: dict) -> None:
        known = self.parameters()["properties"]
        if unknown := sorted(set(arguments) - set(known)):
            raise ValueError(f"The argument {unknown[0][:40]!a} is unknown.")
        if "city" in known and "city" not in arguments:
            raise ValueError("The argument 'city' is missing.")

    def check_types(self, arguments: dict) -> None:
        kinds = {"city": str, "days": int, "unit": str, "hours": list}
        for name, value in arguments.items():
            if not isinstance(value, kinds.get(name, object)) or isinstance(value, bool):
                raise ValueError(f"The argument {name!r} has the wrong type.")
        if any(not isinstance(hour, int) or isinstance(hour, bool) for hour in arguments.get("hours", [])):
            raise ValueError("An item of 'hours' is no integer.")

    def check_bounds(self, arguments: dict) -> None:
        if not 1 <= arguments.get("days", 1) <= 7:
            raise ValueError("The argument 'days' is not between 1 and 7.")
        if arguments.get("unit", "C") not in ("C", "F"):
            raise ValueError("The argument 'unit' is neither C nor F.")
        if len(arguments.get("city", "")) > 2000:
            raise ValueError("The argument 'city' has more than 2000 characters.")

    def forecast(self, arguments: dict) -> dict:
        temperatures = [12.5 + day for day in range(arguments.get("days", 3))]
        return {"success": True, "city": arguments.get("city", ""), "temperatures": temperatures}

    def fail(self, message: str, code: str = "INVALID_INPUT") -> dict:
        return {"success": False, "error": message, "error_code": code}

    def render(self, document: dict) -> bytes:
        return json.dumps(document).encode() + b"\n"

    def write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError as error:
            sys.exit(f"{self.name}: stdout takes no answer: {error.strerror}")
