#!/usr/bin/env python3
"""wattle-redfish asks the management controller (BMC) of a node for its watts by Redfish (DMTF DSP0266).

    python3 -I -S wattle-redfish SOCKET ADDRESS [LOGIN [CERTIFICATES]]

meter_redfish.c starts it; it is not meant for users. LOGIN and CERTIFICATES are files; an empty text names none. SOCKET
receives a message when the watts are found or cannot be had, and then one a second. The program ends when the meter
closes its end of the socket. It runs with the node's own Python, from 3.6 on, and the standard library alone.

A page with watts is one of these:

    EnvironmentMetrics  PowerWatts.Reading                    of a chassis, since 2020
    Power               PowerControl[0].PowerConsumedWatts    the older form, which most controllers still have
    Sensor              Reading, if ReadingUnits is W

The address names one of them, or only the controller; then the first chassis is used.
"""

import base64
import http.client
import json
import math
import os
import signal
import socket
import stat
import struct
import sys
import threading
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

MOST_BYTES = 1 << 18  # of a page
MOST_PATH = 512
ASK_EVERY_S = 1.0
READING_S, FINDING_S = 3.0, 5.0  # deadlines: for one reading, and at start for all pages that lead to it
MESSAGE = struct.Struct("dd480s")  # as in meter_redfish.c: watts, the most watts that are possible, source or reason


class Refused(Exception):
    """The reason why there are no watts."""


def into_background(kept: int) -> None:
    """Leaves the session of the job, and all its files but one. A wait() of the program never sees this process."""
    if os.fork():
        os._exit(0)
    os.setsid()
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(ending, signal.SIG_IGN)
    os.chdir("/")
    os.closerange(3, kept)
    os.closerange(kept + 1, 1 << 16)


def complete(address: str) -> str:
    """The address with the name of this host, up to its first dot, in the place of %h."""
    url = address.replace("%h", socket.gethostname().partition(".")[0])
    if "@" in url:
        raise Refused("WATTLE_REDFISH must not contain a login: it is printed and stored; see WATTLE_REDFISH_LOGIN")
    if not url.startswith(("http://", "https://")):
        raise Refused("WATTLE_REDFISH must begin with https:// (or http://)")
    return url


def read_login(path: str) -> str:
    """user:password from the first line of a file that only its owner may read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise Refused(f"WATTLE_REDFISH_LOGIN: cannot open {path:.200}: not a regular file")
            if mode & 0o077:
                raise Refused(f"WATTLE_REDFISH_LOGIN: {path:.200} can be read by other users: chmod 600")
            login = file.read(512).decode("utf-8", "surrogateescape").splitlines()[:1]
    except OSError as error:
        raise Refused(f"WATTLE_REDFISH_LOGIN: cannot open {path:.200}: {error.strerror}") from None
    if login and ":" in login[0]:
        return login[0]
    raise Refused(f"WATTLE_REDFISH_LOGIN: the first line of {path:.200} is not user:password")


class Controller:
    """Fetches pages over one connection. Certificates are checked, and redirections and proxies are not followed. The
    login is sent by https or to this machine, never in clear over a network, and no message contains it.
    """

    def __init__(self, url: str, login: str, certificates: str) -> None:
        parts = urlsplit(url)
        self.root = f"{parts.scheme}://{parts.netloc}"
        self.path = url[len(self.root) :]
        self.host = parts.netloc
        self.until = 0.0
        self.headers = {"Accept": "application/json"}
        if login:
            if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
                raise Refused("a login is not sent in clear over a network: use https")
            encoded = base64.b64encode(login.encode("utf-8", "surrogateescape"))
            self.headers["Authorization"] = f"Basic {encoded.decode()}"
        if parts.scheme == "https":
            import ssl

            context = ssl.create_default_context(cafile=certificates or None)
            self.line = http.client.HTTPSConnection(parts.hostname or "", parts.port, context=context)
        else:
            self.line = http.client.HTTPConnection(parts.hostname or "", parts.port)

    def left(self) -> float:
        seconds = self.until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("no time is left")
        return seconds

    def fetch(self, path: str) -> tuple:
        """The status and the bytes of a page."""
        self.line.timeout = self.left()
        if self.line.sock:
            self.line.sock.settimeout(self.line.timeout)
        self.line.request("GET", path or "/", headers=self.headers)
        answer, body = self.line.getresponse(), b""
        while True:
            piece = answer.read1(MOST_BYTES)
            body += piece
            if not piece:
                return answer.status, body
            if len(body) >= MOST_BYTES:
                raise http.client.HTTPException(f"the page has more than {MOST_BYTES} bytes")
            if self.line.sock:
                self.line.sock.settimeout(self.left())

    def page(self, path: str) -> "Page":
        url = self.root + path
        try:
            was_open = self.line.sock is not None
            try:
                status, body = self.fetch(path)
            except (http.client.BadStatusLine, ConnectionError):
                if not was_open:
                    raise
                self.line.close()  # the controller has closed it since the last page
                status, body = self.fetch(path)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.line.close()
            raise Refused(f"{url:.200}: {explain(error)}") from None
        if status != 200:
            hint = " (check the login)" if status in (401, 403) else ""
            raise Refused(f"{url:.200} answers with status {status}{hint}")
        try:
            return Page(json.loads(body.decode(), parse_constant=no_number))
        except RecursionError:
            raise Refused(f"{url:.200} is no JSON: values nested too deeply") from None
        except ValueError as error:
            raise Refused(f"{url:.200} is no JSON: {error}") from None

    def reading(self, path: str) -> "Reading":
        found = self.page(path).reading()
        if found and found.watts >= 0:  # some controllers report -1 for an unknown value
            return found
        raise Refused(f"{self.root + path:.200} has no watts")

    def find(self) -> "Reading":
        """The first reading. Follows the links from a controller's address to its page with watts."""
        if self.path not in ("", "/"):
            return self.reading(self.path)
        chassis = self.page("/redfish/v1/Chassis").link("Members", 0)
        if not chassis:
            raise Refused(f"{self.root} has no chassis")
        page = self.page(chassis)
        paths = [path for path in (page.link("EnvironmentMetrics"), page.link("Power")) if path]
        refused = Refused(f"{self.root + chassis:.200} has no link to a page about power")
        for self.path in paths:
            try:
                return self.reading(self.path)
            except Refused as reason:
                refused = reason
        raise refused


class Reading(NamedTuple):
    watts: float
    most_w: float  # the highest watts that the page states as possible (capacity, range); 0: it states none
    name: str  # of the property with the watts


class Page:
    """A page of JSON, which may have any content."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def at(self, *path: Any) -> Any:
        value = self.content
        for key in path:
            try:
                value = value[key]
            except (TypeError, KeyError, IndexError):
                return None
        return value

    def link(self, *path: Any) -> str:
        """The path of another page of this controller; "": no link."""
        link = self.at(*path, "@odata.id")
        return link if isinstance(link, str) and link.startswith("/") and len(link) < MOST_PATH else ""

    def number(self, *path: Any) -> float:
        """NaN: there is none."""
        value = self.at(*path)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if is_number and abs(value) < 1e300 else math.nan

    def reading(self) -> Any:
        """The watts of the page; None: it has none."""
        control = ("PowerControl", 0)
        most = (("PowerWatts", "ReadingRangeMax"), (*control, "PowerCapacityWatts"), ("ReadingRangeMax",))
        most_w = next((w for w in (self.number(*path) for path in most) if not math.isnan(w)), 0.0)
        places = [("PowerWatts", ("PowerWatts", "Reading")), ("PowerConsumedWatts", (*control, "PowerConsumedWatts"))]
        if self.at("ReadingUnits") == "W":
            places.append(("Sensor", ("Reading",)))
        for name, path in places:
            if not math.isnan(self.number(*path)):
                return Reading(self.number(*path), most_w, name)
        return None


def no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def explain(error: Exception) -> str:
    checked = getattr(error, "verify_message", "")  # of a certificate
    if checked:
        return f"SSL certificate problem: {checked}"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def pack(watts: float, most_w: float, text: str) -> bytes:
    return MESSAGE.pack(watts, most_w, text.encode("utf-8", "replace")[:479])


def report(meter: socket.socket, address: str, login: str = "", certificates: str = "") -> None:
    """Sends the first reading and its source, or the reason why there is none, and then the watts each second."""
    try:
        url = complete(address)
        login = read_login(login) if login else os.environ.get("REDFISH_LOGIN", "")
        try:
            controller = Controller(url, login, certificates)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Refused(f"{certificates or url:.200}: {explain(error)}") from None
        controller.until = time.monotonic() + FINDING_S
        found = controller.find()
    except Refused as reason:
        meter.send(pack(math.nan, 0, str(reason)))
        return
    meter.send(pack(found.watts, found.most_w, f"{controller.host:.50} {found.name}"))
    while True:
        time.sleep(ASK_EVERY_S)
        controller.until = time.monotonic() + READING_S
        try:
            meter.send(pack(controller.reading(controller.path).watts, 0, ""))
        except Refused as reason:
            meter.send(pack(math.nan, 0, str(reason)))


def main() -> None:
    meter = socket.socket(fileno=int(sys.argv[1]))
    into_background(meter.fileno())

    def ask() -> None:
        try:
            report(meter, *sys.argv[2:])
        finally:
            meter.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=ask, daemon=True).start()
    meter.recv(1)  # returns when one end is closed; a request may last for seconds still
    os._exit(0)


if __name__ == "__main__":
    main()
