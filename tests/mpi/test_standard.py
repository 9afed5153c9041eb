"""The table of MPI calls (src/mpi/calls.toml) against the MPI standard, as pympistandard has it."""

from __future__ import annotations

import sys
import tomllib
from types import ModuleType

import pympistandard
import pytest
from tree import ROOT

TABLE = ROOT / "src/mpi/calls.toml"

# Calls of the standard that the preload library does not wrap, and why. A name with * at its end stands for several.
NOT_WRAPPED = {
    "It is local: it returns without an act of another process.": """
        Add_error_class Add_error_code Add_error_string Aint_add Aint_diff Alloc_mem Attr_delete Attr_get
        Attr_put Buffer_attach Cancel Cart_coords Cart_get Cart_map Cart_rank Cart_shift Cartdim_get Close_port
        Comm_attach_buffer Comm_call_errhandler Comm_compare Comm_create_errhandler Comm_create_keyval
        Comm_delete_attr Comm_free_keyval Comm_get_attr Comm_get_errhandler Comm_get_info Comm_get_name
        Comm_get_parent Comm_group Comm_rank Comm_remote_group Comm_remote_size Comm_set_attr
        Comm_set_errhandler Comm_set_name Comm_size Comm_test_inter Dims_create Dist_graph_neighbors
        Dist_graph_neighbors_count Errhandler_free Error_class Error_string File_call_errhandler
        File_create_errhandler File_delete File_get_* File_seek File_set_errhandler Finalized Free_mem
        Get_address Get_count Get_elements Get_elements_x Get_hw_resource_info Get_library_version
        Get_processor_name Get_version Graph_get Graph_map Graph_neighbors Graph_neighbors_count Graphdims_get
        Grequest_complete Group_* Info_* Initialized Is_thread_main Keyval_create Keyval_free
        Lookup_name Op_commutative Op_create Op_free Open_port Pack* Pcontrol Publish_name Query_thread
        Reduce_local Register_datarep Remove_error_class Remove_error_code Remove_error_string Request_free
        Session_attach_buffer Session_call_errhandler Session_create_errhandler Session_get_* Session_set_errhandler
        Status_set_* Status_get_* Test_cancelled Topo_test Type_* Unpack* Unpublish_name Win_attach
        Win_call_errhandler Win_create_errhandler Win_create_keyval Win_delete_attr Win_detach Win_free_keyval
        Win_get_* Win_set_attr Win_set_errhandler Win_set_name Win_shared_query Win_sync Wtick Wtime
    """,
    "It converts a handle or a status between languages.": """
        Comm_c2f Comm_f2c Comm_fromint Comm_toint Errhandler_c2f Errhandler_f2c Errhandler_fromint
        Errhandler_toint File_c2f File_f2c File_fromint File_toint Message_c2f Message_f2c Message_fromint
        Message_toint Op_c2f Op_f2c Op_fromint Op_toint Request_c2f Request_f2c Request_fromint Request_toint
        Session_c2f Session_f2c Session_fromint Session_toint Status_c2f Status_c2f08 Status_f082c Status_f082f
        Status_f2c Status_f2f08 Win_c2f Win_f2c Win_fromint Win_toint
    """,
    "It belongs to the tool interface, or tells of the ABI.": "T_* Abi_*",
    "It prepares a request; MPI_Start, which is wrapped, starts it.": """
        Allgather_init Allgatherv_init Allreduce_init Alltoall_init Alltoallv_init Alltoallw_init Barrier_init
        Bcast_init Bsend_init Exscan_init Gather_init Gatherv_init Neighbor_allgather_init
        Neighbor_allgatherv_init Neighbor_alltoall_init Neighbor_alltoallv_init Neighbor_alltoallw_init
        Precv_init Psend_init Recv_init Reduce_init Reduce_scatter_block_init Reduce_scatter_init Rsend_init
        Scan_init Scatter_init Scatterv_init Send_init Ssend_init
    """,
}


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    sys.path.insert(0, str(ROOT / "src/mpi"))
    try:
        import generate
    finally:
        sys.path.pop(0)
    return generate


@pytest.fixture(scope="module")
def standard() -> dict[str, pympistandard.Procedure]:
    """The procedures that C has, by name without MPI_."""
    pympistandard.use_api_version(force_bundled=True)
    return {
        str(p.express.iso_c.name).removeprefix("MPI_"): p
        for p in pympistandard.PROCEDURES.values()
        if p.express.iso_c is not None
    }


def parameters(prototype: str) -> list[str]:
    """Of a C prototype, each as `TYPE*NAME[]`."""
    inner = prototype[prototype.index("(") + 1 : prototype.rindex(")")]
    return [spaced(word) for word in inner.split(",")]


def spaced(declaration: str) -> str:
    return " ".join(declaration.replace("*", " * ").split()).replace(" * ", "*")


def differences(generator: ModuleType, standard: dict[str, pympistandard.Procedure], text: str) -> list[str]:
    """Differences between calls.toml and the standard."""
    found = []
    for call in generator.calls_of(tomllib.loads(text)):
        theirs = standard.get(call.name)
        if theirs is None:
            found.append(f"MPI_{call.name}: the standard has no such call")
            continue
        if call.has_large != theirs.has_embiggenment():
            found.append(
                f"MPI_{call.name}: the standard has {'a' if not call.has_large else 'no'} form with large counts"
            )
            continue
        for large in (False, True) if call.has_large else (False,):
            prototype = str(theirs.express.embiggen.iso_c if large else theirs.express.iso_c)
            ours = [spaced(arg.declared(large)) for arg in call.args]
            if ours != parameters(prototype):
                found.append(f"MPI_{call.name}{'_c' if large else ''}: {ours} where the standard has {prototype}")
    return found


def test_every_call_of_the_table_is_as_the_standard_has_it(generator, standard) -> None:
    assert differences(generator, standard, TABLE.read_text()) == []


@pytest.mark.parametrize(
    ("line", "wrong", "said"),
    [
        (
            "int source, int tag, MPI_Comm comm, int *flag",
            "int tag, int source, MPI_Comm comm, int *flag",
            "MPI_Iprobe:",
        ),
        (
            "void *buffer, count count,",
            "void *buffer, int count,",
            "MPI_Bcast: the standard has a form with large counts",
        ),
        ("MPI_Win win, int *flag", "MPI_Win win", "MPI_Win_test:"),
        ("const int dims[]", "int dims[]", "MPI_Cart_create:"),
        ("[Win_post]", "[Win_past]", "MPI_Win_past: the standard has no such call"),
    ],
)
def test_a_wrong_row_shows(generator, standard, line: str, wrong: str, said: str) -> None:
    text = TABLE.read_text()
    assert line in text
    assert [found for found in differences(generator, standard, text.replace(line, wrong, 1)) if found.startswith(said)]


def test_every_twin_is_non_blocking(generator, standard) -> None:
    """The standard has the counterpart of each call, with the same arguments but for the status, and a request."""
    for call in generator.calls_of(tomllib.loads(TABLE.read_text())):
        if call.how == "counterpart":
            counterpart = parameters(str(standard[call.counterpart].express.iso_c))
            mine = [word for word in parameters(str(standard[call.name].express.iso_c)) if not word.endswith("status")]
            assert counterpart == [*mine, "MPI_Request*request"], call.name


def test_every_test_takes_what_the_table_gives_it(generator, standard) -> None:
    for call in generator.calls_of(tomllib.loads(TABLE.read_text())):
        if call.how == "test":
            names = [
                word.split("*")[-1].split()[-1].removesuffix("[]")
                for word in parameters(str(standard[call.row["test"]].express.iso_c))
            ]
            assert call.row["with"].replace("FLAG", "flag").split(", ") == names, call.name


def test_calls_that_pass_with_large_counts_are_those_of_the_standard(generator, standard) -> None:
    assert set(generator.PASSED) <= set(standard)
    large = {name for name in generator.PASSED if standard[name].has_embiggenment()}
    assert large == set(generator.PASSED_LARGE)


def test_each_call_of_the_standard_is_wrapped_or_left_out_for_a_reason(generator, standard) -> None:
    calls = generator.calls_of(tomllib.loads(TABLE.read_text()))
    wrapped = {call.name for call in calls} | set(generator.SPECIAL) | set(generator.PASSED)
    left_out = [name for names in NOT_WRAPPED.values() for name in names.split()]
    assert len(left_out) == len(set(left_out))
    exact = {name for name in left_out if not name.endswith("*")}
    beginnings = tuple(name.removesuffix("*") for name in left_out if name.endswith("*"))
    assert exact & wrapped == set()
    assert exact - set(standard) == set()
    missing = {name for name in set(standard) - wrapped - exact if not name.startswith(beginnings)}
    assert missing == set()
