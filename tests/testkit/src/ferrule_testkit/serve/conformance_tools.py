"""The tools that the conformance suite of the protocol wants a server to have, as far as they can be served."""

from typing import Any

from ferrule_testkit.machine import Machine

_SAYS = "return {'text': 'This is a simple text response for testing.'}"
_TELLS = """\
import time
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        context.event({"event": "note", "content": text})
        time.sleep(0.05)
    return {"text": "told"}
"""
_ADVANCES = """\
import time
    for progress in (0, 50, 100):
        context.event({"event": "progress", "progress": progress, "total": 100})
        time.sleep(0.05)
    return {"text": "done"}
"""
_CONTENT = """\
from ferrule import Audio, File, Image

IMAGE = Image(bytes.fromhex("89504e470d0a1a0a0000000d49484452"), "image/png")
SOUND = Audio(b"RIFF\\x24\\0\\0\\0WAVEfmt ", "audio/wav")
FILE = File(b"This is an embedded resource content.", "text/plain")
"""
_MIXED = "['Multiple content types test:', IMAGE, File(b'{\"test\":\"data\"}', 'application/json')]"
_FAILS = 'raise ToolError("ON_PURPOSE", "This tool intentionally returns an error for testing.")'
# Every keyword of JSON Schema that the suite looks for in the list of tools.
_DRAFT_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "description": "Where a person lives.",
            "properties": {
                "street": {"type": "string", "description": "A street."},
                "city": {"type": "string", "description": "A city."},
            },
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"type": "object", "$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
# One parameter that clients repeat in a header, on which a balancer can decide.
_IN_A_HEADER = {"region": {"type": "string", "description": "Where.", "x-mcp-header": "Region"}}


def install(machine: Machine) -> Machine:
    """Install all of them."""
    machine.uncover_the_host()
    machine.install("test_simple_text", properties={}, execute=_SAYS)
    machine.install("test_tool_with_logging", properties={}, execute=_TELLS)
    machine.install("test_logging_tool", properties={}, execute=_TELLS)
    machine.install("test_tool_with_progress", properties={}, execute=_ADVANCES)
    machine.install("test_error_handling", properties={}, execute=_FAILS)
    parts = {"image_content": "IMAGE", "audio_content": "SOUND", "embedded_resource": "FILE"}
    for name, part in {**parts, "multiple_content_types": _MIXED}.items():
        machine.install(f"test_{name}", properties={}, top=_CONTENT, execute=f"return {part}")
    machine.install("test_in_a_header", properties=_IN_A_HEADER)
    name = "json_schema_2020_12_tool"
    machine.install(name, schema={"name": name, "description": "Has a schema.", "parameters": _DRAFT_2020_12})
    return machine
