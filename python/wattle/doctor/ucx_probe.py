"""Prints the version of a UCX library and its description of a context, which lists the transports to other nodes.

It is a program of its own, `ucx_probe.py LIBUCP`, because the library may start threads in the process that loads
it.
"""

from __future__ import annotations

import ctypes
import sys

FIELD_FEATURES = 1
FEATURE_WAKEUP, FEATURE_AM = 1 << 4, 1 << 6  # the features that the runtime uses


class Parameters(ctypes.Structure):
    """The beginning of ucp_params_t. With only FIELD_FEATURES set, UCX reads no further."""

    _fields_ = (("field_mask", ctypes.c_uint64), ("features", ctypes.c_uint64), ("rest", ctypes.c_uint64 * 64))


def main() -> int:
    ucp, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
    ucp.ucp_get_version_string.restype = ctypes.c_char_p
    print(ucp.ucp_get_version_string().decode(), flush=True)
    major, minor, patch = (ctypes.c_uint() for _ in range(3))
    ucp.ucp_get_version(ctypes.byref(major), ctypes.byref(minor), ctypes.byref(patch))
    config, context = ctypes.c_void_p(), ctypes.c_void_p()
    parameters = Parameters(FIELD_FEATURES, FEATURE_AM | FEATURE_WAKEUP)
    status = ucp.ucp_config_read(None, None, ctypes.byref(config))
    if status == 0:
        status = ucp.ucp_init_version(major, minor, ctypes.byref(parameters), config, ctypes.byref(context))
    if status != 0:
        ucp.ucs_status_string.restype = ctypes.c_char_p
        sys.exit(ucp.ucs_status_string(status).decode())
    ucp.ucp_context_print_info(context, ctypes.c_void_p.in_dll(libc, "stdout"))
    libc.fflush(None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
