"""URLs that try to reach what a page fetcher must not reach, and URLs that only look as if they did.

    ATTACKS   no special address may be connected to, whether the URL is refused or not
    RESERVED  the same, but nobody would be there
    POLICY    the URL is refused, though nothing special would have been reached
    LEGAL     the page is fetched

Names resolve to PUBLIC unless the case says otherwise, and numbers as the C library reads them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

PUBLIC = "93.184.215.14"
TARGET = "target.example"
PUBLIC_IPV6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

Answers = Mapping[str, Sequence[Sequence[str]]]
_NONE: Answers = {}


class Case(NamedTuple):
    """A URL. answers: of each host, what it resolves to: at the first question, at the second, …, at all others.

    safe_answer: True where a fetcher may well give a page back, as long as it comes from a public address.
    """

    url: str
    group: str
    answers: Answers = _NONE
    safe_answer: bool = False


def words(text: str) -> list[str]:
    """The words of a text, which take less room than a list."""
    return text.split()


def redirecting(target: str) -> str:
    """A URL of a public host that answers with a redirect to the target, sent as it stands here."""
    return f"http://start.example/?to={quote(target, safe='')}"


def _at(*addresses: str, host: str = TARGET) -> Answers:
    return {host: [addresses]}


def _literal(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _leading_to(addresses: Iterable[str]) -> Iterator[Case]:
    """Three ways to each address: it stands in the URL, a name resolves to it, a redirect leads there."""
    for address in addresses:
        yield Case(f"http://{_literal(address)}/", "a special address")
        yield Case(f"http://{TARGET}/", "a name at a special address", _at(address))
        yield Case(redirecting(f"http://{_literal(address)}/"), "a redirect to a special address")


def _cases(group: str, urls: Iterable[str], answers: Answers | None = None, *, safe_answer: bool = False) -> list[Case]:
    return [Case(url, group, answers or _NONE, safe_answer) for url in urls]


# Where the machine itself is, its networks or its cloud, in whatever form.
NEAR = words("""
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 100.100.100.200 127.0.0.1 127.1.2.3
    127.255.255.254 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.192 192.168.0.1
    192.168.255.255 168.63.129.16
    :: ::1 ::127.0.0.1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:100.64.0.1
    ::ffff:168.63.129.16 ::ffff:192.0.0.192 ::ffff:0.0.0.0 ::ffff:0:127.0.0.1 ::ffff:0:a9fe:a9fe 64:ff9b::127.0.0.1
    64:ff9b::a00:1 64:ff9b::169.254.169.254 64:ff9b::192.168.1.1 64:ff9b::0.0.0.0 64:ff9b:1:7f00:0:100::
    2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:80ff:fffe 2002:7f00:1:: 2002:a9fe:a9fe:: 2002:a00:1::1 2002:c0a8:101::
    fc00::1 fd00::1 fd12:3456:789a::1 fd00:ec2::254 fd20:ce::254 fd00:42::42 fe80::1 febf::1 fec0::1 feff::1
    2600:1f18::5efe:7f00:1 2600::200:5efe:a00:1 2606:4700::5efe:a9fe:a9fe
""")
# Where no page can be: for documentation, benchmarks, many receivers, or nobody.
NOWHERE = words("""
    192.0.0.1 192.0.0.8 192.0.0.170 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.250 240.0.0.1 255.255.255.255
    ::2 ::1.2.3.4 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8::1 3fff::1
    3fff:fff:ffff::1 5f00::1 4000::1 8000::1 e000::1 ff02::1 ff05::1:3 ff0e::1
""")

# How the C library, browsers or a lenient parser write 127.0.0.1, 169.254.169.254 and 10.0.0.1.
_NUMBERS = words("""
    127.1 127.0.1 0 2130706433 017700000001 0x7f000001 0x7F.0.0.1 0x7f.1 0177.0.0.1 0177.1 127.0.0.01 0127.0.0.1
    127.0.0.0x1 127.0.0.1. 0.0.0.0. 127.1. 2852039166 0xa9fea9fe 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe 169.254.43518
    0xa9.254.169.0376 10.1 012.0.0.1 167772161 0x0a000001 3232235521 0300.0250.0.1 00000177.0.0.1 1.2.3.4.5 256.0.0.1
    4294967296 99999999999 127.0.0.1.0x 0x 0xg.1 127..1 127.0.0.256 08.0.0.1 1e1.0.0.1
""")
_OTHER_DIGITS = words("""
    ①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．0．0．1 127｡0｡0｡1 ⑯⑨。②⑤④。⑯⑨｡②⑤④ ²130706433 ０x7f.1 0ｘ7f000001
    𝟙𝟚𝟟.𝟘.𝟘.𝟙 １６９.254.169.254 ｌｏｃａｌｈｏｓｔ loc\u00adalhost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ localhost。 𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭 LOCALHOST
    localho\u200bst 169\u00ad.254.169.254 [::１] [：：1] ［::1］
""")
_CONFUSING = [
    "http://127.0.0.1\\@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com@127.0.0.1/",
    "http://example.com:80@127.0.0.1/",
    "http://example.com%40127.0.0.1/",
    "http://example.com#@127.0.0.1/",
    "http://example.com?@127.0.0.1/",
    "http://example.com;@127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "http://127.0.0.1;.example.com/",
    "http://127.0.0.1%2f@example.com/",
    "http://127.0.0.1%23.example.com/",
    "http://127.0.0.1%00.example.com/",
    "http://127.0.0.1\x00.example.com/",
    "http://127.0.0.1\t.example.com/",
    "http://127.0.0.1 .example.com/",
    "http://127.0.0.1 @example.com/",
    "http://127.0.0.1\r\nHost: example.com/",
    "http://127.0.0.1:80\\@example.com:80/",
    "http://example.com:80@127.0.0.1:80@example.com/",
    "http://example.com @127.0.0.1/",
    "http://127.0.0.1:@example.com/",
    "http://@127.0.0.1/",
    "http://:@127.0.0.1/",
    "http://:80@127.0.0.1/",
    "http://a:b@c@127.0.0.1/",
    "http:\\\\127.0.0.1/",
    "http:/\\127.0.0.1/",
    "http:/127.0.0.1/",
    "http:127.0.0.1/",
    "http:///127.0.0.1/",
    "http:////127.0.0.1/",
    "http://\\127.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.%31/",
    "http://127%2e0%2e0%2e1/",
    "http://127%E3%80%820.0.1/",
    "http://%6c%6f%63alhost/",
    "http://[::1%25lo]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::1].example.com/",
    "http://[::1]@example.com/",
    "http://[127.0.0.1]/",
    "http://[::ffff:127.0.0.01]/",
    "http://[::ffff:0177.0.0.1]/",
    "http://[::ffff:127.1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://[::0001]/",
    "http://[0:0:0:0:0:FFFF:7F00:0001]/",
    "http://[::1",
    "http://::1/",
    "http://[v1.127.0.0.1]/",
    "http://127.0.0.1:80:80/",
    "ht\ttp://127.0.0.1/",
    "\x00http://127.0.0.1/",
    "\u3000http://127.0.0.1/",
    "http://\uff0f127.0.0.1/",
    "http://example.com\uff20127.0.0.1/",
    "http://127.0.0.1\uff03.example.com/",
    "http://127.0.0.1\u2044.example.com/",
    "http://127.0.0.1\uff1a80/",
    "https://127.0.0.1/",
    "HTTP://127.0.0.1/",
    " http://127.0.0.1/ ",
    "http://127.0.0.1:443/",
    "http://xn--127-0-0-1/",
    "http://xn--/",
]
_LOOPBACK_NAMES = words("localhost localhost. LocalHost a.localhost localhost.localdomain ip6-localhost ip6-loopback")
METADATA_NAMES = words("""
    metadata metadata.goog metadata.google.internal METADATA.GOOGLE.INTERNAL. instance-data instance-data.ec2.internal
    metadata.packet.net metadata.tencentyun.com rancher-metadata
""")
_SCHEMES = [
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "file:/etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "dict://127.0.0.1:11211/stats",
    "ftp://127.0.0.1/",
    "ldap://127.0.0.1/",
    "tftp://127.0.0.1/x",
    "jar:http://127.0.0.1!/",
    "ws://127.0.0.1/",
    "data:text/html,x",
    "javascript:alert(1)",
    "view-source:http://127.0.0.1/",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "//127.0.0.1/",
    "127.0.0.1",
    "127.0.0.1:80/x",
    "blob:http://127.0.0.1/x",
]
_REDIRECT_TARGETS = [
    "//127.0.0.1/",
    "///127.0.0.1/",
    "/\\127.0.0.1/",
    "\\\\127.0.0.1/",
    "http:\\\\127.0.0.1/",
    "http:127.0.0.1/",
    "http:///127.0.0.1/",
    "https://127.0.0.1/",
    "http://user@127.0.0.1/",
    "http://start.example@127.0.0.1/",
    "http://127.0.0.1\\@start.example/",
    "http://[::ffff:7f00:1]:8080/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://127。0。0。1/",
    "http://localhost:6379/",
    "http://a.localhost/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "gopher://127.0.0.1:6379/_",
    "ftp://127.0.0.1/",
    "dict://127.0.0.1:11211/",
    "data:text/html,x",
    "javascript:alert(1)",
    redirecting("http://169.254.169.254/latest/meta-data/"),
    redirecting(redirecting("http://[::1]/")),
]
_MIXED = [
    [PUBLIC, "127.0.0.1"],
    ["127.0.0.1", PUBLIC],
    [PUBLIC_IPV6, "10.0.0.1"],
    [PUBLIC, "::1"],
    [PUBLIC, "fd00:ec2::254"],
    [PUBLIC, PUBLIC, "169.254.169.254"],
    [PUBLIC, "64:ff9b::7f00:1"],
    ["0.0.0.0", PUBLIC],
]
_REBOUND = words("127.0.0.1 10.0.0.1 169.254.169.254 ::1 fd00:ec2::254 ::ffff:127.0.0.1 0.0.0.0 192.168.1.1")

ATTACKS = [
    *_leading_to(NEAR),
    *_cases("a number that is no address", (f"http://{number}/" for number in _NUMBERS)),
    *_cases("letters that are mapped", (f"http://{host}/" for host in _OTHER_DIGITS)),
    *_cases("parsers that disagree", _CONFUSING, safe_answer=True),
    *(
        Case(f"http://{host}/", "a name of the machine", _at("127.0.0.1", host=host.lower().rstrip(".")))
        for host in _LOOPBACK_NAMES
    ),
    *(
        Case(f"http://{host}/", "a metadata service", _at("169.254.169.254", host=host.lower().rstrip(".")))
        for host in METADATA_NAMES
    ),
    *_cases("another scheme", _SCHEMES),
    *_cases(
        "a redirect that is odd",
        map(redirecting, _REDIRECT_TARGETS),
        {
            "localhost": [["127.0.0.1"]],
            "a.localhost": [["127.0.0.1"]],
            "metadata.google.internal": [["169.254.169.254"]],
        },
        safe_answer=True,
    ),
    *(Case(f"http://{TARGET}/", "one special answer of several", _at(*answer)) for answer in _MIXED),
    *(
        Case(f"http://{TARGET}/", "an answer that changes", {TARGET: [[PUBLIC], [address]]}, safe_answer=True)
        for address in _REBOUND
    ),
    *(
        Case(redirecting(f"http://{TARGET}/"), "an answer that changes", {TARGET: [[PUBLIC], [it]]}, safe_answer=True)
        for it in _REBOUND
    ),
]
RESERVED = list(_leading_to(NOWHERE))

_BAD_PORTS = (1, 19, 21, 22, 23, 25, 53, 110, 143, 389, 465, 587, 993, 2049, 3659, 5060, 6000, 6667, 10080)
POLICY = [
    *_cases("a port of another service", (f"http://example.com:{port}/" for port in _BAD_PORTS)),
    *_cases(
        "no port", (f"http://example.com:{port}/" for port in words("0 65536 -1 +80 8% ８０ x 99999999999999999999"))
    ),
    *_cases(
        "a user name or password",
        [
            "http://user@example.com/",
            "http://user:pass@example.com/",
            "https://:p@example.com/",
            "http://@example.com/",
        ],
    ),
    *_cases(
        "a malformed host",
        [
            "http://",
            "http:///",
            "http://?q",
            "http://a..b/",
            "http://.example.com/",
            "http://exa mple.com/",
            "http://exa<mple.com/",
            "http://*.example.com/",
            f"http://{'x' * 64}.com/",
            f"http://{'x.' * 127}com/",
            "http://xn--a/",
            "http://xn--ü.example/",
            "http://\u202eexample.com/",
            "http://example.com\u200d/",
            "http://[2606:4700::1111::1]/",
            "http://[]/",
            "http://example.com/\ud800",
            "http://example.com/" + "x" * 8192,
        ],
    ),
    *_cases("infrastructure", (f"http://{host}/" for host in ("192.31.196.1", "192.52.193.1", "192.175.48.1"))),
    *_cases("infrastructure", (f"http://[{host}]/" for host in ("2620:4f:8000::1", "2002:808:808::1", "2001:1::1"))),
]

_NEIGHBOURS = words("""
    1.1.1.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 168.63.129.15 168.63.129.17
    169.253.255.255 169.255.0.1 172.15.255.255 172.32.0.1 192.0.1.1 192.0.3.1 192.167.255.255 192.169.0.1
    198.17.255.255 198.20.0.1 203.0.112.1 203.0.114.1 223.255.255.254
    2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1 2003::1 2400:cb00::1 2606:4700:4700::1111 2a00:1450:4001::1
    2c0f:f248::1 2600:1f18::5efe:808:808 64:ff9b::8.8.8.8 64:ff9b::101:101 ::ffff:8.8.8.8
""")
_ORDINARY = [
    "http://example.com",
    "http://example.com/",
    "http://EXAMPLE.com/Path?q=1#part",
    "HTTP://example.com/",
    " http://example.com/\n",
    "http://example.com./",
    "http://www.example.com.:80/",
    "http://example.com:/",
    "http://example.com:8080/",
    "http://example.com:8443/",
    "http://example.com:3000/",
    "http://example.com:9200/",
    "http://example.com:65535/",
    "http://example.com:00080/",
    "http://a_b.example.com/",
    "http://r3---sn-4g5e6nez.example.com/",
    "http://-a-.example.com/",
    "http://1.example/",
    "http://1e100.net/",
    "http://127.0.0.1.nip.example/",
    "http://localhost.example.com/",
    "http://metadata.example.com/",
    "http://example.com/?url=http://127.0.0.1/",
    "http://example.com/@127.0.0.1",
    "http://example.com/#@127.0.0.1",
    "http://example.com/a%20b\\c?d=%zz",
    "http://bücher.example/",
    "http://BÜCHER.example:8080/",
    "http://faß.example/",
    "http://日本語.example/",
    "http://例え。テスト/",
    "http://xn--bcher-kva.example/",
    "http://παράδειγμα.δοκιμή/",
    "http://пример.испытание/",
    "http://مثال.إختبار/",
    "http://उदाहरण.परीक्षा/",
    "http://💩.example/",
    "http://xn--ls8h.example/",
    "http://i❤.example/",
    "https://example.com/",
    "https://example.com:8443/",
    "https://bücher.example/",
    redirecting("/there"),
    redirecting("//example.com/"),
    redirecting("http://bücher.example:8080/"),
    redirecting("https://example.com/"),
]
LEGAL = [
    *_cases("ordinary", _ORDINARY),
    *(Case(f"http://{_literal(address)}/", "a public address") for address in _NEIGHBOURS),
    *(Case(f"http://{TARGET}/", "a name at a public address", _at(address)) for address in _NEIGHBOURS),
    Case(f"http://{TARGET}/", "several public addresses", _at(PUBLIC, PUBLIC_IPV6)),
    Case(f"http://{TARGET}/", "several public addresses", _at(PUBLIC_IPV6, "64:ff9b::5db8:d70e", PUBLIC)),
]

PARTS = {"attacks": ATTACKS, "reserved": RESERVED, "policy": POLICY, "legal": LEGAL}
