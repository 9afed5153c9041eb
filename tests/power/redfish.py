"""A management controller that is none: answers Redfish over http or https, and remembers what it was asked."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WATTS = 347.5
CHASSIS = "/redfish/v1/Chassis"
METRICS = f"{CHASSIS}/1/EnvironmentMetrics"
POWER = f"{CHASSIS}/1/Power"


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


def modern() -> dict[str, Any]:
    """A controller with EnvironmentMetrics."""
    return {
        CHASSIS: {"Members": [link(f"{CHASSIS}/1"), link(f"{CHASSIS}/2")]},
        f"{CHASSIS}/1": {"Id": "1", "EnvironmentMetrics": link(METRICS), "Power": link(POWER)},
        METRICS: {"PowerWatts": {"Reading": WATTS, "DataSourceUri": "/x"}, "EnergykWh": {"Reading": 8.1}},
        POWER: {"PowerControl": [{"Name": "System", "PowerConsumedWatts": 1.0}]},
    }


def old() -> dict[str, Any]:
    """One that has only Power."""
    return {
        CHASSIS: {"Members": [link(f"{CHASSIS}/1")]},
        f"{CHASSIS}/1": {"Power": link(POWER)},
        POWER: {"PowerControl": [{"PowerConsumedWatts": WATTS}, {"PowerConsumedWatts": 9}], "Voltages": []},
    }


@dataclass
class Controller:
    """The controller's answers and login, and the requests that arrived."""

    pages: dict[str, Any]
    login: str = ""
    url: str = ""
    asked: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)  # values of Authorization
    answers: int = 1 << 30  # after so many it takes a question and says nothing until it is let go
    let_go: threading.Event = field(default_factory=threading.Event)
    page_s: float = 0  # time for a page to arrive, piece by piece

    def answer(self, path: str, authorization: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if len(self.asked) > self.answers:
            self.let_go.wait()
        self.sent.append(authorization)
        if self.login and authorization != "Basic " + base64.b64encode(self.login.encode()).decode():
            return 401, b"{}"
        page = self.pages.get(path)
        if page is None:
            return 404, b"{}"
        return 200, page if isinstance(page, bytes) else json.dumps(page).encode()


def handler(controller: Controller) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = controller.answer(self.path, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            pieces = 20 if controller.page_s else 1
            for piece in range(pieces):
                if controller.page_s and controller.let_go.wait(controller.page_s / pieces):
                    return
                self.wfile.write(body[len(body) * piece // pieces : len(body) * (piece + 1) // pieces])

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serving(controller: Controller, certificate: Path | None = None) -> Iterator[Controller]:
    """It answers while this lasts; by https where it has a certificate."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(controller))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    controller.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield controller
    finally:
        controller.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()


def make_certificate(folder: Path) -> Path:
    """Signed by itself, for 127.0.0.1; its key beside it."""
    certificate = folder / "controller.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-days", "2", "-subj", "/CN=controller", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [*words, "-keyout", certificate.with_suffix(".key"), "-out", certificate], check=True, capture_output=True
    )
    return certificate
