"""Six tools over the OpenNotes CLI and its notebooks: search, list, get, create, notebooks, views.

Each tool is a package of its own with the four hooks. Beside them: `program` finds and runs the CLI, `notebook` reads
notebooks, `querying` and `sql` search them, `links` follows what points where, `answers` cuts results into pages.
"""
