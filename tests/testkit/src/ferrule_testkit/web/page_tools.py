"""Tools for the page of `ferrule serve`: one with every kind of argument, one whose every text wants to be markup."""

from ferrule_testkit.machine import Machine

HOSTILE = (
    '"><script>document.title="owned"</script><img src=x onerror=document.title="owned">\u202e&lt;b&gt;\'--></textarea>'
)
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


def install(machine: Machine) -> Machine:
    """Install them, beside those that tests of the server have."""
    parameters = {"type": "object", "properties": _KINDS, "required": ["topic"]}
    kinds = {"name": "kinds", "description": "Finds what there is.\nIt looks everywhere.", "parameters": parameters}
    machine.install("kinds", schema=kinds)
    property_name = HOSTILE.replace("/", "")
    machine.install(
        "hostile",
        description=HOSTILE,
        properties={
            "text": {"type": "string", "description": HOSTILE, "default": HOSTILE, "pattern": HOSTILE},
            "choice": {"type": "string", "description": HOSTILE, "enum": [HOSTILE, "harmless"]},
        },
        execute=_TELLS,
    )
    machine.install("hostile_name", properties={property_name: {"type": "string", "description": "Odd."}})
    machine.install("hostile_error", top=f"raise ImportError({HOSTILE!r})", static=False)
    machine.install("hostile_failure", execute=f"raise ToolError('{'<b>CODE</b>'}', {HOSTILE!r})")
    machine.install("nothing", properties={})
    return machine
