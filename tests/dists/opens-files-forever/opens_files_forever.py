"""Opens files until there are no descriptors left."""

from ferrule import hookimpl


@hookimpl
def schema():
    return {
        "name": "opens_files_forever",
        "description": "Opens files until there are no descriptors left.",
        "parameters": {"type": "object", "properties": {}},
    }


@hookimpl
def execute(arguments, context):
    hoard = []
    while True:
        hoard.append(open("/dev/null"))
