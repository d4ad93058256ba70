"""A program that links tools: `FOLDER NAMES TOOL…`, where NAMES are their other names as JSON.

It passes over those that no link can be made for. It imports nothing of the test kit, so that its text can be given to
another interpreter, which has the host alone.
"""

import json
import sys
import time


def main() -> None:
    """Link the tools that the command line names."""
    from ferrule import discovery
    from ferrule.config import configuration
    from ferrule.errors import FerruleError
    from ferrule.links import linked_executables
    from ferrule.plugin import computed_schema
    from ferrule.schema import schema_file

    folder, names, *tools = sys.argv[1:]
    for name in tools:
        try:
            tool = discovery.find(name, configuration.read())
            schema = schema_file.read_static(tool) or computed_schema.compute_schema(tool, time.monotonic() + 2)
        except FerruleError:
            continue
        linked_executables.write(linked_executables.Link(tool, schema, json.loads(names)), folder)


if __name__ == "__main__":
    main()
