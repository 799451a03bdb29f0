"""A proxy that keeps every byte it is sent, and a certificate for servers that speak TLS behind it."""

import contextlib
import socket
import ssl
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

CONNECT = "CONNECT"
_PIECE = 2**16


@dataclass
class Passed:
    """One request to the proxy."""

    method: str
    host: str
    """Whom it is for."""
    headers: dict[str, str]
    """What stands in its head, names in lower case."""
    raw: bytearray
    """All that came on its connection from it on, head and encrypted bytes included."""


@dataclass
class Proxy:
    """A running proxy."""

    port: int
    passed: list[Passed] = field(default_factory=list)

    def url(self, user: str = "") -> str:
        """Its address, for the variables of the environment; `user` is `NAME:PASSWORD`."""
        return f"http://{user}{'@' if user else ''}127.0.0.1:{self.port}"

    def environment(self, user: str = "") -> dict[str, str]:
        """The variables that lead all calls through it."""
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        return dict.fromkeys(names, self.url(user)) | dict.fromkeys(("NO_PROXY", "no_proxy"), "")


@contextlib.contextmanager
def recording_proxy(hosts: Mapping[str, str], user: str = "", refuses: int = 407) -> Iterator[Proxy]:
    """Start a proxy on a free port: it tunnels CONNECT and forwards absolute addresses.

    `hosts` are the hosts it knows, each with the address (`http://127.0.0.1:PORT`) of its server. With `user`
    (`NAME:PASSWORD`) it answers `refuses` to whoever does not name it.
    """
    wanted = f"Basic {b64encode(user.encode()).decode()}" if user else None

    def serve(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            while head := _head(client):
                if not _pass_on(client, *head):
                    return

    def _pass_on(client: socket.socket, head: bytes, rest: bytes) -> bool:
        """Answer one request; whether another may follow."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        host = target.rpartition(":")[0] if method == CONNECT else urlsplit(target).hostname or ""
        body = rest + _exactly(client, int(headers.get("content-length", 0)) - len(rest))
        passed = Passed(method, host, headers, bytearray(head + body))
        proxy.passed.append(passed)
        if wanted and headers.get("proxy-authorization") != wanted:
            client.sendall(b"HTTP/1.1 %d Refused\r\ncontent-length: 0\r\n\r\n" % refuses)
            return method != CONNECT
        if host not in hosts:
            client.sendall(b"HTTP/1.1 502 Unknown host\r\ncontent-length: 0\r\n\r\n")
            return method != CONNECT
        there = urlsplit(hosts[host])
        with socket.create_connection((there.hostname, there.port)) as server:
            if method == CONNECT:
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                _tunnel(client, server, passed.raw)
            else:
                path = urlsplit(target)._replace(scheme="", netloc="").geturl() or "/"
                kept = [line for line in lines if not line.lower().startswith(("proxy-", "connection:"))]
                plain = "\r\n".join([f"{method} {path} HTTP/1.1", "connection: close", *kept])
                server.sendall(plain.encode("latin-1") + b"\r\n\r\n" + body)
                server.shutdown(socket.SHUT_WR)
                status, _, rest = b"".join(iter(lambda: server.recv(_PIECE), b"")).partition(b"\r\n")
                client.sendall(status + b"\r\nConnection: close\r\n" + rest)
            return False

    with socket.create_server(("127.0.0.1", 0)) as listening:
        proxy = Proxy(listening.getsockname()[1])

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield proxy


def _head(client: socket.socket) -> tuple[bytes, bytes] | None:
    """The head of a request, and what came with it; None where no more comes."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(_PIECE)
        if not piece:
            return None
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _exactly(client: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := client.recv(count - len(data))):
        data += piece
    return data


def _tunnel(client: socket.socket, server: socket.socket, kept: bytearray) -> None:
    """Carry bytes both ways until one side ends; those of the client are kept."""

    def back() -> None:
        with contextlib.suppress(OSError):
            while piece := server.recv(_PIECE):
                client.sendall(piece)
            client.shutdown(socket.SHUT_WR)

    threading.Thread(target=back, daemon=True).start()
    while piece := client.recv(_PIECE):
        kept += piece
        server.sendall(piece)


@dataclass(frozen=True)
class Certificate:
    """A certificate of its own authority."""

    file: Path
    """What a client trusts, `SSL_CERT_FILE`."""
    context: ssl.SSLContext
    """What a server shows."""


def certificate(folder: Path, *hosts: str) -> Certificate:
    """Make a certificate for these hosts and 127.0.0.1, by the program openssl."""
    key, file = folder / "key.pem", folder / "certificate.pem"
    names = ",".join(["IP:127.0.0.1", *(f"DNS:{host}" for host in hosts)])
    made = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    named = ["-subj", "/CN=tests of dhp", "-addext", f"subjectAltName={names}", "-days", "30"]
    places = ["-keyout", str(key), "-out", str(file)]
    subprocess.run([*made, *named, *places], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return Certificate(file, context)
