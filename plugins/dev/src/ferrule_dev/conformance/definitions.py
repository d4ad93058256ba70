"""The table of all checks, in the order in which they are made: what holds where a check passes."""

from __future__ import annotations

from typing import NamedTuple


class Definition(NamedTuple):
    """One check: what it demands, and the worst that it can say.

    sentence: what holds where it passes. severity: `error`, or `warning` for a check that never fails.
    """

    sentence: str
    severity: str = "error"


CHECKS: dict[str, Definition] = {
    "schema-answers": Definition("`--schema` prints one JSON document and ends with exit code 0."),
    "schema-size": Definition("The printed schema has at most 8,191 bytes, its newline included."),
    "schema-name": Definition("The file's name ends in `-tool`, and the name in the schema is the file's."),
    "shadows-client-tool": Definition("The name is not one of a tool that the client has itself.", "warning"),
    "schema-rules": Definition("The schema keeps the rules of the format; what only costs something is a warning."),
    "stdin-held-open": Definition("`--schema` does not wait for the end of stdin."),
    "schema-deterministic": Definition("`--schema` prints the same bytes each time, in any folder and any language."),
    "schema-imports": Definition("`--schema` of a Python program imports few modules."),
    "schema-time": Definition("`--schema` takes less than the second after which the client ends; at best, one half."),
    "schema-agrees": Definition("The file with the schema of an installed tool agrees with its code."),
    "declaration": Definition("The `tool.json` of an installed tool can be read, and has no unknown keys."),
    "good-input": Definition("Arguments made from the schema are answered, or refused in the form of a failure."),
    "examples": Definition("The author's examples fit the schema and are answered."),
    "answer-form": Definition("stdout has exactly one JSON object and a newline, in UTF-8, strict JSON."),
    "answer-size": Definition("stdout has at most 65,535 bytes."),
    "stderr-quiet": Definition(
        "stderr has at most 65,535 bytes, so that it does not block a client that reads stdout."
    ),
    "result-schema": Definition("An answer fits the schema of results that the tool declares."),
    "missing-argument": Definition("A call without a required argument is refused."),
    "wrong-type": Definition("A required argument of another type is refused; no argument's type ends in a crash."),
    "extra-argument": Definition(
        "An argument that the schema does not have is no crash; it may be ignored or refused."
    ),
    "optional-filled": Definition('Optional arguments that are `null`, `""`, `[]` or an excluded `0` count as absent.'),
    "bounds": Definition("A value outside its `enum`, its bounds or its lengths is refused."),
    "not-json": Definition("What is not a JSON object on stdin is refused."),
    "not-utf8": Definition("Bytes on stdin that are not UTF-8 end in an answer or a failure."),
    "unusual-text": Definition(
        "Text beyond ASCII, also under LC_ALL=C, or with a NUL, ends in an answer or a failure."
    ),
    "huge-input": Definition("An input of more than 1 MiB ends in an answer or a failure."),
    "deep-input": Definition("An input of 100,000 levels ends in an answer or a failure."),
    "stdin-closed": Definition("A call without stdin ends, in a failure where it needs arguments."),
    "stdout-closed": Definition("A call whose stdout has no reader ends."),
    "sigterm": Definition("SIGTERM to the process group ends a call, and leaves nothing behind."),
    "no-home": Definition("A call without HOME, and with a HOME that is not there, ends in an answer or a failure."),
    "locale": Definition("Under a locale with a decimal comma the answer is still JSON, with as many numbers."),
    "full-disk": Definition("On a full disk a call fails in form, and does not say that it has written something."),
    "no-network": Definition("Without a network a call ends, in an answer or a failure."),
    "parallel": Definition("Calls at the same time are answered as one call is."),
    "credentials-hidden": Definition("No output shows the value of a credential, also when its form is wrong."),
    "exit-code": Definition("An answer ends with exit code 0; a failure does, or says on stderr what is wrong."),
    "leftover-processes": Definition("When a call has ended, no process of it is left."),
    "permissions": Definition("No call is denied anything: the tool declares all that it touches."),
}
"""Each check by its id."""
