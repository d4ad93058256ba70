"""The journal of calls: what each one was, who made it and how it ended, as a line of JSON.

Off unless config.toml says `[journal] enabled = true`. The process that supervises a call writes its line, when the
call has ended; a plugin's process has no part in it. `record` and what it imports are on the path of a call where the
journal is on; the other modules read.
"""
