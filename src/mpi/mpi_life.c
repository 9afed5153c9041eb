/* mpi_life.c - MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Abort in each language, and two calls of MPICH. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/mpi_front.h"
#include "mpi/transport_names.h"

void *wtl_mpi_real[WTL_MPI_LANGUAGES][WTL_MPI_N_CALLS];

/* Finds an entry by the patterns of its name in Open MPI and MPICH. */
static void *find(const char *const patterns[], const char *name)
{
  char full[128];
  void *found = NULL;
  for (int i = 0; patterns[i] && !found; i++) {
    snprintf(full, sizeof full, patterns[i], name);
    found = dlsym(RTLD_DEFAULT, full);
  }
  return found;
}

void wtl_mpi_find_fortran(void)
{
  static const char *const f[] = {"pmpi_%s_", NULL};
  static const char *const f8[] = {"pmpi_%s_f08_", "pmpir_%s_f08ts_", "pmpir_%s_f08_", NULL};
  if (wtl_mpi_real[WTL_MPI_IN_F][WTL_MPI_Init] || !dlsym(RTLD_DEFAULT, "pmpi_init_")) return;
  for (size_t i = 0; i < wtl_mpi_n_fortran_names; i++) {
    const wtl_mpi_fortran_name *n = &wtl_mpi_fortran_names[i];
    wtl_mpi_real[WTL_MPI_IN_F][n->call] = find(f, n->name);
    wtl_mpi_real[WTL_MPI_IN_F8][n->call] = find(f8, n->name);
  }
}

static wtl_mpi_rank *made; /* for wtl_mpi_start; NULL: the process works without the library */

/* Counts this process. Open MPI then calls sched_yield when it is idle (yield_hook.c). A value that the user has set is
 * kept. */
static void before_start(void)
{
  if (!made && !(made = wtl_mpi_rank_make())) return;
  wtl_mpi_members_count();
  wtl_mpi_transport_start();
  wtl_mpi_hook_ucx_progress();
  wtl_mpi_here.yields = true;
  if (WTL_MPI_IS_OPEN_MPI) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/* Open MPI's MPI_Init of Fortran calls that of C through this library, which has then begun already. */
static void started(int rc)
{
  int level = MPI_THREAD_SINGLE;
  wtl_mpi_rank *self = made;
  if (rc == MPI_SUCCESS && self) {
    made = NULL;
    PMPI_Query_thread(&level);
    wtl_mpi_hook_ucx_progress();
    wtl_mpi_start(self, level);
  }
  wtl_mpi_here.yields = false;
}

int wtl_c_Init(int *argc, char ***argv)
{
  before_start();
  int rc = PMPI_Init(argc, argv);
  started(rc);
  return rc;
}

int wtl_c_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  before_start();
  int rc = PMPI_Init_thread(argc, argv, required, provided);
  started(rc);
  return rc;
}

int wtl_c_Finalize(void)
{
  wtl_mpi_stop(WTL_ORIGIN);
  wtl_mpi_here.yields = true;
  return PMPI_Finalize();
}

int wtl_c_Abort(MPI_Comm comm, int code)
{
  wtl_mpi_abandon();
  return PMPI_Abort(comm, code);
}

#ifdef MPICH_VERSION

/* Makes a request with a polling function of the program (mpi_front.h). */
int wtl_x_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *let_go,
                         MPI_Grequest_cancel_function *cancel, MPIX_Grequest_poll_function *poll,
                         MPIX_Grequest_wait_function *wait, void *state, MPI_Request *request)
{
  if (wtl_mpi_self) wtl_mpi_keep_waitall();
  return PMPIX_Grequest_start(query, let_go, cancel, poll, wait, state, request);
}

int wtl_x_Grequest_class_allocate(MPIX_Grequest_class class, void *state, MPI_Request *request)
{
  if (wtl_mpi_self) wtl_mpi_keep_waitall();
  return PMPIX_Grequest_class_allocate(class, state, request);
}

#endif

typedef void call0(MPI_Fint *);
typedef void call2(void *, void *, MPI_Fint *);

static void answer(MPI_Fint *ierror, MPI_Fint rc)
{
  if (ierror) *ierror = rc; /* optional in mpi_f08 */
}

static void init(int language, MPI_Fint *ierror)
{
  MPI_Fint rc = MPI_SUCCESS;
  before_start();
  ((call0 *)wtl_mpi_real[language][WTL_MPI_Init])(&rc);
  started(rc);
  answer(ierror, rc);
}

static void init_thread(int language, void *required, void *provided, MPI_Fint *ierror)
{
  MPI_Fint rc = MPI_SUCCESS;
  before_start();
  ((call2 *)wtl_mpi_real[language][WTL_MPI_Init_thread])(required, provided, &rc);
  started(rc);
  answer(ierror, rc);
}

static void finalize(int language, wtl_origin from, MPI_Fint *ierror)
{
  MPI_Fint rc = MPI_SUCCESS;
  wtl_mpi_stop(from);
  wtl_mpi_here.yields = true;
  ((call0 *)wtl_mpi_real[language][WTL_MPI_Finalize])(&rc);
  answer(ierror, rc);
}

static void abort_all(int language, void *comm, void *code, MPI_Fint *ierror)
{
  MPI_Fint rc = MPI_SUCCESS;
  wtl_mpi_abandon();
  ((call2 *)wtl_mpi_real[language][WTL_MPI_Abort])(comm, code, &rc);
  answer(ierror, rc);
}

void wtl_f_Init(MPI_Fint *ierror)
{
  init(WTL_MPI_IN_F, ierror);
}

void wtl_f8_Init(MPI_Fint *ierror)
{
  init(WTL_MPI_IN_F8, ierror);
}

void wtl_f_Init_thread(void *required, void *provided, MPI_Fint *ierror)
{
  init_thread(WTL_MPI_IN_F, required, provided, ierror);
}

void wtl_f8_Init_thread(void *required, void *provided, MPI_Fint *ierror)
{
  init_thread(WTL_MPI_IN_F8, required, provided, ierror);
}

void wtl_f_Finalize(MPI_Fint *ierror)
{
  finalize(WTL_MPI_IN_F, WTL_ORIGIN, ierror);
}

void wtl_f8_Finalize(MPI_Fint *ierror)
{
  finalize(WTL_MPI_IN_F8, WTL_ORIGIN, ierror);
}

void wtl_f_Abort(void *comm, void *code, MPI_Fint *ierror)
{
  abort_all(WTL_MPI_IN_F, comm, code, ierror);
}

void wtl_f8_Abort(void *comm, void *code, MPI_Fint *ierror)
{
  abort_all(WTL_MPI_IN_F8, comm, code, ierror);
}
