"""Which provider a model is of: `PROVIDER/NAME`, of those that are installed and those that the settings describe.

[ask.providers.local]                     # --model local/llama-4
api = "openai-chat"                       # the provider whose API it speaks; this is the default
base_url = "http://localhost:8000/v1"
key = "LOCAL_API_KEY"                     # the variable of its key; left out where none is wanted

[ask.providers.azure]                     # --model azure/DEPLOYMENT
base_url = "https://RESOURCE.example/openai/deployments/{model}"  # {model} stands for the model's name
key = "AZURE_OPENAI_API_KEY"
key_header = "api-key"                    # the header that has the key and nothing else
api_version = "2024-10-21"                # goes into the query as api-version
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ferrule.errors import ConfigurationMalformed
from ferrule_ask.keys import register_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule_ask.models.provider import Provider

GROUP = "ferrule.models"
DEFAULT = "anthropic"
_CHAT = "openai-chat"


def split(model: str) -> tuple[str, str]:
    """The provider's name, empty without one, and the model's.

    >>> split("openrouter/vendor/model"), split("claude-sonnet-5-5")
    (('openrouter', 'vendor/model'), ('', 'claude-sonnet-5-5'))
    """
    before, slash, after = model.partition("/")
    return (before, after) if slash and before and after else ("", model)


def find(name: str, described: Mapping[str, Mapping[str, str]]) -> Provider | None:
    """The provider of a name; None for an unknown one.

    Args:
        described: by name, what the settings say of one.

    Raises:
        ConfigurationMalformed where the settings describe it by an API that is not installed, or it cannot be loaded.
    """
    if name in described:
        return _make_described(name, described[name])
    return _load(name)


def list_names(described: Mapping[str, Mapping[str, str]]) -> list[str]:
    """All providers that there are."""
    from importlib.metadata import entry_points

    return sorted({DEFAULT, *described, *(point.name for point in entry_points(group=GROUP))})


@lru_cache(maxsize=64)
def _load(name: str) -> Provider | None:
    if name == DEFAULT:  # which is asked most, without looking at what else is installed
        from ferrule_ask.models.anthropic import ANTHROPIC

        return ANTHROPIC
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        try:
            provider: Provider = point.load()
        except Exception as error:  # noqa: BLE001 - a third party's module
            sentence = f"The provider {name} of {point.value} cannot be loaded ({type(error).__name__}: {error})."
            hint = "Install its distribution anew, or name another model."
            raise ConfigurationMalformed(sentence, hint=hint) from None
        if provider.key is not None:
            register_key(provider.key)
        return provider
    return None


def _make_described(name: str, facts: Mapping[str, str]) -> Provider:
    from ferrule_ask.models.described import Described

    api = facts.get("api", _CHAT)
    spoken = _load(api)
    if spoken is None:
        known = ", ".join(list_names({}))
        sentence = f"In [ask.providers.{name}], api is {api!r}, which no installed provider has."
        raise ConfigurationMalformed(sentence, hint=f"Name one of these: {known}.")
    return Described(name, spoken, facts)
