"""Makes noise at TCP ports: connections that say nothing, or nonsense, or the beginning of something sensible, and many
at once.

usage: noise.py SEED ADDRESS:PORT... Says "done" when all is said, and keeps connections open that say nothing until its
standard input ends.
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import sys

UCX_MAGIC = 0xCAFEBABE12345678  # how a connection of UCX's TCP begins


Place = tuple[str, int]


def connect(place: Place) -> socket.socket:
    return socket.create_connection(place, timeout=5)


def say(place: Place, what: bytes) -> None:
    """Says it and hangs up; the other side may do so first."""
    with connect(place) as line, contextlib.suppress(OSError):
        line.sendall(what)


def reset(place: Place, what: bytes) -> None:
    """Says it and breaks off without a goodbye."""
    with connect(place) as line, contextlib.suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.sendall(what)


def make_noise(place: Place, dice: random.Random) -> None:
    magic = struct.pack("<Q", UCX_MAGIC)
    sayings = [b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, magic[:5], magic, magic[::-1], b"\0" * 65536]
    sayings += [dice.randbytes(1 << dice.randrange(17)) for _ in range(50)]
    for saying in sayings:
        say(place, saying)
        reset(place, saying)


def main() -> int:
    seed, *words = sys.argv[1:]
    places = [(word.rsplit(":", 1)[0], int(word.rsplit(":", 1)[1])) for word in words]
    print(f"{places}, seed {seed}", flush=True)
    dice = random.Random(int(seed))
    silent = []
    for place in places:
        silent += [connect(place) for _ in range(100)]
        make_noise(place, dice)
    for i in range(1000):
        connect(places[i % len(places)]).close()
    print("done", flush=True)
    sys.stdin.read()
    return 0 if silent else 1


if __name__ == "__main__":
    sys.exit(main())
