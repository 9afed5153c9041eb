/* From a request to its end, for each kind of wait that is not the door's own. */
#include "mpi/front.h"

#ifndef WTL_SIM
_Thread_local wtl_mpi_thread wtl_mpi_here __attribute__((tls_model("initial-exec")));
#endif

/*
 * An error of a blocking call goes to the error handler of its communicator. MPICH 4.0 gives an error that a test finds
 * to MPI_COMM_WORLD's instead, which by default ends the program although its own handler would not. So for the time of
 * the tests that one returns errors, and then the right one is told. (Not where other threads may be in MPI meanwhile.)
 */
typedef struct errors {
  bool taken;
  MPI_Errhandler world;
} errors;

static errors take_errors(const wtl_frame *f)
{
  errors e = {.taken = false};
#ifdef MPICH_VERSION
  if (f->comm == MPI_COMM_NULL || wtl_mpi_self->door.is_shared) return e;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &e.world);
  e.taken = e.world != MPI_ERRORS_RETURN;
  if (e.taken) PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
  return e;
}

static void give_errors_back(const wtl_frame *f, errors *e, int rc)
{
  if (!e->taken) return;
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, e->world);
  PMPI_Errhandler_free(&e->world);
  if (rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(f->comm, rc);
}

typedef struct of_c {
  MPI_Request *request;
  MPI_Status *status;
  int rc;
} of_c;

static bool test(void *arg)
{
  of_c *a = arg;
  int flag = 0;
  a->rc = PMPI_Test(a->request, &flag, a->status);
  return flag || a->rc != MPI_SUCCESS;
}

int wtl_mpi_finish(wtl_frame *f, MPI_Request *request, MPI_Status *status)
{
  of_c a = {request, status, MPI_SUCCESS};
  errors e = take_errors(f);
  wtl_mpi_wait(f, test, &a);
  give_errors_back(f, &e, a.rc);
  return a.rc;
}

#ifndef WTL_SIM /* a companion calls Fortran's entries (simulated.h) */

typedef struct of_fortran {
  MPI_Fint *request;
  void *status;
  void (*test)(MPI_Fint *request, MPI_Fint *flag, void *status, MPI_Fint *rc);
  MPI_Fint rc;
} of_fortran;

static bool test_f(void *arg)
{
  of_fortran *a = arg;
  MPI_Fint flag = 0;
  a->test(a->request, &flag, a->status, &a->rc);
  return flag || a->rc != MPI_SUCCESS;
}

MPI_Fint wtl_mpi_finish_f(wtl_frame *f, int language, MPI_Fint *request, void *status)
{
  of_fortran a = {.request = request, .status = status, .rc = MPI_SUCCESS};
  *(void **)&a.test = wtl_mpi_real[language][WTL_MPI_Test];
  errors e = take_errors(f);
  wtl_mpi_wait(f, test_f, &a);
  give_errors_back(f, &e, a.rc);
  return a.rc;
}

#endif
