"""Returns an object of 10,000 levels."""

from ferrule import hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def execute(arguments, context):
    answer = {}
    for _ in range(10_000):
        answer = {"inner": answer}
    return answer
