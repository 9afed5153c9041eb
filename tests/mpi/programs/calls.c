/*
 * Every MPI call that the preload library knows, with its result checked. Runs with and without it; prints nothing but
 * a last line. usage: calls FILE (a path that all processes may write to); on 3 processes or more.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };
static int me, n;
static MPI_Comm comm, ring;
static const char *file_name;

#define CHECK(what)                                                                                                    \
  do {                                                                                                                 \
    if (!(what)) {                                                                                                     \
      fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, me, #what);                                  \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                    \
    }                                                                                                                  \
  } while (0)
#define TRY(call) CHECK((call) == MPI_SUCCESS)

#define CALL(name) MPI_##name
#define FORM(name) name
#define COUNT int
#define DISPL int
#include "counted.inc"
#undef CALL
#undef FORM
#undef COUNT
#undef DISPL
#if MPI_VERSION >= 4
#define CALL(name) MPI_##name##_c
#define FORM(name) name##_large
#define COUNT MPI_Count
#define DISPL MPI_Aint
#include "counted.inc"
#endif

/* The request for a message that `from` sends when it gets a word for it. */
static MPI_Request receive(int *in, int from, int tag)
{
  MPI_Request r;
  TRY(MPI_Irecv(in, 1, MPI_INT, from, tag, comm, &r));
  return r;
}

static void requests(void)
{
  int to = (me + 1) % n, from = (me + n - 1) % n, in[4] = {0}, out[4] = {1, 2, 3, 4}, flag = 0, index, done, at[4];
  MPI_Request r[4], s[4];
  MPI_Status status, statuses[4];
  MPI_Message m;
  for (int i = 0; i < 4; i++) r[i] = receive(&in[i], from, i);
  usleep(me == 0 ? 20000 : 0); /* the others wait long enough to sleep */
  for (int i = 0; i < 4; i++) TRY(MPI_Isend(&out[i], 1, MPI_INT, to, i, comm, &s[i]));
  TRY(MPI_Wait(&r[0], &status));
  CHECK(in[0] == 1 && status.MPI_TAG == 0 && r[0] == MPI_REQUEST_NULL);
  TRY(MPI_Wait(&r[0], &status)); /* of nothing */
  CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
  TRY(MPI_Waitany(4, r, &index, &status));
  CHECK(index >= 1 && index <= 3 && in[index] == out[index] && status.MPI_TAG == index);
  TRY(MPI_Waitsome(4, r, &done, at, statuses));
  CHECK(done >= 1 && done <= 2);
  TRY(MPI_Waitall(4, r, statuses));
  TRY(MPI_Waitsome(4, r, &done, at, statuses));
  CHECK(done == MPI_UNDEFINED);
  TRY(MPI_Waitany(4, r, &index, &status));
  CHECK(index == MPI_UNDEFINED);
  CHECK(in[1] == 2 && in[2] == 3 && in[3] == 4);
  TRY(MPI_Waitall(4, s, MPI_STATUSES_IGNORE));
  TRY(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 4; i++) r[i] = receive(&in[i], from, i);
  for (int i = 0; i < 4; i++) TRY(MPI_Isend(&out[i], 1, MPI_INT, to, i, comm, &s[i]));
  memset(statuses, 0x5a, sizeof statuses);
  TRY(MPI_Waitall(4, r, statuses));
  for (int i = 0; i < 4; i++)
    CHECK(statuses[i].MPI_SOURCE == from && statuses[i].MPI_TAG == i && r[i] == MPI_REQUEST_NULL);
  TRY(MPI_Waitall(4, s, MPI_STATUSES_IGNORE));
#if MPI_VERSION >= 4
  TRY(MPI_Precv_init(in, 2, 2, MPI_INT, from, 50, comm, MPI_INFO_NULL, &r[0]));
  TRY(MPI_Psend_init(out, 2, 2, MPI_INT, to, 50, comm, MPI_INFO_NULL, &r[1]));
  for (int i = 0; i < 3; i++) {
    out[3] = i;
    TRY(MPI_Startall(2, r));
    for (int part = 0; part < 2; part++) TRY(MPI_Pready(part, r[1]));
    TRY(MPI_Waitall(2, r, i ? statuses : MPI_STATUSES_IGNORE));
    CHECK(in[0] == out[0] && in[3] == i);
  }
  out[3] = 4;
  for (int i = 0; i < 2; i++) TRY(MPI_Request_free(&r[i]));
#endif
  /* The program's own tests. */
  for (int i = 0; i < 4; i++) r[i] = receive(&in[i], from, 10 + i);
  TRY(MPI_Barrier(comm));
  for (int i = 0; i < 4; i++) TRY(MPI_Isend(&out[i], 1, MPI_INT, to, 10 + i, comm, &s[i]));
  for (flag = 0; !flag;) TRY(MPI_Request_get_status(r[0], &flag, &status));
  for (flag = 0; !flag;) TRY(MPI_Test(&r[0], &flag, &status));
  for (flag = 0; !flag;) TRY(MPI_Testany(4, r, &index, &flag, &status));
  for (done = 0; !done;) TRY(MPI_Testsome(4, r, &done, at, statuses));
  for (flag = 0; !flag;) TRY(MPI_Testall(4, r, &flag, statuses));
  TRY(MPI_Waitall(4, s, MPI_STATUSES_IGNORE));
  /* Probes. */
  TRY(MPI_Isend(out, 1, MPI_INT, to, 20, comm, &s[0]));
  TRY(MPI_Probe(MPI_ANY_SOURCE, 20, comm, &status));
  CHECK(status.MPI_SOURCE == from && status.MPI_TAG == 20);
  TRY(MPI_Recv(in, 1, MPI_INT, from, 20, comm, MPI_STATUS_IGNORE));
  TRY(MPI_Wait(&s[0], MPI_STATUS_IGNORE));
  TRY(MPI_Isend(out, 1, MPI_INT, to, 21, comm, &s[0]));
  for (flag = 0; !flag;) TRY(MPI_Iprobe(from, 21, comm, &flag, &status));
  for (flag = 0; !flag;) TRY(MPI_Improbe(from, 21, comm, &flag, &m, &status));
  TRY(MPI_Mrecv(in, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
  TRY(MPI_Wait(&s[0], MPI_STATUS_IGNORE));
  /* Persistent ones. */
  TRY(MPI_Recv_init(in, 1, MPI_INT, from, 30, comm, &r[0]));
  TRY(MPI_Send_init(out, 1, MPI_INT, to, 30, comm, &r[1]));
  for (int i = 0; i < 3; i++) {
    out[0] = i;
    TRY(MPI_Start(&r[0]));
    TRY(MPI_Startall(1, &r[1]));
    TRY(MPI_Wait(&r[0], &status));
    TRY(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    CHECK(in[0] == i && r[0] != MPI_REQUEST_NULL);
  }
  TRY(MPI_Request_free(&r[0]));
  TRY(MPI_Request_free(&r[1]));
}

static void errors(void)
{
  int in[2] = {0}, out[4] = {1, 2, 3, 4}, class, to = (me + 1) % n, from = (me + n - 1) % n, level;
  MPI_Request s;
  MPI_Comm quiet;
  TRY(MPI_Query_thread(&level));
  if (level == MPI_THREAD_MULTIPLE) /* MPICH 4.0's MPI_Wait and MPI_Test use this handler then (docs/mpi.md) */
    TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  TRY(MPI_Comm_dup(comm, &quiet));
  TRY(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
  TRY(MPI_Isend(out, 4, MPI_INT, to, 1, quiet, &s));
  int rc = MPI_Recv(in, 2, MPI_INT, from, 1, quiet, MPI_STATUS_IGNORE);
  MPI_Error_class(rc, &class);
  CHECK(class == MPI_ERR_TRUNCATE);
  TRY(MPI_Wait(&s, MPI_STATUS_IGNORE));
  rc = MPI_Send(out, 1, MPI_INT, n + 5, 1, quiet);
  MPI_Error_class(rc, &class);
  CHECK(class == MPI_ERR_RANK);
  rc = MPI_Bcast(out, 1, MPI_DATATYPE_NULL, 0, quiet);
  MPI_Error_class(rc, &class);
  CHECK(class == MPI_ERR_TYPE);
  TRY(MPI_Comm_free(&quiet));
}

static void communicators(void)
{
  MPI_Comm a, b, c;
  MPI_Group world, few;
  int rank, size, ranks[2] = {0, 1}, dims[1] = {n}, period[1] = {1}, index[MOST], edges[2 * MOST];
  TRY(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &a));
  TRY(MPI_Comm_free(&a));
  MPI_Request r;
  TRY(MPI_Comm_idup(comm, &a, &r));
  TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
  TRY(MPI_Comm_free(&a));
#if MPI_VERSION >= 4
  TRY(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &a, &r));
  TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
  TRY(MPI_Comm_disconnect(&a));
#endif
  TRY(MPI_Comm_split(comm, me % 2, me, &a));
  TRY(MPI_Comm_size(a, &size));
  CHECK(size == (n + 1 - me % 2) / 2);
  TRY(MPI_Intercomm_create(a, 0, comm, 1 - me % 2, 5, &b));
  int value = me, sum = 0, expected = 0;
  TRY(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, b)); /* of the other side */
  for (int i = 1 - me % 2; i < n; i += 2) expected += i;
  CHECK(sum == expected);
  value = me == 1 ? 9 : 0;
  TRY(MPI_Bcast(&value, 1, MPI_INT, me % 2 == 0 ? 0 : me == 1 ? MPI_ROOT : MPI_PROC_NULL, b));
  CHECK(me % 2 != 0 || value == 9);
  TRY(MPI_Intercomm_merge(b, me % 2, &c));
  TRY(MPI_Comm_size(c, &size));
  CHECK(size == n);
  TRY(MPI_Comm_free(&c));
  TRY(MPI_Comm_disconnect(&b));
  TRY(MPI_Comm_free(&a));
  TRY(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &a));
  TRY(MPI_Comm_rank(a, &rank));
  TRY(MPI_Comm_free(&a));
  TRY(MPI_Comm_group(comm, &world));
  TRY(MPI_Group_incl(world, 2, ranks, &few));
  TRY(MPI_Comm_create(comm, few, &a));
  CHECK((a != MPI_COMM_NULL) == (me < 2));
  if (a != MPI_COMM_NULL) TRY(MPI_Comm_free(&a));
  if (me < 2) {
    TRY(MPI_Comm_create_group(comm, few, 3, &a));
    TRY(MPI_Barrier(a));
    TRY(MPI_Comm_free(&a));
  }
  TRY(MPI_Group_free(&few));
  TRY(MPI_Group_free(&world));
  TRY(MPI_Cart_create(comm, 1, dims, period, 0, &a));
  int in[2], out[2] = {me, me};
  TRY(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, a));
  CHECK(in[0] == (me + n - 1) % n && in[1] == (me + 1) % n);
  TRY(MPI_Cart_sub(a, (int[]){1}, &b));
  MPI_Comm_size(b, &size);
  CHECK(size == n);
  TRY(MPI_Comm_free(&b));
  TRY(MPI_Comm_free(&a));
  TRY(MPI_Dist_graph_create(comm, 1, &me, (int[]){1}, (int[]){(me + 1) % n}, (int[]){1}, MPI_INFO_NULL, 0, &a));
  TRY(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, a));
  CHECK(in[0] == (me + n - 1) % n);
  TRY(MPI_Comm_free(&a));
  for (int i = 0; i < n; i++) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + n - 1) % n;
    edges[2 * i + 1] = (i + 1) % n;
  }
  TRY(MPI_Graph_create(comm, n, index, edges, 0, &a));
  TRY(MPI_Neighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, a));
  CHECK(in[0] == (me + n - 1) % n && in[1] == (me + 1) % n);
  TRY(MPI_Comm_free(&a));
}

static void windows(void)
{
  MPI_Win win;
  MPI_Group world, before, after;
  int data[2] = {0, 0}, to = (me + 1) % n, from = (me + n - 1) % n, value = 7 + me, flag, *shared;
  TRY(MPI_Win_create(data, sizeof data, sizeof(int), MPI_INFO_NULL, comm, &win));
  TRY(MPI_Comm_group(comm, &world));
  TRY(MPI_Group_incl(world, 1, &from, &before));
  TRY(MPI_Group_incl(world, 1, &to, &after));
  for (int i = 0; i < 2; i++) {
    TRY(MPI_Win_post(before, 0, win));
    TRY(MPI_Win_start(after, 0, win));
    usleep(me == 0 ? 10000 : 0);
    TRY(MPI_Put(&value, 1, MPI_INT, to, i, 1, MPI_INT, win));
    TRY(MPI_Win_complete(win));
    if (i == 0)
      TRY(MPI_Win_wait(win));
    else
      for (flag = 0; !flag;) TRY(MPI_Win_test(win, &flag));
  }
  CHECK(data[0] == 7 + from && data[1] == 7 + from);
  TRY(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
  TRY(MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, win));
  TRY(MPI_Win_unlock(to, win));
  TRY(MPI_Barrier(comm));
  TRY(MPI_Group_free(&world));
  TRY(MPI_Group_free(&before));
  TRY(MPI_Group_free(&after));
  TRY(MPI_Win_free(&win));
  TRY(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &shared, &win));
  TRY(MPI_Win_free(&win));
  TRY(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
  TRY(MPI_Win_free(&win));
#if MPI_VERSION >= 4
  TRY(MPI_Win_create_c(data, sizeof data, sizeof(int), MPI_INFO_NULL, comm, &win));
  TRY(MPI_Win_free(&win));
  TRY(MPI_Win_allocate_shared_c(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &shared, &win));
  TRY(MPI_Win_free(&win));
#endif
}

static int asked;

static int query(void *state, MPI_Status *status)
{
  asked++;
  MPI_Status_set_elements(status, MPI_INT, *(int *)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

static int let_go(void *state)
{
  *(int *)state = 0;
  return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
  return MPI_SUCCESS;
}

/* A request of the program's own is asked for its status once by each call, as in the plain program. */
static void general_requests(void)
{
  int elements = 3, got = 0;
  MPI_Request r[2];
  MPI_Status s[2];
  TRY(MPI_Grequest_start(query, let_go, cancel, &elements, &r[0]));
  TRY(MPI_Irecv(&got, 1, MPI_INT, (me + n - 1) % n, 0, comm, &r[1]));
  TRY(MPI_Send(&me, 1, MPI_INT, (me + 1) % n, 0, comm));
  TRY(MPI_Grequest_complete(r[0]));
  TRY(MPI_Waitall(2, r, s));
  CHECK(asked == 1 && elements == 0 && got == (me + n - 1) % n);
  TRY(MPI_Get_elements(&s[0], MPI_INT, &elements));
  CHECK(elements == 3);
}

int main(int argc, char **argv)
{
  static char buffer[65536];
  void *detached;
  int size, sources[2], weights[2] = {1, 1};
  MPI_Request r;
  file_name = argc > 1 ? argv[1] : "calls.bin";
  MPI_Init(&argc, &argv);
  TRY(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  CHECK(n >= 3 && n <= MOST);
  TRY(MPI_Buffer_attach(buffer, sizeof buffer));
  sources[0] = (me + n - 1) % n;
  sources[1] = (me + 1) % n;
  TRY(MPI_Dist_graph_create_adjacent(comm, 2, sources, weights, 2, sources, weights, MPI_INFO_NULL, 0, &ring));
  TRY(MPI_Ibarrier(comm, &r));
  TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
  between_two();
  collectives(0);
  collectives(1);
  one_sided();
  files();
#if MPI_VERSION >= 4
  between_two_large();
  collectives_large(0);
  collectives_large(1);
  one_sided_large();
  files_large();
#endif
  requests();
  errors();
  communicators();
  windows();
  general_requests();
  TRY(MPI_Buffer_detach(&detached, &size));
  CHECK(detached == buffer);
#if MPI_VERSION >= 4
  MPI_Count bytes;
  TRY(MPI_Buffer_attach(buffer, sizeof buffer));
  TRY(MPI_Buffer_detach_c(&detached, &bytes));
  CHECK(detached == buffer && bytes == sizeof buffer);
#endif
  TRY(MPI_Comm_free(&ring));
  TRY(MPI_Comm_free(&comm));
  if (me == 0) puts("all as it should be");
  MPI_Finalize();
  return 0;
}
