"""Prints the version of a libfabric library, then the name of each of its providers that works here, one a line.

It is a program of its own, `libfabric_probe.py LIBFABRIC`, because the library may start threads in the process that
loads it.
"""

from __future__ import annotations

import ctypes
import sys

API = 1 << 16 | 17  # the version of the interface that the runtime uses, 1.17
NO_DATA = -61  # -FI_ENODATA: there is no provider


class FabricAttributes(ctypes.Structure):
    """The beginning of struct fi_fabric_attr."""

    _fields_ = (("fabric", ctypes.c_void_p), ("name", ctypes.c_char_p), ("provider", ctypes.c_char_p))


class Info(ctypes.Structure):
    """struct fi_info up to the attributes of the fabric."""


Info._fields_ = (
    ("next", ctypes.POINTER(Info)),
    ("caps", ctypes.c_uint64),
    ("mode", ctypes.c_uint64),
    ("address_format", ctypes.c_uint32),
    ("address_lengths", ctypes.c_size_t * 2),
    ("addresses", ctypes.c_void_p * 2),
    ("handle", ctypes.c_void_p),
    ("attributes", ctypes.c_void_p * 4),  # tx, rx, endpoint, domain
    ("fabric", ctypes.POINTER(FabricAttributes)),
)


def main() -> int:
    fabric = ctypes.CDLL(sys.argv[1])
    fabric.fi_version.restype = ctypes.c_uint32
    fabric.fi_strerror.restype = ctypes.c_char_p
    version = fabric.fi_version()
    print(f"{version >> 16}.{version & 0xFFFF}", flush=True)
    first = ctypes.POINTER(Info)()
    status = fabric.fi_getinfo(API, None, None, ctypes.c_uint64(0), None, ctypes.byref(first))
    if status not in (0, NO_DATA):
        sys.exit(fabric.fi_strerror(-status).decode())
    one, names = first, []
    while one:
        names.append(one.contents.fabric.contents.provider.decode())
        one = one.contents.next
    print("\n".join(dict.fromkeys(names)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
