"""Which certificates are trusted."""

from __future__ import annotations

import os
import re
import ssl

from ferrule.errors import ToolError

# OpenSSL's own, and where Linux has it, which an interpreter that brings its own OpenSSL does not know.
SYSTEM_FOLDERS = [ssl.get_default_verify_paths().openssl_capath, "/etc/ssl/certs"]

_HASHED = r"[0-9a-f]{8}\.\d+"


def tls_context() -> ssl.SSLContext:
    """A client's TLS context, which verifies certificates and host names.

    The authorities are those of SSL_CERT_FILE and SSL_CERT_DIR, else the system's, else certifi's.
    Raises ToolError NETWORK_ERROR where a variable names nothing that can be read.
    """
    file, folder = (os.environ.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    if not file and not folder:
        return _default_context()
    if folder and not any(map(os.path.isdir, folder.split(os.pathsep))):
        raise _unusable("SSL_CERT_DIR", folder, "is no folder")
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except OSError:  # ssl.SSLError is one
        raise _unusable("SSL_CERT_FILE", file, "holds no certificates that can be read") from None


def _default_context() -> ssl.SSLContext:
    # A folder of hashed names is read one file at a time, as it is needed. A bundle is parsed as a whole, for
    # longer than a bare interpreter takes to start.
    for folder in SYSTEM_FOLDERS:
        if _is_hashed(folder):
            return ssl.create_default_context(capath=folder)
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _is_hashed(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(re.fullmatch(_HASHED, entry.name) for entry in entries)
    except OSError:
        return False


def _unusable(variable: str, value: str, what: str) -> ToolError:
    return ToolError(
        "NETWORK_ERROR",
        f"The environment variable {variable} names {value!r}, which {what}.",
        hint=f"Name a file or folder of trusted certificates, or unset {variable}.",
    )
