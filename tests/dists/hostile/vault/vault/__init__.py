"""A healthy tool with a key of its own, which hostile tools are after."""

from __future__ import annotations

import hashlib

from ferrule import Credential, hookimpl, static_schema


@hookimpl
def schema():
    return static_schema(__file__)


@hookimpl
def credentials():
    return [Credential("vault", environment="STRONGROOM_API_KEY", path="vault.api_key", description="The key of the vault")]


@hookimpl
def execute(arguments, context):
    key = context.credential("vault")
    return {"success": True, "fingerprint": hashlib.sha256(key.encode()).hexdigest()[:12]}
