/*
 * transport_mpi.c - the transport by MPI: messages by two-sided calls. It is compiled once for each MPI, into the
 * module that also boots by it (node/boot_mpi_module.c), so it uses the MPI of this process.
 *
 * DESIGN. It has two communicators of its own. On `control` each message begins, as | lead | header | data |, in the
 * order of sending, which MPI keeps. Data that are sent later follow on `bulk`. There the n-th receive from a PE
 * matches the n-th send of that PE. So for each message that announces data a receive is posted, in the order of
 * arrival, even if the data are dropped.
 *
 * MPI has no descriptor that becomes readable. A timer wakes a thread that sleeps, after a sixteenth of the time in
 * which nothing has moved. So no wait becomes longer by more than that.
 *
 * The calls are PMPI_, so that they do not count as the program's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/error.h"
#include "fabric/transport.h"
#include "node/boot_mpi_comm.h"
#include "os/os.h"

enum { SHORTEST_NAP_NS = 50000, LONGEST_NAP_NS = 5000000, NAPS_A_SILENCE = 16 };

/* The beginning of each message on `control`. */
typedef struct lead {
  uint32_t header_bytes, later; /* later: the data follow on `bulk` */
  uint64_t n;                   /* of data */
} lead;

/* The action at the end of the request with the same index. */
typedef struct ending {
  void *copy; /* to be freed */
  wtl_done_fn done;
  void *arg;
} ending;

typedef struct mpi {
  wtl_transport base; /* first: callers know only this */
  wtl_transport_callbacks callbacks;
  MPI_Comm control, bulk;
  bool owns_mpi; /* boot used something else, and MPI was started for this transport (transport.c) */
  MPI_Request *requests;
  ending *endings;
  int *ended;
  MPI_Status *statuses; /* written by MPI and not read */
  int n, capacity;
  /* The message that is being received. One at a time keeps their order. */
  MPI_Request arriving;
  int from, tag; /* of the last message that arrived */
  char *arrived;
  size_t arrived_bytes, arrived_entry;
  bool taken; /* the data of the current message were received */
  int timer;
  uint64_t progress_at; /* ns */
  int key;              /* of the attribute of MPI_COMM_SELF, or MPI_KEYVAL_INVALID */
  bool stops;
} mpi;

static mpi *of(const wtl_transport *t)
{
  return (mpi *)(uintptr_t)t;
}

static bool worked(mpi *m, int pe, int rc)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (rc == MPI_SUCCESS) return true;
  PMPI_Error_string(rc, text, &length);
  m->callbacks.lost(m->callbacks.owner, pe, text);
  return false;
}

static void no_memory(void)
{
  wtl_message_print("no memory for a message over MPI");
  abort();
}

/* --- pending requests --------------------------------------------------------------------------------------------- */

/* Adds a request and returns the place where MPI puts it. */
static MPI_Request *new_request(mpi *m, ending e)
{
  if (m->n == m->capacity) {
    m->capacity = m->capacity ? 2 * m->capacity : 64;
    m->requests = realloc(m->requests, (size_t)m->capacity * sizeof *m->requests);
    m->endings = realloc(m->endings, (size_t)m->capacity * sizeof *m->endings);
    m->ended = realloc(m->ended, (size_t)m->capacity * sizeof *m->ended);
    m->statuses = realloc(m->statuses, (size_t)m->capacity * sizeof *m->statuses);
    if (!m->requests || !m->endings || !m->ended || !m->statuses) no_memory();
  }
  m->endings[m->n] = e;
  m->requests[m->n] = MPI_REQUEST_NULL;
  return &m->requests[m->n++];
}

/* Ends the requests that are complete. All are removed first, for their completion functions may begin new ones. */
static bool end_requests(mpi *m)
{
  int n = 0, kept = 0;
  if (m->n == 0 || !worked(m, m->from, PMPI_Testsome(m->n, m->requests, &n, m->ended, m->statuses))) return false;
  if (n == MPI_UNDEFINED) n = m->n; /* none of them was ever started */
  if (n == 0) return false;
  ending *over = malloc((size_t)m->n * sizeof *over);
  if (!over) no_memory();
  n = 0;
  for (int i = 0; i < m->n; i++) {
    if (m->requests[i] == MPI_REQUEST_NULL) {
      over[n++] = m->endings[i];
      continue;
    }
    m->requests[kept] = m->requests[i];
    m->endings[kept++] = m->endings[i];
  }
  m->n = kept;
  for (int i = 0; i < n; i++) {
    free(over[i].copy);
    if (over[i].done) over[i].done(over[i].arg);
  }
  free(over);
  return true;
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static void mpi_send(wtl_transport *base, int pe, const wtl_transport_message *s)
{
  mpi *m = of(base);
  lead first = {(uint32_t)s->header_bytes, s->n && wtl_transport_may_send_later(s->mode), s->n};
  size_t here = first.later ? 0 : s->n, bytes = sizeof first + s->header_bytes + here;
  char *copy = malloc(bytes);
  if (!copy) no_memory();
  memcpy(copy, &first, sizeof first);
  if (s->header_bytes) memcpy(copy + sizeof first, s->header, s->header_bytes);
  if (here) memcpy(copy + sizeof first + s->header_bytes, s->data, here);
  MPI_Request *request = new_request(m, (ending){.copy = copy});
  worked(m, pe, PMPI_Isend(copy, (int)bytes, MPI_BYTE, pe, (int)s->kind, m->control, request));
  m->progress_at = wtl_clock_ns();
  if (!first.later) {
    s->done(s->arg);
    return;
  }
  request = new_request(m, (ending){.done = s->done, .arg = s->arg});
  worked(m, pe, PMPI_Isend(s->data, (int)s->n, MPI_BYTE, pe, 0, m->bulk, request));
}

/* --- receiving ---------------------------------------------------------------------------------------------------- */

static void receive_bulk(mpi *m, void *to, size_t n, ending e)
{
  MPI_Request *request = new_request(m, e);
  worked(m, m->from, PMPI_Irecv(to, (int)n, MPI_BYTE, m->from, 0, m->bulk, request));
}

static void mpi_receive(wtl_transport *base, void *handle, void *to, size_t n, wtl_done_fn done, void *arg)
{
  mpi *m = of(base);
  m->taken = true;
  receive_bulk(m, to, n, (ending){.done = done, .arg = arg});
}

/* Receives and drops data, so that the next data match their own receive. */
static void drop_bulk(mpi *m, size_t n)
{
  char *nowhere = malloc(n);
  if (!nowhere) no_memory();
  receive_bulk(m, nowhere, n, (ending){.copy = nowhere});
}

static void deliver(mpi *m)
{
  lead first;
  if (m->arrived_bytes < sizeof first) return;
  memcpy(&first, m->arrived, sizeof first);
  size_t here = first.later ? 0 : first.n;
  if (first.header_bytes > m->arrived_bytes - sizeof first ||
      here != m->arrived_bytes - sizeof first - first.header_bytes)
    return;
  char *header = m->arrived + sizeof first;
  m->taken = false;
  m->callbacks.arrived(m->callbacks.owner, (unsigned)m->tag, header, first.header_bytes,
                       first.later ? (void *)m : header + first.header_bytes, first.n, first.later);
  if (first.later && !m->taken) drop_bulk(m, first.n);
}

/* Begins to receive the next message, if there is one. */
static bool find_next(mpi *m)
{
  MPI_Message message;
  MPI_Status status;
  int is_there = 0, bytes = 0;
  if (!worked(m, m->from, PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->control, &is_there, &message, &status)) ||
      !is_there)
    return false;
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  m->from = status.MPI_SOURCE;
  m->tag = status.MPI_TAG;
  m->arrived_bytes = (size_t)bytes;
  if (m->arrived_bytes > m->arrived_entry) {
    free(m->arrived);
    m->arrived = malloc(m->arrived_bytes);
    if (!m->arrived) no_memory();
    m->arrived_entry = m->arrived_bytes;
  }
  return worked(m, m->from, PMPI_Imrecv(m->arrived, bytes, MPI_BYTE, &message, &m->arriving));
}

static bool take_next(mpi *m)
{
  int is_whole = 0;
  if (m->arriving == MPI_REQUEST_NULL && !find_next(m)) return false;
  if (!worked(m, m->from, PMPI_Test(&m->arriving, &is_whole, MPI_STATUS_IGNORE)) || !is_whole) return false;
  deliver(m);
  return true;
}

static bool mpi_progress(wtl_transport *base)
{
  enum { MOST_A_TURN = 64 };
  mpi *m = of(base);
  bool progressed = end_requests(m);
  for (int i = 0; i < MOST_A_TURN && take_next(m); i++) progressed = true;
  if (progressed) m->progress_at = wtl_clock_ns();
  return progressed;
}

/* --- sleeping ----------------------------------------------------------------------------------------------------- */

static int mpi_descriptor(const wtl_transport *t)
{
  return of(t)->timer;
}

static bool mpi_arm(wtl_transport *base)
{
  mpi *m = of(base);
  if (m->arriving != MPI_REQUEST_NULL || find_next(m)) return false;
  uint64_t nap = (wtl_clock_ns() - m->progress_at) / NAPS_A_SILENCE;
  if (nap < SHORTEST_NAP_NS || m->n) nap = SHORTEST_NAP_NS; /* a pending request needs progress on this side */
  if (nap > LONGEST_NAP_NS) nap = LONGEST_NAP_NS;
  struct itimerspec t = {.it_value = {.tv_nsec = (long)nap}};
  timerfd_settime(m->timer, 0, &t, NULL);
  return true;
}

/* --- remote memory access: none ----------------------------------------------------------------------------------- */

static bool mpi_has_rma(wtl_transport *t, int pe)
{
  return false;
}

static int mpi_offer(wtl_transport *t, void *start, size_t n, void *key, size_t *length)
{
  return -1;
}

static void *mpi_accept(wtl_transport *t, int pe, const void *key)
{
  return NULL;
}

/* --- start and stop ----------------------------------------------------------------------------------------------- */

extern const wtl_transport_ops wtl_transport_mpi;

static int refuse(char *error, size_t size, const char *why)
{
  snprintf(error, size, "the network by MPI: %s", why);
  return WTL_EXIT_UNAVAILABLE;
}

/* The ranks of MPI must be the numbers of the PEs, and several threads of this process call MPI. */
static int check(const wtl_boot *boot, MPI_Comm comm, char *error, size_t size)
{
  int rank, n, level;
  char why[160];
  if (comm == MPI_COMM_NULL) return refuse(error, size, "MPI is not in use");
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &n);
  PMPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    return refuse(error, size,
                  "the program started MPI for fewer threads than MPI_THREAD_MULTIPLE: call MPI_Init_thread with that "
                  "level");
  if (rank == boot->pe && n == boot->n_pes) return 0;
  snprintf(why, sizeof why, "MPI reports process %d of %d, but boot by %s reports PE %d of %d", rank, n,
           boot->ops->name, boot->pe, boot->n_pes);
  return refuse(error, size, why);
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, while MPI still works. */
static int on_finalize(MPI_Comm self, int key, void *value, void *extra)
{
  mpi *m = value;
  if (m->stops) return MPI_SUCCESS;
  m->stops = true;
  m->callbacks.closing(m->callbacks.owner);
  return MPI_SUCCESS;
}

static bool attach_to_mpi(mpi *m)
{
  return wtl_boot_mpi_comm_is_apart() ||
         (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &m->key, NULL) == MPI_SUCCESS &&
          PMPI_Comm_set_attr(MPI_COMM_SELF, m->key, m) == MPI_SUCCESS);
}

static void detach(mpi *m)
{
  if (m->key == MPI_KEYVAL_INVALID) return;
  if (!m->stops) { /* not from within on_finalize */
    m->stops = true;
    PMPI_Comm_delete_attr(MPI_COMM_SELF, m->key);
  }
  PMPI_Comm_free_keyval(&m->key);
}

static int join(mpi *m, const wtl_boot *boot, char *error, size_t size)
{
  MPI_Comm comm = wtl_boot_mpi_comm();
  int rc = check(boot, comm, error, size);
  if (rc) return rc;
  if (PMPI_Comm_dup(comm, &m->control) != MPI_SUCCESS || PMPI_Comm_dup(comm, &m->bulk) != MPI_SUCCESS)
    return refuse(error, size, "MPI_Comm_dup failed");
  PMPI_Comm_set_errhandler(m->control, MPI_ERRORS_RETURN);
  PMPI_Comm_set_errhandler(m->bulk, MPI_ERRORS_RETURN);
  if (!attach_to_mpi(m)) return refuse(error, size, "MPI_Comm_set_attr failed");
  m->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  return m->timer < 0 ? refuse(error, size, "no descriptor left for a timer") : 0;
}

/* After a failure the communicators stay, because MPI may wait for the other processes to free theirs. */
static int mpi_start(wtl_transport **out, const wtl_settings *settings, wtl_boot *boot,
                     const wtl_transport_callbacks *callbacks, char *error, size_t size)
{
  mpi *m = calloc(1, sizeof *m);
  if (!m) return refuse(error, size, "no memory");
  m->owns_mpi = strcmp(boot->ops->name, "mpi") != 0;
  m->key = MPI_KEYVAL_INVALID;
  int rc = join(m, boot, error, size);
  if (rc) {
    detach(m);
    free(m);
    return rc;
  }
  m->base.ops = &wtl_transport_mpi;
  m->callbacks = *callbacks;
  m->arriving = MPI_REQUEST_NULL;
  m->progress_at = wtl_clock_ns();
  *out = &m->base;
  return 0;
}

/* All PEs have synchronized, so sent messages have arrived or are not needed. MPI may still read those that have not
 * left. */
static void mpi_stop(wtl_transport *base)
{
  mpi *m = of(base);
  detach(m);
  while (m->n && end_requests(m)) continue;
  for (int i = 0; i < m->n; i++) PMPI_Request_free(&m->requests[i]);
  PMPI_Comm_free(&m->control);
  PMPI_Comm_free(&m->bulk);
  if (m->owns_mpi) wtl_mpi_module.stop();
  close(m->timer);
  free(m->requests);
  free(m->endings);
  free(m->ended);
  free(m->statuses);
  free(m->arrived);
  free(m);
}

const wtl_transport_ops wtl_transport_mpi = {
    .name = "mpi",
    .start = mpi_start,
    .stop = mpi_stop,
    .send = mpi_send,
    .receive = mpi_receive,
    .progress = mpi_progress,
    .descriptor = mpi_descriptor,
    .arm = mpi_arm,
    .has_rma = mpi_has_rma,
    .offer = mpi_offer,
    .accept = mpi_accept,
};
