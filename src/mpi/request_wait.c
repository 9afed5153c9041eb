/* request_wait.c - waits for a request by tests, in C and Fortran, and passes an error to the right handler. */
#include "mpi/mpi_front.h"
#include "os/os.h"

WTL_OS_DEFINE_THREAD_LOCAL(wtl_mpi_thread, wtl_mpi_of_thread);

/*
 * An error of a blocking call goes to the error handler of its communicator. MPICH 4.0 passes an error that a test
 * finds to MPI_COMM_WORLD's handler instead. By default that handler ends the program, although the communicator's own
 * would not. So if the two differ, MPI_COMM_WORLD returns errors during the tests. The right handler is called
 * afterwards. This is not done if other threads may call MPI meanwhile.
 *
 * Otherwise MPI_COMM_WORLD's handler stays untouched, because most programs set none. For a communicator that was made
 * before any handler was set, MPICH uses MPI_COMM_WORLD's handler at the time of the error. To restore that handler
 * would be to set one. MPI_Comm_get_errhandler returns MPI_ERRORS_ARE_FATAL for such a communicator, so it is
 * recognized by this.
 */
typedef struct errors {
  bool replaced;      /* MPI_COMM_WORLD's handler is to be restored */
  bool calls_handler; /* the communicator's handler is to be called on an error */
  MPI_Errhandler world;
} errors;

static bool is_of_mpi(MPI_Errhandler handler)
{
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
}

static void free_handler(MPI_Errhandler handler)
{
  if (!is_of_mpi(handler)) PMPI_Errhandler_free(&handler);
}

static errors replace_handler(const wtl_mpi_frame *f)
{
  errors e = {.replaced = false};
  MPI_Errhandler own;
  if (!WTL_MPI_IS_MPICH || f->comm == MPI_COMM_NULL || wtl_mpi_self->door.is_shared) return e;
  PMPI_Comm_get_errhandler(f->comm, &own);
  if (own == MPI_ERRORS_ARE_FATAL) return e;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &e.world);
  e.calls_handler = own != e.world || !is_of_mpi(own);
  e.replaced = e.calls_handler && e.world != MPI_ERRORS_RETURN;
  if (e.replaced) PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (!e.replaced) free_handler(e.world);
  free_handler(own);
  return e;
}

static void restore_handler(const wtl_mpi_frame *f, errors *e, int rc)
{
  if (e->replaced) {
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, e->world);
    free_handler(e->world);
  }
  if (e->calls_handler && rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(f->comm, rc);
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

int wtl_mpi_finish(wtl_mpi_frame *f, MPI_Request *request, MPI_Status *status)
{
  of_c a = {request, status, MPI_SUCCESS};
  errors e = replace_handler(f);
  wtl_mpi_wait(f, test, &a);
  restore_handler(f, &e, a.rc);
  return a.rc;
}

#ifndef WTL_SIM /* the companion calls Fortran's entries (simulated.h) */

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

MPI_Fint wtl_mpi_finish_f(wtl_mpi_frame *f, int language, MPI_Fint *request, void *status)
{
  of_fortran a = {.request = request, .status = status, .rc = MPI_SUCCESS};
  *(void **)&a.test = wtl_mpi_real[language][WTL_MPI_Test];
  errors e = replace_handler(f);
  wtl_mpi_wait(f, test_f, &a);
  restore_handler(f, &e, a.rc);
  return a.rc;
}

#endif
