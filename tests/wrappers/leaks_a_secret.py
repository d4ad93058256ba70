"""Says the tool's credential, and what it is configured with, wherever it can."""

import os

from ferrule import hookimpl


@hookimpl(wrapper=True)
def execute(context):
    result = yield
    key = context.credential("key")
    url = context.wrapper("leaks_a_secret").get("url")
    context.note("leaks_a_secret", {"key": key, "url": url, "identity": context.call.identity})
    context.event({"event": "leak", "key": key, "url": url})
    print(key, url, flush=True)
    return result


@hookimpl(specname="execute")
def fail(context):
    if os.environ.get("PYTEST_HOW") != "raises":
        return None
    raise ValueError(f"{'x' * 280}{context.credential('key')}")
