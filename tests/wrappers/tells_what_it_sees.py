"""Notes what a wrapper can know of a call."""

from ferrule import hookimpl


@hookimpl(wrapper=True)
def execute(arguments, context):
    result = yield
    call = context.call
    names = ("tool", "distribution", "version", "schema", "schema_hash", "arguments", "identity", "untracked_variables")
    facts = {name: getattr(call, name) for name in names}
    given = {"given": arguments, "result": result, "results": call.result_policy.as_dict()}
    settings = {
        "table": dict(context.wrapper("tells_what_it_sees")),
        "colour": context.wrapper_setting("tells_what_it_sees", "colour", "PYTEST_COLOUR"),
    }
    context.note("tells_what_it_sees", {**facts, **given, **settings})
    return result
