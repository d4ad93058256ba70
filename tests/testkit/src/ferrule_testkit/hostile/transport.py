"""Answers that break HTTP, never end, or lead nowhere."""

import socket
import struct
from collections.abc import Callable

from ferrule_dev.testing import Exchange
from ferrule_testkit.hostile.case import NEEDLE, NETWORK, PARSE, STATUS, URL, Case, body, page, raw

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = NEEDLE.encode()
LENGTH = b"Content-Length: %d\r\n\r\n" % len(PAGE)
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
TRAP = 1.6  # seconds that a case waits for the deadline
INVALID, TIMEOUT, REST = "not valid HTTP", "Connection timeout", "The page goes on"
LATE = "the rest had not come in the time there was"


def flood(data: bytes) -> Callable[[Exchange], None]:
    """Send the same bytes for ever, as fast as they are taken."""

    def answer(exchange: Exchange) -> None:
        while not exchange.server.closing.is_set():
            exchange.send(data)

    return answer


def drip(data: bytes) -> Callable[[Exchange], None]:
    """Send the same bytes for ever, one now and then."""
    return lambda exchange: exchange.drip(data)


def reset(exchange: Exchange) -> None:
    """End the connection with a reset."""
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.connection.close()


def late(name: str, *pieces: bytes, then: Callable[[Exchange], object]) -> Case:
    """An answer that never ends, of which there is what has come."""
    return raw(name, *pieces, says=LATE, seconds=TRAP, then=then)


def trapped(name: str, *pieces: bytes, then: Callable[[Exchange], object], says: str = TIMEOUT) -> Case:
    """An answer that never ends, which the deadline has to end."""
    return raw(name, *pieces, code=NETWORK, says=says, seconds=TRAP, then=then)


def redirect(name: str, target: str, *, code: str = URL, says: str = "", status: int = 302) -> Case:
    """A redirect to somewhere."""
    head = b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, target.encode())
    return raw(name, head, code=code, says=says)


def onward(name: str, target: Callable[[int], str], *, code: str, says: str, seconds: float | None = None) -> Case:
    """Redirects, each of which is given the number of the request, which its own query has."""

    def answer(exchange: Exchange) -> None:
        number = int(exchange.path.rpartition("?")[2] or 0) if "?" in exchange.path else 0
        if seconds:
            exchange.server.closing.wait(seconds / 4)
        path = exchange.path.partition("?")[0]
        exchange.answer(PAGE, status=302, headers={"Location": target(number).replace("HERE", path)})

    return Case(name, answer, code, (says,), seconds=seconds)


STATUS_LINES = [
    raw("closes the connection at once", code=NETWORK, says="Connection closed before an answer came"),
    raw("resets the connection at once", code=NETWORK, then=reset),
    raw("ends in the middle of the status line", b"HTTP/1.1 20", code=NETWORK),
    raw("is a bare body, as in HTTP 0.9", b"<p>" + PAGE, code=NETWORK),
    raw("is binary garbage", bytes(range(256)) * 40, code=NETWORK, says=INVALID),
    raw("is the greeting of another protocol", b"220 mail.example ESMTP\r\n", code=NETWORK),
    raw("is an alert of TLS", b"\x15\x03\x01\x00\x02\x02\x0a", code=NETWORK),
    raw("has a status of two digits", b"HTTP/1.1 20 OK\r\n\r\n", code=NETWORK, says=INVALID),
    raw("has a status of four digits", b"HTTP/1.1 2000 OK\r\n\r\n", code=NETWORK, says=INVALID),
    raw("has a status of letters", b"HTTP/1.1 abc OK\r\n\r\n", code=NETWORK, says=INVALID),
    raw("has a negative status", b"HTTP/1.1 -20 OK\r\n\r\n", code=NETWORK, says=INVALID),
    raw("has no reason phrase", b"HTTP/1.1 200\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("has a reason phrase of 50 kB", b"HTTP/1.1 200 " + b"x" * 50_000 + b"\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("is HTTP 1.0 without a length", b"HTTP/1.0 200 OK\r\n\r\n<p>" + PAGE, says=NEEDLE),
    raw("says it is HTTP 2", b"HTTP/2 200 OK\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("says it is HTTP 9.9", b"HTTP/9.9 200 OK\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw(
        "ends its lines with line feeds alone", OK.replace(b"\r", b"") + LENGTH.replace(b"\r", b"") + PAGE, says=NEEDLE
    ),
    raw("has 100 Continue before it", b"HTTP/1.1 100 Continue\r\n\r\n" + OK + LENGTH + PAGE, says=NEEDLE),
    raw("has early hints before it", b"HTTP/1.1 103 Hints\r\nLink: <x>\r\n\r\n" * 9 + OK + LENGTH + PAGE, says=NEEDLE),
    raw("switches to another protocol", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n" + PAGE, code=NETWORK),
    raw("comes twice", (OK + LENGTH + PAGE) * 2, says=NEEDLE),
    trapped("sends 1xx answers for ever, fast", then=flood(b"HTTP/1.1 100 Continue\r\n\r\n")),
    trapped("sends 1xx answers for ever, slowly", then=drip(b"HTTP/1.1 102 Processing\r\n\r\n")),
    trapped("sends no byte at all", then=Exchange.hang),
    trapped("drips its status line", then=drip(b"H")),
    trapped("hangs after its status line", b"HTTP/1.1 200 OK\r\n", then=Exchange.hang),
]

HEADERS = [
    raw("has 1,000 headers", OK + b"X-Name: value\r\n" * 1_000 + LENGTH + PAGE, says=NEEDLE),
    raw("has 100,000 headers", OK + b"X-Name: value\r\n" * 100_000 + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has a header of 1 MB", OK + b"X-Long: " + b"x" * 1_000_000 + b"\r\n" + LENGTH, code=NETWORK, says=INVALID),
    raw("has a header name of 1 MB", OK + b"x" * 1_000_000 + b": y\r\n" + LENGTH, code=NETWORK, says=INVALID),
    raw("sends headers for ever, fast", OK, code=NETWORK, says=INVALID, then=flood(b"X-Name: value\r\n" * 1_000)),
    raw("never ends a header, fast", OK + b"X: ", code=NETWORK, says=INVALID, then=flood(b"x" * 65_536)),
    trapped("drips headers for ever", OK, then=drip(b"X-Name: value\r\n")),
    trapped("hangs in a header", OK + b"X-Na", then=Exchange.hang),
    raw("has a header without a colon", OK + b"nonsense\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has a header without a name", OK + b": value\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has a blank in a header name", OK + b"X Name: y\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has a null character in a header", OK + b"X-Name: a\0b\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has bytes above 127 in a header", OK + b"X-Name: \xff\xfe\xe4\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("folds a header over two lines", OK + b"X-Name: a\r\n b\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("begins its headers with a blank", b"HTTP/1.1 200 OK\r\n X: y\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has an empty Content-Type", b"HTTP/1.1 200 OK\r\nContent-Type:\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw(
        "has a Content-Type of signs alone", b"HTTP/1.1 200 OK\r\nContent-Type: ;/,;=\r\n" + LENGTH + PAGE, says=NEEDLE
    ),
    raw("has a Content-Type of 60 kB", OK[:-2] + b"; x=" + b"y" * 60_000 + b"\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("has 500 Content-Types", OK + b"Content-Type: text/html\r\n" * 500 + LENGTH + PAGE, says=NEEDLE),
    raw("sets 1,000 cookies", OK + b"Set-Cookie: a=b; Path=/\r\n" * 1_000 + LENGTH + PAGE, says=NEEDLE),
    raw("sets a cookie of 60 kB", OK + b"Set-Cookie: a=" + b"b" * 60_000 + b"\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("sets malformed cookies", OK + b"Set-Cookie: =;;=;\xff\r\nSet-Cookie:\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw(
        "sets a cookie that ends in the year 10^12",
        OK + b"Set-Cookie: a=b; Max-Age=" + b"9" * 40 + b"\r\n" + LENGTH + PAGE,
        says=NEEDLE,
    ),
    raw(
        "sets a cookie with an impossible date",
        OK + b"Set-Cookie: a=b; expires=Thu, 99-Foo-0000 99:99:99\r\n" + LENGTH + PAGE,
        says=NEEDLE,
    ),
]

LENGTHS = [
    raw("says its length twice", OK + LENGTH[:-2] + LENGTH + PAGE, says=NEEDLE),
    raw("says two lengths", OK + b"Content-Length: 5\r\n" + LENGTH + PAGE, code=NETWORK, says=INVALID),
    raw("has a negative length", OK + b"Content-Length: -1\r\n\r\n" + PAGE, code=NETWORK, says=INVALID),
    raw("has a length that is no number", OK + b"Content-Length: many\r\n\r\n" + PAGE, code=NETWORK, says=INVALID),
    raw("has a length with a plus sign", OK + b"Content-Length: +9\r\n\r\n" + PAGE, code=NETWORK, says=INVALID),
    raw("has a length of 10^30", OK + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n" + PAGE, code=NETWORK).in_process(),
    raw("has a length of 5,000 digits", OK + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n" + PAGE, code=NETWORK),
    raw("is shorter than it says", OK + b"Content-Length: 999\r\n\r\n" + PAGE, says=(NEEDLE, REST)),
    raw("is longer than it says", OK + LENGTH + PAGE + b"more" * 9, says=NEEDLE),
    raw("has no length and closes", OK + b"\r\n" + PAGE, says=NEEDLE),
    late("is shorter than it says, and hangs", OK + b"Content-Length: 999\r\n\r\n" + PAGE, then=Exchange.hang),
    trapped("hangs before its body", OK + LENGTH, then=Exchange.hang),
    late("drips its body for ever", OK + b"\r\n", then=drip(PAGE)),
    raw("is reset in its body", OK + b"Content-Length: 999\r\n\r\n" + PAGE, says=(NEEDLE, REST), then=reset),
    raw(
        "never ends, as text",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + PAGE + b"\n",
        says=NEEDLE,
        then=flood(b"more and more\n" * 4_000),
    ),
    raw("never ends, as HTML", OK + b"\r\n<p>" + PAGE, says=NEEDLE, then=flood(b"<p>more and more" * 4_000)),
    raw("never ends, as null characters", OK + b"\r\n<p>" + PAGE, says=NEEDLE, then=flood(bytes(65_536))),
    raw("never ends, of no known type", b"HTTP/1.1 200 OK\r\n\r\n", code=PARSE, then=flood(bytes(65_536))),
]

CHUNKS = [
    raw("has a chunk size that is no number", CHUNKED + b"xyz\r\n" + PAGE, code=NETWORK, says=INVALID),
    raw("has a negative chunk size", CHUNKED + b"-5\r\n" + PAGE, code=NETWORK, says=INVALID),
    raw("has a chunk size of 2^64", CHUNKED + b"1" + b"0" * 16 + b"\r\n" + PAGE, says=(NEEDLE, REST)).in_process(),
    raw(
        "has a chunk size of 100 digits", CHUNKED + b"F" * 100 + b"\r\n" + PAGE, code=NETWORK, says=INVALID
    ).in_process(),
    raw("has a chunk extension of 1 MB", CHUNKED + b"3;" + b"x" * 1_000_000 + b"\r\nabc\r\n0\r\n\r\n", code=NETWORK),
    raw("has a chunk extension without end", CHUNKED + b"3;", code=NETWORK, then=flood(b"x" * 65_536)),
    raw("has chunk extensions", CHUNKED + b"%x;a=b;c\r\n%s\r\n0;d\r\n\r\n" % (len(PAGE), PAGE), says=NEEDLE),
    raw(
        "has chunks of one byte",
        CHUNKED + b"".join(b"1\r\n%c\r\n" % byte for byte in PAGE * 2_000) + b"0\r\n\r\n",
        says=NEEDLE,
    ),
    raw("has no last chunk", CHUNKED + b"%x\r\n%s\r\n" % (len(PAGE), PAGE), says=(NEEDLE, REST)),
    raw("ends within a chunk", CHUNKED + b"ff\r\n" + PAGE, says=(NEEDLE, REST)),
    raw("has no line break after a chunk", CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n", code=NETWORK, says=INVALID),
    raw("has trailers", CHUNKED + b"%x\r\n%s\r\n0\r\nX-Trailer: y\r\n\r\n" % (len(PAGE), PAGE), says=NEEDLE),
    raw(
        "has trailers for ever",
        CHUNKED + b"%x\r\n%s\r\n0\r\n" % (len(PAGE), PAGE),
        code=NETWORK,
        then=flood(b"X-Name: value\r\n" * 1_000),
    ),
    raw(
        "is chunked and has a length", CHUNKED[:-2] + LENGTH + b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE), says=NEEDLE
    ),
    raw(
        "has a transfer encoding that nobody knows",
        OK + b"Transfer-Encoding: rot13\r\n\r\n" + PAGE,
        code=NETWORK,
        says=INVALID,
    ),
    raw(
        "is compressed as a transfer",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + PAGE,
        code=NETWORK,
        says=INVALID,
    ),
    trapped("drips its chunk size for ever", CHUNKED, then=drip(b"0")),
    late("drips chunks for ever", CHUNKED, then=drip(b"1\r\nx\r\n")),
    raw(
        "sends chunks for ever, fast", CHUNKED, says="needle", then=flood(b"fff\r\n<p>needle" + b" " * 4_086 + b"\r\n")
    ),
]

REDIRECTS = [
    onward("redirects to itself", lambda number: "HERE", code=NETWORK, says="More than 10 redirects"),
    onward("redirects further and further", lambda number: f"HERE?{number + 1}", code=NETWORK, says="More than 10"),
    onward(
        "redirects slowly, further and further",
        lambda number: f"HERE?{number + 1}",
        code=NETWORK,
        says=TIMEOUT,
        seconds=TRAP,
    ),
    onward(
        "redirects to ever longer addresses",
        lambda number: "HERE?1" + "0" * 900 * (number > 0),
        code=NETWORK,
        says="More than 10",
    ),
    redirect("redirects to a file", "file:///etc/passwd"),
    redirect("redirects to ftp", "ftp://127.0.0.1/x"),
    redirect("redirects to a script", "javascript:alert(1)"),
    redirect("redirects to data", "data:text/html,<p>hello"),
    redirect("redirects to gopher", "gopher://127.0.0.1:70/_x"),
    redirect("redirects to a user and a password", "http://user:secret@127.0.0.1/"),
    redirect("redirects to a port that there is not", "http://127.0.0.1:99999/"),
    redirect("redirects to port zero", "http://127.0.0.1:0/"),
    redirect("redirects to a broken IPv6 address", "http://[::1/"),
    redirect("redirects to an empty label", "http://a..b/"),
    redirect("redirects to a label of 64 letters", f"http://{'a' * 64}.example/"),
    redirect("redirects to a malformed punycode name", "http://xn--/"),
    redirect("redirects to a host with a backslash", "http://127.0.0.1\\@example.com/"),
    redirect("redirects to an address of 9,000 characters", "/" + "x" * 9_000),
    redirect("redirects to an address with a null character", "/a\x00b", code=NETWORK, says=INVALID),
    redirect("redirects to link-local metadata", "http://169.254.169.254/latest/meta-data/"),
    raw("redirects with a line break in its address", b"HTTP/1.1 302 F\r\nLocation: /a\r\n b\r\n\r\n", code=STATUS),
    raw("redirects without saying where", b"HTTP/1.1 302 Found\r\n" + LENGTH + PAGE, says=NEEDLE),
    raw("redirects to nothing", b"HTTP/1.1 302 Found\r\nLocation:\r\n" + LENGTH + PAGE, says=NEEDLE),
    body("offers a choice", PAGE, status=300, says=NEEDLE),
    page("redirects by a meta element", f'<meta http-equiv=refresh content="0; url=/x"><p>{NEEDLE}', NEEDLE),
    page("redirects by a script", f"<script>location='/x'</script><p>{NEEDLE}", NEEDLE, never="location"),
    raw(
        "redirects with a body without end",
        b"HTTP/1.1 302 F\r\nLocation: http://[\r\n\r\n",
        code=URL,
        then=flood(bytes(65_536)),
    ),
    raw(
        "redirects with a body that is a bomb",
        b"HTTP/1.1 302 F\r\nLocation: http://[\r\nContent-Encoding: gzip, gzip, br\r\n\r\n",
        code=URL,
    ),
]

STATUSES = [
    body("is missing", PAGE, status=404, code=STATUS, says="HTTP 404: Not Found"),
    body("is gone", PAGE, status=410, code=STATUS, says="HTTP 410: Gone"),
    body("is a teapot", PAGE, status=418, code=STATUS, says="HTTP 418"),
    body("asks too many questions", PAGE, status=429, code=STATUS, says="HTTP 429", headers={"Retry-After": "9" * 999}),
    body("has a status that nobody knows", PAGE, status=599, code=STATUS, says="HTTP 599"),
    body("has status 999", PAGE, status=999, code=STATUS, says="HTTP 999"),
    raw("has an error page without end", b"HTTP/1.1 500 Error\r\n\r\n", code=STATUS, then=flood(bytes(65_536))),
    raw("has control characters in its reason", b"HTTP/1.1 597 \x1b[31mred\x07\r\n\r\n", code=STATUS, never="\x1b"),
    body(
        "asks for a password",
        PAGE,
        status=401,
        code=STATUS,
        says="HTTP 401",
        headers={"WWW-Authenticate": 'Basic realm="' + "x" * 50_000 + '"'},
    ),
    raw("has no content", b"HTTP/1.1 204 No Content\r\n\r\n", code=PARSE, says="no words"),
    raw("resets the content", b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", code=PARSE, says="no words"),
    raw("is a part that nobody asked for", OK.replace(b"200 OK", b"206 Partial") + LENGTH + PAGE, says=NEEDLE),
    raw("says that it has not changed", b"HTTP/1.1 304 Not Modified\r\n\r\n", code=PARSE, says="no words"),
]

SECURE = [
    raw("speaks no TLS", b"HTTP/1.1 400 Bad Request\r\n\r\n", code=NETWORK)._replace(scheme="https"),
    trapped("never ends the handshake of TLS", then=Exchange.hang)._replace(scheme="https"),
]

CASES = [
    case._replace(group="transport")
    for group in (STATUS_LINES, HEADERS, LENGTHS, CHUNKS, REDIRECTS, STATUSES, SECURE)
    for case in group
]
