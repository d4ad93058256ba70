"""Tools for the page of `ferrule serve`: one with every kind of argument, one whose every text wants to be markup."""

from ferrule_testkit.machine import Machine

HOSTILE = (
    '"><script>document.title="owned"</script><img src=x onerror=document.title="owned">\u202e&lt;b&gt;\'--></textarea>'
)
_DECLARED = HOSTILE.replace("\u202e", "")  # with characters that nobody sees, a tool would not be served
_KINDS: dict[str, object] = {
    "topic": {"type": "string", "description": "What to look for."},
    "language": {"type": "string", "description": "Of the answers.", "enum": ["de", "en"]},
    "count": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 20, "default": 5},
    "share": {"type": "number", "description": "A part of them."},
    "deep": {"type": "boolean", "description": "Whether to look twice."},
    "code": {"type": "string", "description": "A short one.", "maxLength": 8},
    "places": {"type": "array", "items": {"type": "string"}, "description": "Where to look."},
}
_RETURNS = f"return {{'got': arguments, {HOSTILE!r}: [{HOSTILE!r}]}}"
_TELLS = f"context.event({{'kind': 'note', 'content': {HOSTILE!r}}}); print({HOSTILE!r}); {_RETURNS}"
_STAGES = """\
import os, time
    context.event({"event": "progress", "progress": 1, "total": 4, "message": "begun"})
    context.event({"event": "note", "content": "the first <b>"})
    while not os.path.exists(arguments["mark"]):
        time.sleep(0.02)
    return {"staged": True}
"""
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001"
    "a5f645400000000049454e44ae426082"
)
"""A PNG of one pixel."""
_DRAWS = """\
from ferrule import Audio, File, Image
    return ["Two pictures", {"sum": 12}, Image(bytes.fromhex("%s"), name="may.png"),
            Image(b"<svg xmlns='http://www.w3.org/2000/svg' onload='document.title=1'/>", "image/svg+xml"),
            Audio(b"RIFF\\0\\0\\0\\0WAVEfmt " + bytes(64)),
            File(b"<script>document.title='owned'</script>", "text/html", name="page.html"), File(bytes(600_000))]
"""


def install(machine: Machine) -> Machine:
    """Install them, beside those that tests of the server have."""
    parameters = {"type": "object", "properties": _KINDS, "required": ["topic"]}
    kinds = {"name": "kinds", "description": "Finds what there is.\nIt looks everywhere.", "parameters": parameters}
    machine.install("kinds", schema=kinds)
    property_name = _DECLARED.replace("/", "")
    machine.install(
        "hostile",
        description=_DECLARED,
        properties={
            "text": {"type": "string", "description": _DECLARED, "default": _DECLARED, "pattern": _DECLARED},
            "choice": {"type": "string", "description": _DECLARED, "enum": [_DECLARED, "harmless"]},
        },
        execute=_TELLS,
    )
    machine.install("hostile_name", properties={property_name: {"type": "string", "description": "Odd."}})
    machine.install("hostile_error", top=f"raise ImportError({HOSTILE!r})", static=False)
    machine.install("hostile_failure", execute=f"raise ToolError('{'<b>CODE</b>'}', {HOSTILE!r})")
    machine.install("nothing", properties={})
    machine.install("stages", execute=_STAGES, properties={"mark": {"type": "string", "description": "A path."}})
    machine.install("draws", execute=_DRAWS % PICTURE.hex())
    return machine
