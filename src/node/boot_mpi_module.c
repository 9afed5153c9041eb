/*
 * boot_mpi_module.c - the MPI calls of boot, compiled once for each MPI into a module.
 *
 * If MPI has sessions (version 4) and the program may call MPI itself, boot opens a session. The program's MPI_Init and
 * MPI_Finalize may then come before or after it, in any order. Otherwise boot shares the program's MPI_Init, or calls
 * it itself; the program must not call it after that.
 *
 * Boot calls MPI by its PMPI_ names, so that tools do not count its calls as the program's.
 */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "node/boot_mpi_comm.h"

/* The standard interface of MPI 5 may belong to either MPI. Then MPICH's launchers are recognized by PMI. */
#if defined(MPICH_VERSION)
#define IS_MPICH true
#elif defined(WTL_MPI_ABI)
#define IS_MPICH (getenv("PMI_FD") != NULL)
#else
#define IS_MPICH false
#endif

static struct {
  bool shared;      /* the program may call MPI too */
  bool in_job;      /* between start and stop */
  bool initialised; /* MPI_Init was called here */
  bool in_session;  /* a session was opened here */
  bool ended;       /* the MPI or the session begun here has ended */
  bool has_comm;
  MPI_Comm comm;
  bool is_confined;   /* the job is restricted to a part of the program's processes */
  MPI_Comm part;      /* their communicator: the program's, and a copy once the job has started */
  bool saved_for_all; /* comm_of_all is kept for a later job of all processes */
  MPI_Comm comm_of_all;
#if MPI_VERSION >= 4
  MPI_Session session;
#endif
  pid_t pid;
} self;

/* --- MPI as the program sees it --- */

static bool program_uses_mpi(void)
{
  int up = 0, down = 0;
  PMPI_Initialized(&up);
  PMPI_Finalized(&down);
  return up && !down;
}

static bool is_usable(void)
{
  return self.has_comm && !self.ended && (self.in_session || program_uses_mpi());
}

static int failed(char *error, size_t size, const char *what, int rc)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (PMPI_Error_string(rc, text, &length) != MPI_SUCCESS) snprintf(text, sizeof text, "error %d", rc);
  snprintf(error, size, "boot by MPI: %s failed: %s", what, text);
  return -1;
}

/* --- waiting --- */

static void pause_for(long us)
{
  nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* MPI itself would spin until the last process arrives. */
static int wait_for(MPI_Request *request)
{
  enum { LONGEST_US = 1000 };
  int done = 0, rc;
  for (long us = 0;; us = us < LONGEST_US / 2 ? us + us / 2 + 1 : LONGEST_US) {
    if ((rc = PMPI_Test(request, &done, MPI_STATUS_IGNORE)) != MPI_SUCCESS || done) return rc;
    if (us < 20)
      sched_yield();
    else
      pause_for(us);
  }
}

static int barrier(MPI_Comm comm)
{
  MPI_Request request;
  int rc = PMPI_Ibarrier(comm, &request);
  return rc == MPI_SUCCESS ? wait_for(&request) : rc;
}

/* --- the end of the job --- */

/* Sends the status to the launcher by PMI's first version. The connection lives as long as MPI does. */
static bool send_abort(int status)
{
  const char *number = getenv("PMI_FD");
  int fd = number ? atoi(number) : -1;
  char line[64];
  int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
  return is_usable() && fd >= 0 &&
         send(fd, line, (size_t)n, MSG_NOSIGNAL) == n; /* send fails on anything but a socket */
}

/* Prints nothing, and works in any thread and at any moment. MPI_Abort does neither. */
static bool abort_by_hydra(int status)
{
  return getenv("MPI_LOCALRANKID") && send_abort(status);
}

/* A shell sees 8 bits, and a failure must not look like success. */
static int as_exit_code(int status)
{
  return status && !(status & 255) ? 1 : status;
}

static void do_abort(int status)
{
  status = as_exit_code(status);
  if (abort_by_hydra(status)) return;
  if (program_uses_mpi()) PMPI_Abort(MPI_COMM_WORLD, status);
  if (IS_MPICH)
    send_abort(status); /* MPI_Abort hangs on a session's communicator (MPICH 4.0) */
  else if (is_usable())
    PMPI_Abort(self.comm, status);
}

static void finalise(void)
{
  if (!is_usable()) return;
  self.ended = true;
  PMPI_Comm_free(&self.comm);
  self.has_comm = false;
#if MPI_VERSION >= 4
  if (self.in_session) PMPI_Session_finalize(&self.session);
#endif
  if (self.initialised) PMPI_Finalize();
}

/*
 * A program that ends in the middle of a job must not wait for the other processes here. MPICH's launchers get the
 * status by PMI. Without it, Hydra mixes the statuses of the processes it kills into the job's exit code, and srun
 * kills no process. Open MPI's mpirun handles both correctly.
 */
static void at_exit(int status, void *arg)
{
  if (self.pid != getpid()) return; /* a forked child */
  if (IS_MPICH && self.in_job && status != 0) do_abort(status);
  if (!self.in_job && (self.initialised || self.in_session)) finalise();
}

/* --- start --- */

#if MPI_VERSION >= 4
static int open_session(char *error, size_t size)
{
  MPI_Info info;
  MPI_Group world;
  int rc;
  if (program_uses_mpi() && (rc = barrier(MPI_COMM_WORLD)) != MPI_SUCCESS)
    return failed(error, size, "MPI_Ibarrier", rc);
  PMPI_Info_create(&info);
  PMPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"); /* the program may ask for it later */
  rc = PMPI_Session_init(info, MPI_ERRORS_RETURN, &self.session);
  PMPI_Info_free(&info);
  if (rc != MPI_SUCCESS) return failed(error, size, "MPI_Session_init", rc);
  self.in_session = true;
  if ((rc = PMPI_Group_from_session_pset(self.session, "mpi://WORLD", &world)) != MPI_SUCCESS)
    return failed(error, size, "MPI_Group_from_session_pset", rc);
  rc = PMPI_Comm_create_from_group(world, "wattle.boot", MPI_INFO_NULL, MPI_ERRORS_RETURN, &self.comm);
  PMPI_Group_free(&world);
  return rc == MPI_SUCCESS ? 0 : failed(error, size, "MPI_Comm_create_from_group", rc);
}
#endif

static int duplicate(MPI_Comm comm, MPI_Comm *copy, char *error, size_t size)
{
  MPI_Request request;
  int rc;
  if ((rc = PMPI_Comm_idup(comm, copy, &request)) != MPI_SUCCESS || (rc = wait_for(&request)) != MPI_SUCCESS)
    return failed(error, size, "MPI_Comm_idup", rc);
  return 0;
}

static int duplicate_world(char *error, size_t size)
{
  int given, rc;
  if (!program_uses_mpi()) {
    if ((rc = PMPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given)) != MPI_SUCCESS)
      return failed(error, size, "MPI_Init_thread", rc);
    self.initialised = true;
  }
  if ((rc = duplicate(MPI_COMM_WORLD, &self.comm, error, size)) != 0) return rc;
  PMPI_Comm_set_errhandler(self.comm, MPI_ERRORS_RETURN);
  return 0;
}

static int join(bool shared, char *error, size_t size)
{
  int down = 0;
  PMPI_Finalized(&down);
  if (down) { /* MPICH 4.0 crashes in MPI_Session_init */
    snprintf(error, size, "boot by MPI: the program has finalised MPI already: call shmem_init before MPI_Finalize");
    return -1;
  }
#if MPI_VERSION >= 4
  if (shared) return open_session(error, size);
#endif
  return duplicate_world(error, size);
}

/* Joins a job of a part of the program's processes. MPI belongs to the program, so no session is needed. */
static int join_part(char *error, size_t size)
{
  MPI_Comm boots;
  int rc;
  if ((rc = duplicate(self.part, &boots, error, size)) != 0) return rc;
  if ((rc = duplicate(boots, &self.part, error, size)) != 0) return rc; /* the program may free its own */
  PMPI_Comm_set_errhandler(boots, MPI_ERRORS_RETURN);
  self.saved_for_all = self.has_comm;
  self.comm_of_all = self.comm;
  self.comm = boots;
  return 0;
}

static void leave_part(void)
{
  PMPI_Comm_free(&self.comm);
  PMPI_Comm_free(&self.part);
  self.comm = self.comm_of_all;
  self.has_comm = self.saved_for_all;
  self.is_confined = false;
}

static int start(bool shared, int *rank, int *n, char *error, size_t size)
{
  int rc;
  if (self.ended) {
    snprintf(error, size,
             "shmem_init after the last shmem_finalize: under a launcher the library starts once. Earlier calls of "
             "shmem_init may be repeated, each with its own shmem_finalize");
    return -1;
  }
  if (self.is_confined)
    rc = join_part(error, size);
  else
    rc = is_usable() ? 0 : join(shared, error, size);
  if (rc != 0) return rc;
  if (!self.pid) on_exit(at_exit, NULL);
  self.has_comm = true;
  self.shared = shared;
  self.in_job = true;
  self.pid = getpid();
  PMPI_Comm_rank(self.comm, rank);
  PMPI_Comm_size(self.comm, n);
  return 0;
}

/* --- exchange --- */

/* Computes the start of each process's bytes from the lengths, for MPI and for the caller. Returns -1 if a start
 * exceeds INT_MAX. */
static int lay_out(const int *lengths, int n, int *starts, size_t *at)
{
  at[0] = 0;
  for (int i = 0; i < n; i++) {
    starts[i] = (int)at[i];
    at[i + 1] = at[i] + (size_t)lengths[i];
    if (at[i + 1] > INT_MAX) return -1;
  }
  return 0;
}

static int gather(const void *mine, int bytes, const int *lengths, const int *starts, char *all)
{
  MPI_Request request;
  int rc = PMPI_Iallgatherv(mine, bytes, MPI_BYTE, all, lengths, starts, MPI_BYTE, self.comm, &request);
  return rc == MPI_SUCCESS ? wait_for(&request) : rc;
}

/* Copies the bytes without MPI, whose progress crashes in a session of one process (MPICH 4.0). */
static int keep(const void *mine, size_t bytes, char **all, size_t *at)
{
  at[0] = 0;
  at[1] = bytes;
  if (bytes == 0) return 0;
  if (!(*all = malloc(bytes))) return -1;
  memcpy(*all, mine, bytes);
  return 0;
}

static int exchange(const void *mine, size_t bytes, char **all, size_t *at)
{
  MPI_Request request;
  int n, length = bytes <= INT_MAX ? (int)bytes : -1, rc = -1;
  *all = NULL;
  if (!is_usable() || PMPI_Comm_size(self.comm, &n) != MPI_SUCCESS) return -1;
  if (n == 1) return keep(mine, bytes, all, at);
  int *lengths = calloc(2 * (size_t)n, sizeof *lengths), *starts = lengths ? lengths + n : NULL;
  if (lengths && length >= 0 &&
      PMPI_Iallgather(&length, 1, MPI_INT, lengths, 1, MPI_INT, self.comm, &request) == MPI_SUCCESS &&
      wait_for(&request) == MPI_SUCCESS)
    rc = lay_out(lengths, n, starts, at);
  if (rc == 0 && at[n] > 0) {
    *all = malloc(at[n]);
    rc = *all && gather(mine, length, lengths, starts, *all) == MPI_SUCCESS ? 0 : -1;
  }
  free(lengths);
  if (rc == 0) return 0;
  free(*all);
  *all = NULL;
  return -1;
}

static void stop(void)
{
  self.in_job = false;
  if (!is_usable()) return;
  if (self.is_confined) {
    leave_part();
  } else if (!self.shared) {
    barrier(self.comm); /* MPI ends with the process, so that the library may start again */
  } else if (!self.initialised && !self.in_session) {
    PMPI_Comm_free(&self.comm); /* the program finalizes its own MPI */
    self.has_comm = false;
  }
}

MPI_Comm wtl_boot_mpi_comm(void)
{
  return is_usable() ? self.comm : MPI_COMM_NULL;
}

bool wtl_boot_mpi_comm_is_apart(void)
{
  return self.in_session;
}

/* --- the program's communicators --- */

static bool confine(const void *comm)
{
  MPI_Comm part;
  int comparison = MPI_UNEQUAL;
  memcpy(&part, comm, sizeof part);
  PMPI_Comm_compare(part, MPI_COMM_WORLD, &comparison);
  if (comparison == MPI_IDENT || comparison == MPI_CONGRUENT) return false;
  self.part = part;
  self.is_confined = true;
  return true;
}

static bool is_confined(void)
{
  return self.is_confined;
}

static MPI_Comm comm_of_job(void)
{
  return self.is_confined ? self.part : MPI_COMM_WORLD;
}

static int in_use(void)
{
  int n = 0;
  if (program_uses_mpi()) PMPI_Comm_size(comm_of_job(), &n);
  return n;
}

static int rank_in_job(void)
{
  int rank = 0;
  PMPI_Comm_rank(comm_of_job(), &rank);
  return rank;
}

static void comm_world(void *comm)
{
  memcpy(comm, &(MPI_Comm){comm_of_job()}, sizeof(MPI_Comm));
}

static int comm_make(const int *ranks, int n, void *comm)
{
  enum { TAG = 0x5761 }; /* other processes may make one at the same time; the same processes make them in one order */
  MPI_Comm made;
  MPI_Group world, members;
  if (PMPI_Comm_group(comm_of_job(), &world) != MPI_SUCCESS) return -1;
  int rc = PMPI_Group_incl(world, n, ranks, &members);
  PMPI_Group_free(&world);
  if (rc != MPI_SUCCESS) return -1;
  rc = PMPI_Comm_create_group(comm_of_job(), members, TAG, &made);
  PMPI_Group_free(&members);
  if (rc != MPI_SUCCESS) return -1;
  memcpy(comm, &made, sizeof made);
  return 0;
}

static void comm_free(void *comm)
{
  static const char none[sizeof(MPI_Comm)];
  MPI_Comm made;
  if (memcmp(comm, none, sizeof none) == 0) return;
  memcpy(&made, comm, sizeof made);
  PMPI_Comm_free(&made);
  memcpy(comm, none, sizeof none);
}

static bool began_here; /* MPI_Init was called here for the program */

static void init(int *argc, char ***argv)
{
  int up = 0, given;
  PMPI_Initialized(&up);
  if (up) return;
  PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &given);
  began_here = true;
}

static void finalize(void)
{
  if (began_here && program_uses_mpi()) PMPI_Finalize();
  began_here = false;
}

static bool is_threaded(void)
{
  int given = MPI_THREAD_SINGLE;
  if (began_here || self.initialised || !program_uses_mpi()) return false;
  PMPI_Query_thread(&given);
  return given == MPI_THREAD_MULTIPLE;
}

const wtl_mpi_ops wtl_mpi_module = {
    WTL_MPI_OPS_VERSION, in_use,    rank_in_job, confine, is_confined, start,      exchange, do_abort, stop,
    comm_world,          comm_make, comm_free,   init,    finalize,    is_threaded};
