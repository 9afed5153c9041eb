/*
 * mpi_members.c - finds the processes of the node that have this library, before anything collective is called.
 *
 * DESIGN. A launcher may start some processes with the library and some without it. A collective call of the library
 * would then wait for ever. So the processes count themselves outside of MPI, in a file of the node's memory file
 * system whose name follows from their launcher.
 *
 * Each process adds itself before MPI_Init. MPI_Init ends in no process before it has begun in all of them, so the
 * process that first returns from it closes the count. The members are the processes that were counted. A process that
 * comes later, under an MPI that does not synchronize there, works alone. No process waits for one without the library,
 * and no time limit is needed, because every member is inside MPI_Init already.
 *
 * Without a known launcher or without the file, all processes take part in a call of MPI, with a time limit. So a
 * failure that other processes may not have leaves this process alone instead, as if it lacked the library.
 *
 * The members then write their ranks and make a communicator by MPI_Comm_create_group, in which only they take part. In
 * a job of several nodes, once all processes are known to have the library, they split MPI_COMM_WORLD.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory_file.h"
#include "mpi/mpi_front.h"
#include "node/ancestor.h"
#include "node/process.h"
#include "node/stale_files.h"

enum { MOST = 4096, CLOSED = 1 << 30, TAG = 0x5762 };

typedef struct roll {
  _Atomic int count;      /* of the processes that have come, with CLOSED once no more are counted */
  _Atomic int rank[MOST]; /* in MPI_COMM_WORLD, plus 1; 0: not written yet */
} roll;

static struct {
  roll *roll;   /* NULL: this process is not counted */
  bool is_late; /* because the count was closed, or this process cannot open it */
  int place;
  char path[96];
} self;

/* --- the file --- */

/* Names the file for the processes of one launch: of one launcher, and of one job of it. Returns false if no launcher
 * is known. */
static bool name_file(void)
{
  static const char *const of_job[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"};
  pid_t launcher = wtl_ancestor_launcher();
  if (!launcher) return false;
  uint64_t start = wtl_process_start_of(launcher);
  uint64_t hash = wtl_hash(WTL_HASH_NONE, &start, sizeof start);
  for (size_t i = 0; i < sizeof of_job / sizeof *of_job; i++) {
    const char *value = getenv(of_job[i]);
    if (value) hash = wtl_hash(hash, value, strlen(value) + 1);
  }
  snprintf(self.path, sizeof self.path, WTL_STALE_FOLDER WTL_STALE_MEMBERS "%ld.%ld.%016llx", (long)geteuid(),
           (long)launcher, (unsigned long long)hash);
  return true;
}

/*
 * Whether the file is this user's own and has its pages. The first process makes them. If there is no space, it marks
 * the file by the right to execute it: no process may count itself then, although there may be space later.
 */
static bool is_usable(int fd)
{
  enum { USABLE = S_IRUSR | S_IWUSR, NO_SPACE = USABLE | S_IXUSR };
  struct stat st;
  if (flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) return false;
  if (st.st_size == 0 && (st.st_mode & 07777) != NO_SPACE) { /* the mask of the program may have taken rights */
    st.st_mode = wtl_memory_file_reserve(fd, 0, sizeof(roll)) ? USABLE : NO_SPACE;
    st.st_size = sizeof(roll);
    fchmod(fd, st.st_mode);
  }
  return (st.st_mode & 07777) == USABLE && st.st_size == sizeof(roll);
}

static roll *open_file(void)
{
  int fd, tries = 1000;
  /* Its maker restores the rights that an umask takes. */
  do fd = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, S_IRUSR | S_IWUSR);
  while (fd < 0 && errno == EACCES && tries-- > 0 && usleep(1000) == 0);
  if (fd < 0) {
    self.is_late = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    return NULL;
  }
  void *at = NULL;
  bool usable = is_usable(fd);
  flock(fd, LOCK_UN);
  if (usable) {
    at = mmap(NULL, sizeof(roll), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    self.is_late = at == MAP_FAILED;
  }
  close(fd);
  return self.is_late ? NULL : at;
}

/* Returns how many processes the launcher says that it starts on this node; 0 if it does not say. */
static int said_here(void);

void wtl_mpi_members_count(void)
{
  if (self.roll || !name_file() || !(self.roll = open_file())) return;
  int count = atomic_load(&self.roll->count);
  do {
    if (count >= MOST) { /* closed, or full */
      self.is_late = true;
      munmap(self.roll, sizeof *self.roll);
      self.roll = NULL;
      return;
    }
  } while (!atomic_compare_exchange_weak(&self.roll->count, &count, count + 1));
  self.place = count;
  if (self.place == 0) wtl_stale_files_of_members();
  if (self.place + 1 == said_here()) unlink(self.path); /* all have come, and MPI_Init may fail */
}

/* --- the members --- */

static int by_number(const void *a, const void *b)
{
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Waits until the members have left MPI_Init. This process makes progress for MPI meanwhile. */
static void read_ranks(int *ranks, int members)
{
  int there;
  for (int i = 0; i < members; i++) {
    while ((ranks[i] = atomic_load(&self.roll->rank[i]) - 1) < 0) {
      PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
      nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
  }
  qsort(ranks, (size_t)members, sizeof *ranks, by_number);
}

static int make_comm(const int *ranks, int n, MPI_Comm *made)
{
  MPI_Group world, members;
  int rc = PMPI_Comm_group(MPI_COMM_WORLD, &world);
  if (rc != MPI_SUCCESS) return rc;
  rc = PMPI_Group_incl(world, n, ranks, &members);
  if (rc == MPI_SUCCESS) {
    rc = PMPI_Comm_create_group(MPI_COMM_WORLD, members, TAG, made);
    PMPI_Group_free(&members);
  }
  PMPI_Group_free(&world);
  return rc;
}

/* Returns the number for node SLURM_NODEID in a list such as "4(x2),3"; 0 if there is none. */
static int tasks_by_slurm(void)
{
  const char *list = getenv("SLURM_STEP_TASKS_PER_NODE"), *text = getenv("SLURM_NODEID");
  long node = text ? atol(text) : 0;
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
    int tasks = 0, nodes = 1;
    if (sscanf(at, "%d(x%d)", &tasks, &nodes) < 1) return 0;
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return 0;
}

static int said_here(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    if (text && atoi(text) > 0) return atoi(text);
  }
  return tasks_by_slurm();
}

/* Returns how many processes the launcher started on this node; 0 if that is not known. */
static int started_here(void)
{
  int said = said_here();
  return said ? said : wtl_ancestor_count_job(); /* such as PRRTE's prterun */
}

/* Writes ranks as "0, 2-5": those in the list, or the others of 0..n-1. */
static void list_ranks(const int *ranks, int members, int n, bool others, char *out, size_t size)
{
  size_t used = 0;
  out[0] = '\0';
  for (int rank = 0, at = 0, first = -1; rank <= n; rank++) {
    bool is_member = at < members && ranks[at] == rank;
    at += is_member;
    bool listed = rank < n && is_member != others;
    if (listed && first < 0) first = rank;
    if (listed || first < 0) continue;
    if (used < size)
      used += (size_t)snprintf(out + used, size - used, first == rank - 1 ? "%s%d" : "%s%d-%d", used ? ", " : "", first,
                               rank - 1);
    first = -1;
  }
}

static void report(const int *ranks, int members, int here, int n)
{
  char with[512], without[512];
  bool is_one_node = here == n;
  list_ranks(ranks, members, n, false, with, sizeof with);
  list_ranks(ranks, members, n, true, without, sizeof without);
  wtl_message_print("only %d of %d processes on this node have Wattle's library: rank %s%s%s. Their collective calls "
                    "stay unchanged, and the profile lacks the others. Preload the library into all processes",
                    members, here, with, is_one_node ? ", not rank " : "", is_one_node ? without : "");
}

/* --- other nodes --- */

/* Ends the process if MPI_Init takes too long. `speaks`: not NULL if this process prints the reason. */
static void *watch(void *speaks)
{
  enum { SAYS_S = 20, ENDS_S = 120 };
  sleep(SAYS_S);
  if (speaks)
    wtl_message_print("waits in MPI_Init for other processes: is Wattle's library on all nodes, at the same path?");
  sleep(ENDS_S - SAYS_S);
  if (!speaks)
    sleep(2); /* the message comes before the launcher notices an end */
  else
    wtl_message_print("other processes have not come within %d s; the job ends. Install Wattle on all nodes", ENDS_S);
  wtl_message_linger();
  _exit(WTL_EXIT_UNAVAILABLE);
}

/* Waits for all processes of the job, all of which must have the library. */
static void await_all(bool speaks)
{
  pthread_t thread;
  MPI_Comm all;
  MPI_Group world;
  bool watched = wtl_thread_start(&thread, NULL, watch, speaks ? &self : NULL) == 0;
  if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
    if (PMPI_Comm_create_group(MPI_COMM_WORLD, world, TAG + 1, &all) == MPI_SUCCESS) PMPI_Comm_free(&all);
    PMPI_Group_free(&world);
  }
  if (!watched) return;
  pthread_cancel(thread);
  pthread_join(thread, NULL);
}

/* Returns whether the ranks, lowest first, are those of one MPI_COMM_WORLD of `n` processes. Under a launcher of
 * another MPI the processes are counted together, and each is rank 0 of its own. */
static bool are_of_one_world(const int *ranks, int members, int n)
{
  for (int i = 1; i < members; i++)
    if (ranks[i] == ranks[i - 1]) return false;
  return ranks[members - 1] < n;
}

/* Closes the count and writes the ranks of the members, lowest first. Returns their number. A process that works alone
 * is the only one. */
static int close_count(int me, int n, int *ranks)
{
  int members = 1;
  if (self.roll) {
    int counted = atomic_fetch_or(&self.roll->count, CLOSED) & ~CLOSED;
    atomic_store(&self.roll->rank[self.place], me + 1);
    if (counted <= n) read_ranks(ranks, counted);
    if (counted <= n && are_of_one_world(ranks, counted, n)) members = counted;
    munmap(self.roll, sizeof *self.roll);
    self.roll = NULL;
  }
  if (!self.is_late) unlink(self.path); /* every member has opened it */
  if (members == 1) ranks[0] = me;
  return members;
}

void wtl_mpi_members_join(wtl_mpi_rank *rank)
{
  static int ranks[MOST]; /* not allocated: a lack of memory would keep only this process out of the calls below */
  int n = rank->record.n, me = rank->record.me;
  bool awaits = n > 1 && !self.roll && !self.is_late, is_first = me == 0;
  if (!awaits) {
    int members = close_count(me, n, ranks);
    int here = members < n ? started_here() : n; /* all processes are still in MPI_Init, or have left it */
    rank->is_partial = here > 0 && here <= n && members < here;
    is_first = ranks[0] == me;
    awaits = !rank->is_partial && members < n;
    if (rank->is_partial && is_first) report(ranks, members, here, n);
    if (!awaits && (members == 1 || make_comm(ranks, members, &rank->node) != MPI_SUCCESS))
      PMPI_Comm_dup(MPI_COMM_SELF, &rank->node);
  }
  if (!awaits) return;
  await_all(is_first);
  unlink(self.path); /* it stays until all have found no space for it */
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &rank->node);
}

/* --- collective calls --- */

/*
 * A blocking collective call does not match its non-blocking counterpart in another process (MPI 4.1, 6.12). So all
 * processes of a communicator must decide alike. Processes of another MPI_COMM_WORLD may have the library or not, and
 * to each side the other one is outside.
 */
static bool has_outsiders(MPI_Comm comm)
{
  enum { SOME = 64 }; /* at a time: a lack of memory may not change the answer of this process alone */
  MPI_Group world, group;
  int n = 0, known = 0, ranks[SOME], there[SOME];
  if (wtl_mpi_is_inter(comm)) return true;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return true;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(group, &n);
  for (int some = SOME; known < n && some == SOME;) {
    int asked = n - known < SOME ? n - known : SOME;
    for (int i = 0; i < asked; i++) ranks[i] = known + i;
    some = 0;
    if (PMPI_Group_translate_ranks(group, asked, ranks, world, there) != MPI_SUCCESS) break;
    while (some < asked && there[some] != MPI_UNDEFINED) some++;
    known += some;
  }
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return known < n;
}

bool wtl_mpi_members_lack(MPI_Comm comm)
{
  static int keyval = MPI_KEYVAL_INVALID;
  void *known = NULL;
  int found = 0;
  if (wtl_mpi_self->is_partial) return true;
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_NULL || !comm) return false;
  if (keyval == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  if (PMPI_Comm_get_attr(comm, keyval, &known, &found) == MPI_SUCCESS && found) return (uintptr_t)known == 2;
  bool outside = has_outsiders(comm);
  PMPI_Comm_set_attr(comm, keyval, (void *)(uintptr_t)(outside ? 2 : 1));
  return outside;
}
