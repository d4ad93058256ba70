"""What a server's words say of a refusal by the kernel."""

import socket

import pytest

from ferrule import ToolError
from ferrule_mcp.refusals import raise_with_refusal

PATHS = {
    "Error: EACCES: permission denied, open '/srv/a b.db'": "/srv/a b.db",
    "EPERM: operation not permitted, mkdir '/opt/x'": "/opt/x",
    "[Errno 13] Permission denied: '/etc/shadow'": "/etc/shadow",
    "[Errno 1] Operation not permitted: '/proc/1/mem'": "/proc/1/mem",
    "cat: /etc/shadow: Permission denied": None,
    "EACCES: permission denied, connect": None,
    "Permission was denied by the owner of the repository": None,
    "ENOENT: no such file or directory, open '/srv/b'": None,
}
NETWORK = [
    "getaddrinfo EAI_AGAIN api.example.com",
    "TypeError: fetch failed",
    "connect EACCES 203.0.113.7:443",
    "[Errno -3] Temporary failure in name resolution",
    "httpx.ConnectError: All connection attempts failed",
    "HTTPSConnectionPool(host='x'): Max retries exceeded with url: /",
]


def cause(text: str) -> BaseException | None:
    error = ToolError("TOOL_ERROR", text)
    with pytest.raises(ToolError) as caught:
        raise_with_refusal(error)
    assert caught.value is error
    return caught.value.__cause__


@pytest.mark.parametrize("text", PATHS)
def test_a_path_is_found(text: str) -> None:
    found = cause(text)
    expected = PATHS[text]
    assert (getattr(found, "filename", None) if isinstance(found, PermissionError) else None) == expected


@pytest.mark.parametrize("text", NETWORK)
def test_a_network_that_is_not_there_is_found(text: str) -> None:
    assert isinstance(cause(text), socket.gaierror)


@pytest.mark.parametrize("text", ["", "No such zone", "The fetch of your dog failed", "404 Not Found"])
def test_other_words_are_no_refusal(text: str) -> None:
    assert cause(text) is None


def test_long_words_are_read_in_one_pass() -> None:
    assert cause("Permission denied " * 20_000) is None
