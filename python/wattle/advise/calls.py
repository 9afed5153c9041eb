"""Sorts the calls of OpenSHMEM, ARMCI and MPI by what they do, from their names in a profile."""

from __future__ import annotations

import re

_TYPE = r"shmem_(?:ctx_)?(?:\w+?_)?"
PUT = re.compile(rf"(?:{_TYPE}(?:put(?:mem|\d+)?|p)(?:_nbi)?|ARMCI_(?:Nb)?Put(?:Value)?)$")
GET = re.compile(rf"(?:{_TYPE}(?:get(?:mem|\d+)?|g)(?:_nbi)?|ARMCI_(?:Nb)?Get(?:Value)?)$")
FETCH = re.compile(rf"{_TYPE}atomic_(?:fetch\w*|swap)$")
SWAP_IF = re.compile(rf"{_TYPE}atomic_compare_swap$")
MESSAGE = re.compile(r"MPI_(?:I?[bsr]?[Ss]end(?:recv\w*)?|I?m?recv|Mrecv|Recv|Wait(?:all|any|some)?|Start(?:all)?)$")
# Calls that a barrier may order, and that name no partner.
ORDERED = re.compile(r"MPI_(?:Win_|R?(?:put|get|accumulate)|(?:R?Put|R?Get)|Accumulate|File_|I?m?probe|M?[Pp]robe)")
SEND = re.compile(r"MPI_(?:I?[bsr]?[Ss]end)$")
QUIET = re.compile(r"shmem_(?:ctx_)?(?:pe_)?quiet$|ARMCI_(?:All)?Fence$")
FENCE = re.compile(r"shmem_(?:ctx_)?fence$")
WAIT_FOR = re.compile(r"shmem_\w*(?:wait|wait_until)$")
BARRIER = re.compile(r"shmem_barrier(?:_all)?$|shmem_(?:team_)?sync(?:_all)?$|MPI_Barrier$|ARMCI_Barrier$")
MEETING = re.compile(r"MPI_(?:Allreduce|Allgatherv?|Alltoall[vw]?|Reduce_scatter\w*)$")
ALLREDUCE = re.compile(r"MPI_Allreduce$|shmem_\w+_(?:reduce|to_all)$")
WINDOW = re.compile(r"MPI_Win_(?:allocate(?:_shared)?|create)$")
NON_BLOCKING = re.compile(r"_nbi$|ARMCI_Nb|MPI_I")


def api_of(call: str) -> str:
    """`shmem`, `armci` or `mpi`."""
    return "mpi" if call.startswith("MPI_") else "armci" if call.startswith("ARMCI_") else "shmem"


def blocks(call: str) -> bool:
    return not NON_BLOCKING.search(call)
