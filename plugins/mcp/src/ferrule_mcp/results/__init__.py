"""What a server answers to a call, as the result or the error of a tool of ferrule.

- `conversion.read_result`: the result of `tools/call`, as what `execute` returns.
- `errors.explain_refusal`: an error of JSON-RPC, as the error of a tool.
- `events.EventRelay`: what a server says while it works, as events.
"""
