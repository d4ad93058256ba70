"""What a tool is given beside its arguments."""

from __future__ import annotations

import os
import time

from ferrule.errors import CredentialMissing, CredentialsMalformed
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ferrule.plugin.hooks.credential_values import CredentialValues
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.plugin.hooks.lasting_state import Lasting

ANSWER_BYTES = 65_534  # the client reads 65,535, and the newline is one of them


class Context:
    """One call, seen from inside the tool.

    Where wrappers are on, it is a `WrapperContext`, which has more for them.

    Args:
        tool: the tool's own name.
        deadline: the instant, on the clock of `time.monotonic()`, by which `execute` must have answered; two seconds
            later the call is ended for it.
        max_bytes: the size that the answer may have on the wire.
        lasting: what stays for the next call in this process; None where none follows.
    """

    __slots__ = (
        "_credentials", "_names", "_send_event", "_settings", "_values", "deadline", "lasting", "max_bytes", "tool",
    )  # fmt: skip

    def __init__(
        self,
        tool: str,
        deadline: float,
        *,
        credentials: Sequence[Credential] = (),
        names: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        send_event: Callable[[Mapping[str, object]], None] | None = None,
        max_bytes: int = ANSWER_BYTES,
        values: CredentialValues | None = None,
        lasting: Lasting | None = None,
    ) -> None:
        self.tool = tool
        self.deadline = deadline
        self.max_bytes = max_bytes
        self.lasting = lasting
        self._credentials = credentials
        self._names = names or {}
        self._settings = settings or {}
        self._send_event = send_event
        self._values = values

    def remaining(self) -> float:
        """Seconds that are left until the deadline, never negative."""
        return max(0.0, self.deadline - time.monotonic())

    def size(self, answer: object) -> int:
        """Bytes that an answer takes on the wire: compact JSON in UTF-8. Compare it with `max_bytes`.

        Raises ValueError where the answer cannot be written as JSON.
        """
        return len(strict_json.dumps(answer))

    def credential(self, name: str) -> str:
        """The value of a credential that the tool declared.

        Raises ToolError AUTH_MISSING where it is set nowhere or cannot be used, PERMISSION_DENIED where it is that of
        another distribution, and KeyError for a name that the tool's `credentials` hook does not list.
        """
        from ferrule.plugin.hooks.credentials import missing, named  # not above: a call without any loads no such file

        credential = named(self._credentials, name)
        values = self._credential_values()
        try:
            found = values.find(credential)
        except CredentialsMalformed as error:
            raise CredentialMissing("AUTH_MISSING", error.message, hint=error.hint) from None
        if found is None:
            raise missing(self.tool, credential, values.path, values.problem, name=self.name_of(self.tool))
        return found.value

    def renew_credential(self, name: str, refused: str) -> str:
        """The value of a credential after a server has refused it: a new one, where it is a token that can be renewed.

        The host renews it, once for all calls that ask: where another call has had it renewed, this is that value. A
        value that is no token stays what it is. refused: the value that the server has refused. Raises ToolError
        AUTH_INVALID where the login is no longer valid, NETWORK_ERROR and TIMEOUT where it cannot be renewed now, and
        what `credential` raises.
        """
        from ferrule.plugin.hooks.credentials import named

        self._credential_values().renew(self.tool, named(self._credentials, name), refused)
        return self.credential(name)

    def setting(self, name: str, environment: str) -> Any:
        """What the admin decided for the tool: text from the variable `environment`, else `name` of its table.

        The table is `[tools.NAME]` of config.toml, and gives whatever TOML has there. A variable that is empty or
        blank counts as not set. None where neither is set. No argument of a call can change it.
        """
        return os.environ.get(environment, "").strip() or self._settings.get(name)

    def identity(self, environment: Sequence[str] = (), *, locale: bool = True) -> dict[str, Any]:
        """What decides a result beside the arguments, without secrets, as `context.call.identity` has it.

        environment: variables that count beside those of ferrule and of the locale. locale: False leaves the latter
        out.
        """
        from ferrule.plugin import cache_identity

        own = {credential.environment for credential in self._credentials}
        found = cache_identity.environment(os.environ, environment, locale=locale)
        values = self._credential_values()
        return {
            "settings": cache_identity.settings(self._settings),
            "environment": {name: value for name, value in found.items() if name not in own},
            "credentials": {one.name: values.fingerprint(one) for one in self._credentials},
            "names": dict(self._names),
        }

    def event(self, event: Mapping[str, object]) -> None:
        """Send one event to the process that runs the tool: a JSON object, which becomes one line on stderr.

        A `config_required` event is shown to the person at the terminal, and then is all that stderr holds.
        """
        if self._send_event:
            self._send_event(event)

    def name_of(self, tool: str) -> str:
        """The name under which the client knows a tool, which `ferrule link --as` or `--prefix` may have changed."""
        return self._names.get(tool, tool)

    def secrets(self) -> list[str]:
        """The values of the tool's secret credentials, wherever one is set. The host keeps them out of every output."""
        return self._credential_values().secrets(self._credentials)

    def _credential_values(self) -> CredentialValues:
        if self._values is None:
            from ferrule.plugin.hooks.credential_values import LocalValues

            self._values = LocalValues()
        return self._values
