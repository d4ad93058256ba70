"""Every error of ferrule, in one tree.

    FerruleError                     INTERNAL_ERROR
    ├── ToolError                    (its own)              a tool says what went wrong
    │   ├── CredentialMissing        AUTH_MISSING           a credential is not set
    │   └── PermissionDenied         PERMISSION_DENIED      a call wanted what its tool may not
    ├── InputError                   INVALID_INPUT          what came on stdin cannot be used
    │   ├── InputMalformed           INVALID_INPUT          it is not a JSON object
    │   └── ArgumentsInvalid         INVALID_INPUT          it does not fit the tool's schema
    ├── ToolFailed                   INTERNAL_ERROR         somebody else's code failed
    │   ├── ToolBroken               INTERNAL_ERROR         it cannot be loaded
    │   ├── ToolCrashed              INTERNAL_ERROR         it raised, exited or died
    │   │   └── WorkerLost           INTERNAL_ERROR         with the process that supervised it
    │   └── ResultInvalid            INTERNAL_ERROR         what it returned cannot be answered with
    │       └── ResultTooLarge       INTERNAL_ERROR         it is more than the client reads
    ├── ResultNotStored              RESULT_NOT_STORED      a result that is a file has no place to be
    ├── CallInterrupted              INTERNAL_ERROR         a signal asked the call to stop
    ├── DeadlinePassed               TIMEOUT                the call took too long
    ├── AnswerMissing                TIMEOUT                the host has not answered what a call asked of it
    ├── OutOfMemory                  OUT_OF_MEMORY          the call's processes used more memory than they may
    ├── WorkFailed                   INTERNAL_ERROR         work within limits passed one, or failed
    ├── ServerBusy                   INTERNAL_ERROR         a server has too many calls, or is stopping
    ├── ToolUnavailable              TOOL_UNAVAILABLE       no tool can answer under this name
    │   ├── ToolUnknown              TOOL_UNKNOWN           nothing installed has it
    │   ├── ToolNameClash            TOOL_NAME_CLASH        several distributions claim it
    │   ├── ToolDisabled             TOOL_DISABLED          the configuration switched it off
    │   ├── ToolDiffers              TOOL_LOCKED_OUT        it is not the one that ferrule.lock has
    │   └── PermissionsHeld          PERMISSION_DENIED      it asks for more than the admin has accepted
    ├── WrapperUnusable              INTERNAL_ERROR         a wrapper cannot be loaded; calls go on without it
    ├── SchemaInvalid                SCHEMA_INVALID         the schema breaks a rule of the client
    ├── ConfigurationMalformed       CONFIG_MALFORMED       config.toml cannot be read
    ├── ProxyUnusable                PROXY_UNUSABLE         the environment names a proxy that no tool can be given
    ├── LockUnusable                 LOCK_UNUSABLE          ferrule.lock is missing, or cannot be read or written
    ├── CredentialsMalformed         CREDENTIALS_MALFORMED  credentials.json cannot be read or trusted
    ├── PackageRefused               PACKAGE_REFUSED        a package is not installed, and none of its code ran
    ├── LinkError                    INTERNAL_ERROR         an executable cannot be written or removed
    ├── SourceError                  INTERNAL_ERROR         tools of a source cannot be installed
    └── ServeError                   INTERNAL_ERROR         `ferrule serve` cannot serve, or must not

`code` is what the model reads, `exit_code` is what a shell sees.
"""

from __future__ import annotations

WAIT_DETAIL = "retryAfterSeconds"  # in a failure's details: when the same call may succeed
_MAX_NAME_CHARACTERS = 100  # of a name that is none

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Required, TypedDict

    from ferrule.text.json_types import JSONMapping, JSONObject

    class ErrorFacts(TypedDict, total=False):
        """An error as JSON, with the keys that are known of it."""

        code: Required[str]
        message: Required[str]
        hint: str
        admin: str
        details: JSONObject
        retry_after: float
        event: JSONObject


class FerruleError(Exception):
    """Anything that ferrule itself reports. `message` is one or more whole sentences for a user or a model.

    Args:
        hint: what to do next, as a sentence.
        admin: what an administrator can do about it, as a sentence; no model is shown it.
        details: more facts, as JSON.
        retry_after: seconds after which the same call may succeed.
        event: a JSON object that goes to stderr, such as `config_required`. traceback: of a defect of the host in
            another process.
    """

    code = "INTERNAL_ERROR"
    exit_code = 1
    traceback = b""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, object] | None = None,
        retry_after: float | None = None,
        event: Mapping[str, object] | None = None,
        admin: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.admin = admin
        self.details = details
        self.retry_after = retry_after
        self.event = event

    @property
    def fix(self) -> str | None:
        """What a person can do about it: `hint` and `admin`; None where nobody knows."""
        return " ".join(filter(None, (self.hint, self.admin))) or None

    def facts(self) -> ErrorFacts:
        """The error as JSON: `code`, `message`, and what is set of the others."""
        facts: ErrorFacts = {"code": self.code, "message": self.message}
        for name in ("hint", "admin", "details", "retry_after", "event"):
            value = getattr(self, name)
            if value is not None:
                facts[name] = value
        return facts


class ToolError(FerruleError):
    """What a tool raises when it cannot answer: a code of its own specification and a sentence that says why.

        raise ToolError("CITY_UNKNOWN", "There is no city named Olso.", hint="Check the spelling.")

    Args:
        code: in capitals, for programs.
        message, hint: sentences for the model, what is wrong and what to do about it.
        details: further facts, as JSON.
        retry_after: seconds after which a call may succeed.
        event: is sent to the process that runs the tool, as by `Context.event`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, object] | None = None,
        retry_after: float | None = None,
        event: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details=details, retry_after=retry_after, event=event)
        self.code = code

    @classmethod
    def from_facts(cls, facts: Mapping[str, object]) -> ToolError:
        """The error that another process has sent; facts that are not of their type are left out."""
        hint, admin, details, wait = (facts.get(name) for name in ("hint", "admin", "details", "retry_after"))
        error = cls(
            str(facts.get("code", "INTERNAL_ERROR")),
            str(facts.get("message", "The tool failed without a word.")),
            hint=hint if isinstance(hint, str) else None,
            details=details if isinstance(details, dict) else None,
            retry_after=wait if isinstance(wait, int | float) else None,
        )
        error.admin = admin if isinstance(admin, str) else None
        return error


class CredentialMissing(ToolError):
    """A credential that the tool needs is set nowhere."""


class PermissionDenied(ToolError):
    """A call wanted what its tool may not. `details["denied"]` has its `kind` and `what` it was.

    The kinds are read, write, connect, run, fork, signal and other.
    """

    code = "PERMISSION_DENIED"

    def __init__(
        self,
        message: str,
        *,
        author: str | None = None,
        admin: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        hint = " ".join(filter(None, (author, "The administrator decides about that.")))
        super().__init__(self.code, message, hint=hint, details=details)
        self.admin = admin


class InputError(FerruleError):
    """What came on stdin cannot be used."""

    code = "INVALID_INPUT"


class InputMalformed(InputError):
    """stdin did not hold one JSON object."""


class ArgumentsInvalid(InputError):
    """The arguments do not fit the tool's schema, or the tool's own `validate` refused them.

    findings: one sentence each, the argument's place first.
    """

    def __init__(self, findings: Sequence[str]) -> None:
        super().__init__("Invalid arguments: " + "; ".join(findings) + ".")
        self.findings = list(findings)


class ToolFailed(FerruleError):
    """The code of a plugin failed; the host is well."""


class ToolBroken(ToolFailed):
    """The plugin cannot be loaded: its import fails, it lacks hooks of a tool, or it requires another ferrule."""


class ToolCrashed(ToolFailed):
    """The plugin raised something that is no ToolError, exited, or was ended by a signal."""


class WorkerLost(ToolCrashed):
    """The process that supervised the call has ended. has_begun: whether the call had, too."""

    def __init__(self, message: str, *, has_begun: bool) -> None:
        super().__init__(message)
        self.has_begun = has_begun


class ResultInvalid(ToolFailed):
    """What the plugin returned cannot be written as JSON, or is larger than the client reads."""


class ResultTooLarge(ResultInvalid):
    """What the plugin returned is larger than the client reads."""


class ResultNotStored(FerruleError):
    """The tool returned an image, a sound or a file, and the store of artifacts does not take it."""

    code = "RESULT_NOT_STORED"


class CallInterrupted(FerruleError):
    """SIGTERM or SIGINT ended the call before the tool had answered."""


class DeadlinePassed(FerruleError):
    """The tool had not answered when the call's time was over."""

    code = "TIMEOUT"


class AnswerMissing(FerruleError):
    """The host has not answered what the process of a call asked of it, such as for a credential."""

    code = "TIMEOUT"

    def __init__(self, message: str = "The host has not answered what the tool's process asked.") -> None:
        super().__init__(message, hint="Ask again; where it happens often, the machine has too much to do.")


class OutOfMemory(FerruleError):
    """The processes of a call used more memory together than it may have. `details["memory_mib"]` is the limit."""

    code = "OUT_OF_MEMORY"


class WorkFailed(FerruleError):
    """What `ferrule.bounded` raises for work that gives no result.

    limit: the limit that the work passed, as the argument is called: `seconds`, `memory_mib`, `cpu_seconds` or
    `max_bytes`; None where the work raised something or its process died.
    """

    def __init__(self, message: str, *, limit: str | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class ServerBusy(FerruleError):
    """The call has not begun, and will not."""


class ToolUnavailable(FerruleError):
    """No tool can answer under this name."""

    code = "TOOL_UNAVAILABLE"


def no_tool_name(name: str, source: str = "") -> ToolUnavailable:
    """The error for an entry point whose name is none. source: the distribution that offers it."""
    offered = f", which {source} offers," if source else ""
    return ToolUnavailable(
        f"{name[:_MAX_NAME_CHARACTERS]!a}{offered} is no name of a tool.",
        hint="A name has ASCII letters, digits and underscores only. Uninstall what offers this one.",
    )


class ToolUnknown(ToolUnavailable):
    """No installed distribution offers the tool."""

    code = "TOOL_UNKNOWN"


class ToolNameClash(ToolUnavailable):
    """More than one distribution offers a tool of this name, so none of them gets it."""

    code = "TOOL_NAME_CLASH"


class ToolDisabled(ToolUnavailable):
    """The configuration or FERRULE_DISABLE switched the tool off."""

    code = "TOOL_DISABLED"


class ToolDiffers(ToolUnavailable):
    """Tools are locked, and this one is not as ferrule.lock has it, or not in it. The message says what differs."""

    code = "TOOL_LOCKED_OUT"


class PermissionsHeld(ToolUnavailable):
    """The tool asks for more than the admin has accepted, or for what this system cannot hold it to."""

    code = "PERMISSION_DENIED"


class WrapperUnusable(FerruleError):
    """A wrapper that is on cannot be loaded. No call fails for it; the message says why."""


class SchemaInvalid(FerruleError):
    """The tool's schema breaks a rule that the client or a provider enforces. `details["findings"]` says which."""

    code = "SCHEMA_INVALID"


class ConfigurationMalformed(FerruleError):
    """config.toml cannot be read; the message says file, line and column."""

    code = "CONFIG_MALFORMED"


class ProxyUnusable(FerruleError):
    """The environment names a proxy of a kind to which ferrule cannot stand in between. variable: which one does."""

    code = "PROXY_UNUSABLE"

    def __init__(self, variable: str, scheme: str) -> None:
        self.variable = variable
        super().__init__(
            f"The environment variable {variable} names a {scheme} proxy. Tools are given http and https proxies.",
            hint="The administrator decides about that.",
            admin=f"Name an http or https proxy in {variable}, as http://USER:PASSWORD@HOST:PORT, or unset it.",
        )


class LockUnusable(FerruleError):
    """ferrule.lock is missing, cannot be read or written, or a tool cannot be locked; the message says why."""

    code = "LOCK_UNUSABLE"


class CredentialsMalformed(FerruleError):
    """credentials.json cannot be read, or must not be trusted; the message says why and what to do."""

    code = "CREDENTIALS_MALFORMED"


class PackageRefused(FerruleError):
    """A package is not installed: it is no plugin, or would run its code in ferrule itself. None of it has run."""

    code = "PACKAGE_REFUSED"


class LinkError(FerruleError):
    """An executable cannot be written or removed; the message says why."""


class SourceError(FerruleError):
    """Tools of a source cannot be installed; the message says why."""


class ServeError(FerruleError):
    """`ferrule serve` cannot serve, or must not: a part is not installed, an address is taken, a token is missing."""


def failure_in(result: JSONMapping) -> JSONObject | None:
    """What a result says that is a failure in one of the families' shapes; None for one that is none."""
    if result.get("success") is not False and result.get("error") is not True:
        return None
    code = result.get("error_code") or result.get("code")
    message = result.get("error") if isinstance(result.get("error"), str) else result.get("message")
    wait = result.get("retry_after", result.get(WAIT_DETAIL))
    return {"code": code, "message": message, "retry_after": wait}
