"""A stand-in for the OpenNotes CLI, for machines on which the real one cannot be built.

It answers as `opennotes` v0.1.0 or as `jot` v0.2.0 does, by the name that it is started under, with their mistakes:
tests of the plugin are about those. Beside the launcher NAME, a file NAME.behaviour.json may make it worse:

    kind        "opennotes" or "jot": what it is, whatever its file is called
    record      a file; what it was started with is added to it, one JSON object a line
    sleep       seconds before it does anything
    stubborn    true: it ignores SIGTERM
    flood       {"stdout": bytes, "stderr": bytes}: written before the answer
    grandchild  {"seconds", "record"}: a process that it leaves behind holds both pipes open; the file gets its id
    exit        an exit code; it says nothing and ends with it
    stdout      what it prints instead of any answer
    offline     true: the extension of DuckDB that SQL needs cannot be had
    sql_seconds after which a query is too slow, instead of 30
    views       built-in views beside the real ones: {name: definition}

It is started hundreds of times by one run of the tests, so it imports what a command needs where the command needs it:
no typing, pathlib or subprocess, which would double what a start costs.
"""
