"""The configurations of the study of protocols: transport and protocol, simulated or by a real MPI."""

from __future__ import annotations

from dataclasses import dataclass

TCP, INFINIBAND, SHARED = "TCP", "InfiniBand", "shared memory"
OPEN_MPI, MPICH = "openmpi", "mpich"


@dataclass(frozen=True)
class Configuration:
    """A configuration. `eager`: all messages are eager, else none. `cluster`: of a simulation. `mpi`: of a
    measurement, with the settings that move its eager limit. `smallest`: the smallest message in bytes that each
    protocol of the MPI takes.
    """

    name: str
    transport: str
    eager: bool
    cluster: str = ""
    mpi: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    smallest: int = 1


TCP_RENDEZVOUS = Configuration("TCP, rendezvous", TCP, False, "sandybridge-gige")
TCP_EAGER = Configuration("TCP, eager", TCP, True, "sandybridge-gige")
IB_RENDEZVOUS = Configuration("InfiniBand, rendezvous", INFINIBAND, False, "sandybridge-ib")
IB_EAGER = Configuration("InfiniBand, eager", INFINIBAND, True, "sandybridge-ib")
SIMULATED = (TCP_RENDEZVOUS, TCP_EAGER, IB_RENDEZVOUS, IB_EAGER)

# Open MPI 4.1 refuses a lower eager limit of TCP than 64 B. By shared memory its limit counts a header, and a message
# of less than 1 KiB may be eager with any limit; a high one needs a segment that holds such messages.
LIMIT = 2 << 20  # bytes, more than any message of the study
SEGMENT = 64 << 20
BTL = {TCP: "tcp", SHARED: "vader"}
LOWEST = {TCP: 64, SHARED: 128}
SMALLEST = {TCP: 64, SHARED: 1024}
UCX_TLS = {TCP: "tcp,self", SHARED: "posix,sysv,self"}


def _open_mpi(transport: str, eager: bool) -> tuple[tuple[str, str], ...]:
    """ob1's eager limit is a parameter of the transport."""
    btl, limit = BTL[transport], LIMIT if eager else LOWEST[transport]
    found = {"pml": "ob1", "btl": f"{btl},self", f"btl_{btl}_eager_limit": limit, f"btl_{btl}_rndv_eager_limit": limit}
    if eager and transport == SHARED:
        found |= {f"btl_{btl}_max_send_size": limit, f"btl_{btl}_segment_size": SEGMENT}
    return tuple((f"OMPI_MCA_{name}", str(value)) for name, value in found.items())


def _mpich(transport: str, eager: bool) -> tuple[tuple[str, str], ...]:
    """Debian's MPICH sends by UCX, whose parameter is the size from which a message is a rendezvous."""
    return ("UCX_TLS", UCX_TLS[transport]), ("UCX_RNDV_THRESH", "inf" if eager else "0")


def measured(transport: str) -> tuple[Configuration, ...]:
    """Both protocols by Open MPI and by MPICH. Those of Open MPI have the names of the papers' configurations."""
    found = []
    for mpi, prefix, settings in ((OPEN_MPI, "", _open_mpi), (MPICH, "MPICH, ", _mpich)):
        for eager in (False, True):
            name = f"{prefix}{transport}, {'eager' if eager else 'rendezvous'}"
            moved = settings(transport, eager)
            found.append(Configuration(name, transport, eager, "", mpi, moved, SMALLEST[transport]))
    return tuple(found)


ALL = (*SIMULATED, *(c for t in (TCP, SHARED) for c in measured(t) if c.name not in {s.name for s in SIMULATED}))
CALLED = {c.name: c for c in ALL}
