/*
 * boot_pmix_module.c - the PMIx calls of boot, in a module that is loaded where a launcher offers PMIx.
 *
 * A process joins its job once and leaves it when the process ends. If a process leaves and joins again, the server
 * confuses which processes wait for which. So a library that starts again finds its job unchanged. Each start publishes
 * under new keys, because PMIx may keep a value that was read before.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "node/boot_pmix.h"
#include "node/boot_text.h"

typedef struct pmix_state {
  pmix_proc_t self, job; /* job: the same namespace with the wildcard rank */
  size_t lost_handler;
} pmix_state;

enum { MOST_FILES = 256 }; /* descriptors that are looked at */

static struct {
  pmix_state *state; /* NULL: this process has not joined */
  pid_t pid;
  int starts;
  bool in_use;
  ino_t file[MOST_FILES]; /* by descriptor: those that PMIx has opened; 0: another file */
} membership;

static void (*launcher_lost)(void);

static void on_launcher_lost(void (*lost)(void))
{
  launcher_lost = lost;
}

static int failed(char *error, size_t size, const char *what, pmix_status_t rc)
{
  snprintf(error, size, "%s failed: %s", what, PMIx_Error_string(rc));
  return -1;
}

/* --- programs that close descriptors which they did not open --- */

/* The file at a descriptor that PMIx needs while it runs: a socket, or a file without a type (epoll, eventfd; all of
 * them have one number). 0: another file. */
static ino_t file_at(int fd)
{
  struct stat st;
  return fstat(fd, &st) == 0 && (S_ISSOCK(st.st_mode) || (st.st_mode & S_IFMT) == 0) ? st.st_ino : 0;
}

/* Notes the files of this process before PMIx starts (`is_start`), and then those that it has opened. */
static void note_files(bool is_start)
{
  for (int fd = 0; fd < MOST_FILES; fd++) {
    ino_t now = file_at(fd);
    membership.file[fd] = is_start || now != membership.file[fd] ? now : 0;
  }
}

/* Returns whether the program has closed a file of PMIx. A call of PMIx would then wait for ever, or crash. */
static bool is_cut_off(void)
{
  for (int fd = 0; fd < MOST_FILES; fd++)
    if (membership.file[fd] != 0 && file_at(fd) != membership.file[fd]) return true;
  return false;
}

static int get_u32(pmix_state *s, const pmix_proc_t *of, const char *key, int *out)
{
  pmix_value_t *value = NULL;
  pmix_status_t rc = PMIx_Get(of, key, NULL, 0, &value);
  if (rc != PMIX_SUCCESS) return -1;
  *out = value->type == PMIX_UINT16 ? (int)value->data.uint16 : (int)value->data.uint32;
  PMIX_VALUE_RELEASE(value);
  return 0;
}

static int get_local_peers(wtl_boot *b, pmix_state *s, char *error, size_t size)
{
  pmix_value_t *value = NULL;
  pmix_status_t rc = PMIx_Get(&s->job, PMIX_LOCAL_PEERS, NULL, 0, &value);
  if (rc != PMIX_SUCCESS) return failed(error, size, "PMIx_Get of the PEs of this node", rc);
  if (!(b->local_pe = calloc((size_t)b->n_pes, sizeof *b->local_pe))) {
    PMIX_VALUE_RELEASE(value);
    return snprintf(error, size, "no memory for the PEs of this node"), -1;
  }
  b->n_local = wtl_boot_read_peers(value->data.string, b->n_pes, b->local_pe);
  if (b->n_local < 0)
    snprintf(error, size, "PMIx lists the PEs of this node as \"%.200s\", which is no list of PEs 0 to %d",
             value->data.string, b->n_pes - 1);
  PMIX_VALUE_RELEASE(value);
  if (b->n_local < 0) return -1;
  b->local_rank = -1;
  for (int i = 0; i < b->n_local; i++)
    if (b->local_pe[i] == b->pe) b->local_rank = i;
  if (b->local_rank >= 0) return 0;
  snprintf(error, size, "PMIx does not list PE %d among the %d PEs of its own node", b->pe, b->n_local);
  return -1;
}

static void on_lost(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[], size_t ninfo,
                    pmix_info_t results[], size_t nresults, pmix_event_notification_cbfunc_fn_t done, void *arg)
{
  launcher_lost();
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
  atomic_store((_Atomic int *)arg, status == PMIX_SUCCESS ? 1 : -1);
}

/* PMIx's own thread reports the loss of the launcher, also while this PE's thread computes. */
static int watch_launcher(pmix_state *s)
{
  pmix_status_t codes[] = {PMIX_ERR_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION_TO_SERVER};
  _Atomic int registered = 0;
  pmix_status_t rc = PMIx_Register_event_handler(codes, 2, NULL, 0, on_lost, on_registered, &registered);
  if (rc != PMIX_SUCCESS) return rc == PMIX_OPERATION_SUCCEEDED ? 0 : -1; /* already complete; PMIx makes no callback */
  while (!atomic_load(&registered)) usleep(50);
  return registered == 1 ? 0 : -1;
}

enum { KEY_BYTES = 64 };
static void key_of_start(const char *key, char *text)
{
  snprintf(text, KEY_BYTES, "%s.%d", key, membership.starts);
}

static int publish(wtl_boot *b, const char *key, const char *text)
{
  char own_key[KEY_BYTES];
  pmix_value_t value;
  pmix_status_t rc;
  key_of_start(key, own_key);
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_STRING;
  value.data.string = (char *)(uintptr_t)text;
  rc = PMIx_Put(PMIX_GLOBAL, own_key, &value);
  return rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
}

/* These calls fail where another PE has ended. The launcher then ends the job with the exit code of that PE. This PE
 * waits for that, because the launcher would report its own exit code if it came first. */
static int let_launcher_end_the_job(void)
{
  enum { LONG_ENOUGH_S = 2 };
  sleep(LONG_ENOUGH_S);
  return -1;
}

static int fence(wtl_boot *b)
{
  pmix_state *s = b->state;
  pmix_info_t collect;
  bool yes = true;
  int rc;
  PMIX_INFO_CONSTRUCT(&collect);
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  rc = PMIx_Fence(&s->job, 1, &collect, 1);
  PMIX_INFO_DESTRUCT(&collect);
  return rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED ? 0 : let_launcher_end_the_job();
}

static int lookup(wtl_boot *b, int pe, const char *key, char *text, size_t size)
{
  pmix_state *s = b->state;
  char own_key[KEY_BYTES];
  pmix_proc_t peer;
  pmix_value_t *value = NULL;
  key_of_start(key, own_key);
  PMIX_LOAD_PROCID(&peer, s->self.nspace, (pmix_rank_t)pe);
  if (PMIx_Get(&peer, own_key, NULL, 0, &value) != PMIX_SUCCESS) return let_launcher_end_the_job();
  snprintf(text, size, "%s", value->data.string);
  PMIX_VALUE_RELEASE(value);
  return 0;
}

/* "oshrun -n 1 a : -n 1 b" has two parts. */
static bool has_several_parts(pmix_state *s)
{
  int parts = 1;
  return get_u32(s, &s->job, PMIX_JOB_NUM_APPS, &parts) == 0 && parts > 1;
}

/*
 * Finds the nodes of the job and the first PE of each: each PE publishes the leader of its node and its executable. A
 * job on one node needs this only if the launcher was given several programs. (PMIx_Resolve_peers of PMIx 4.2.2
 * deadlocks on a lock of its own, and Open MPI 4.1 does not give PMIX_NODEID of other nodes.)
 */
static int get_nodes(wtl_boot *b, pmix_state *s, char *error, size_t size)
{
  char text[32];
  uint64_t program;
  b->n_nodes = 1;
  if (!(b->leader_pe = calloc((size_t)b->n_pes, sizeof *b->leader_pe)))
    return snprintf(error, size, "no memory for the nodes of the job"), -1;
  if (b->n_local == b->n_pes && !has_several_parts(s)) return 0;
  snprintf(text, sizeof text, "%d %" PRIx64, b->local_pe[0], b->program);
  int rc = publish(b, "wattle.leader", text) || fence(b);
  b->n_nodes = 0;
  for (int pe = 0, leader; rc == 0 && pe < b->n_pes; pe++) {
    if ((rc = lookup(b, pe, "wattle.leader", text, sizeof text)) != 0) break;
    if ((rc = wtl_boot_read_leader(text, b->n_pes, &leader, &program) ? 0 : -1) != 0) break;
    if (program != b->program) b->one_program = false;
    if (leader != pe) continue;
    if (pe == b->local_pe[0]) b->node = b->n_nodes;
    b->leader_pe[b->n_nodes++] = pe;
  }
  if (rc != 0) snprintf(error, size, "PMIx does not report which PEs share a node");
  return rc;
}

/*
 * PMIx_Finalize waits 2 s for the server's answer and then leaves without it. If this process ends before the server
 * has read its message, Open MPI counts the job as failed. On a busy machine the messages of some hundred PEs take
 * longer than 2 s. So only TURNS PEs of a node leave at a time: each locks one of TURNS bytes of a file in the
 * launcher's folder. Returns the descriptor to close; -1 if there is no such folder, and then PEs do not take turns.
 */
enum { TURNS = 4 };
static int take_turn(void)
{
  char path[4096];
  const char *folder = getenv("PMIX_SERVER_TMPDIR");
  struct flock turn = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = membership.state->self.rank % TURNS, .l_len = 1};
  if (!folder || snprintf(path, sizeof path, "%s/wattle-leave", folder) >= (int)sizeof path) return -1;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  while (fd >= 0 && fcntl(fd, F_SETLKW, &turn) != 0 && errno == EINTR) continue;
  return fd;
}

/* Does nothing if the program ends in the middle of a job, because the launcher must notice that. Does nothing in a
 * forked child. */
static void leave(int status, void *arg)
{
  if (membership.pid != getpid() || membership.in_use) return;
  int turn = take_turn();
  PMIx_Finalize(NULL, 0);
  if (turn >= 0) close(turn);
}

static int join(char *error, size_t size)
{
  pmix_state *s = calloc(1, sizeof *s);
  if (!s) return snprintf(error, size, "no memory to join the job"), -1;
  note_files(true);
  pmix_status_t rc = PMIx_Init(&s->self, NULL, 0);
  note_files(false);
  if (rc != PMIX_SUCCESS) {
    free(s);
    return failed(error, size, "PMIx_Init (is the launcher still running?)", rc);
  }
  PMIX_LOAD_PROCID(&s->job, s->self.nspace, PMIX_RANK_WILDCARD);
  membership.state = s;
  membership.pid = getpid();
  membership.in_use = true;
  on_exit(leave, NULL);
  if (watch_launcher(s) == 0) return 0;
  snprintf(error, size, "PMIx does not accept a handler for the loss of the launcher");
  return -1;
}

static int start(wtl_boot *b, char *error, size_t size)
{
  if (!membership.state && join(error, size) != 0) return -1;
  if (is_cut_off()) return snprintf(error, size, "the program has closed the connection to the launcher"), -1;
  pmix_state *s = b->state = membership.state;
  membership.starts++;
  membership.in_use = true;
  b->pe = (int)s->self.rank;
  if (get_u32(s, &s->job, PMIX_JOB_SIZE, &b->n_pes) != 0) {
    snprintf(error, size, "PMIx does not report how many PEs the job has");
    return -1;
  }
  return get_local_peers(b, s, error, size) != 0 || get_nodes(b, s, error, size) != 0 ? -1 : 0;
}

static void do_abort(wtl_boot *b, int status, const char *message)
{
  pmix_state *s = b->state;
  if (!s || is_cut_off()) return;
  /* Slurm takes 0 for a missing code, and uses only the lower 8 bits. */
  if (status == 0 && strncmp(s->self.nspace, "slurm.", 6) == 0) status = 256;
  PMIx_Abort(status, message, &s->job, 1);
}

static void stop(wtl_boot *b)
{
  bool is_lost = is_cut_off();
  if (is_lost)
    wtl_message_print("the program has closed descriptors that it did not open, and so the connection to the launcher, "
                      "which may report that this PE has ended without a word");
  else
    fence(b);
  free(b->local_pe);
  free(b->leader_pe);
  b->state = NULL;
  membership.in_use = is_lost;
}

static const wtl_boot_ops ops = {.name = "pmix",
                                 .start = start,
                                 .publish = publish,
                                 .fence = fence,
                                 .lookup = lookup,
                                 .abort = do_abort,
                                 .stop = stop};

extern const wtl_pmix_entry wtl_pmix_module;
const wtl_pmix_entry wtl_pmix_module = {WTL_VERSION, &ops, on_launcher_lost};
