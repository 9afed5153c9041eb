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
 * Without a known launcher or without the file, all processes take part in a call of MPI, with a time limit.
 *
 * The members then write their ranks and make a communicator by MPI_Comm_create_group, in which only they take part.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "mpi/mpi_front.h"
#include "node/ancestor.h"
#include "node/process.h"

enum { MOST = 4096, CLOSED = 1 << 30, TAG = 0x5762 };

typedef struct roll {
  _Atomic int count;      /* of the processes that have come, with CLOSED once no more are counted */
  _Atomic int rank[MOST]; /* in MPI_COMM_WORLD, plus 1; 0: not written yet */
} roll;

static struct {
  roll *roll;   /* NULL: this process is not counted */
  bool is_late; /* because the count was closed */
  int place;
  char path[96];
} self;

/* --- the file --- */

static const char folder[] = "/dev/shm/", file_prefix[] = "wattle-mpi.";

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
  snprintf(self.path, sizeof self.path, "%s%s%ld.%ld.%016llx", folder, file_prefix, (long)geteuid(), (long)launcher,
           (unsigned long long)hash);
  return true;
}

/* Opens the file, which only this user may have made and can write to. */
static roll *open_file(void)
{
  struct stat st;
  int fd = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, S_IRUSR | S_IWUSR);
  if (fd < 0) return NULL;
  void *at = MAP_FAILED;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0 &&
      ftruncate(fd, sizeof(roll)) == 0)
    at = mmap(NULL, sizeof(roll), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return at == MAP_FAILED ? NULL : at;
}

/* Removes the files of launchers that have ended: of jobs that were killed inside MPI_Init. */
static void remove_stale(void)
{
  char prefix[64], path[sizeof(struct dirent) + sizeof folder];
  snprintf(prefix, sizeof prefix, "%s%ld.", file_prefix, (long)geteuid());
  DIR *all = wtl_process_sees_all() ? opendir(folder) : NULL;
  for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
    long launcher;
    if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
        sscanf(entry->d_name + strlen(prefix), "%ld.", &launcher) != 1 || !wtl_process_is_gone((int)launcher))
      continue;
    snprintf(path, sizeof path, "%s%s", folder, entry->d_name);
    unlink(path);
  }
  if (all) closedir(all);
}

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
  if (self.place == 0) remove_stale();
}

/* --- the members --- */

static int by_number(const void *a, const void *b)
{
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Waits until the members have left MPI_Init. This process makes progress for MPI meanwhile. */
static int *ranks_of(int members)
{
  int *ranks = calloc((size_t)members, sizeof *ranks), there;
  for (int i = 0; ranks && i < members; i++) {
    while ((ranks[i] = atomic_load(&self.roll->rank[i]) - 1) < 0) {
      PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
      nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
  }
  if (ranks) qsort(ranks, (size_t)members, sizeof *ranks, by_number);
  return ranks;
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

/* Returns how many processes the launcher started on this node; 0 if it does not say. */
static int started_here(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    if (text && atoi(text) > 0) return atoi(text);
  }
  int tasks = tasks_by_slurm();
  return tasks ? tasks : wtl_ancestor_count_job(); /* such as PRRTE's prterun */
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

/* Closes the count and returns the ranks of the members, lowest first; *members: their number. A process that works
 * alone is the only one. NULL: no memory. */
static int *close_count(int me, int n, int *members)
{
  int *ranks = NULL;
  *members = 1;
  if (self.roll) {
    int counted = atomic_fetch_or(&self.roll->count, CLOSED) & ~CLOSED;
    atomic_store(&self.roll->rank[self.place], me + 1);
    if (counted <= n) ranks = ranks_of(counted);
    if (ranks && are_of_one_world(ranks, counted, n)) {
      *members = counted;
    } else {
      free(ranks);
      ranks = NULL;
    }
    unlink(self.path); /* every member has opened it */
    munmap(self.roll, sizeof *self.roll);
    self.roll = NULL;
  }
  if (!ranks && (ranks = malloc(sizeof *ranks)) != NULL) ranks[0] = me;
  return ranks;
}

void wtl_mpi_members_join(wtl_mpi_rank *rank)
{
  int n = rank->record.n, members;
  if (n > 1 && !self.roll && !self.is_late) {
    await_all(rank->record.me == 0);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank->record.me, MPI_INFO_NULL, &rank->node);
    return;
  }
  int *ranks = close_count(rank->record.me, n, &members);
  if (!ranks || members == 1 || make_comm(ranks, members, &rank->node) != MPI_SUCCESS)
    PMPI_Comm_dup(MPI_COMM_SELF, &rank->node);
  int here = members < n ? started_here() : n; /* all processes are still in MPI_Init, or have left it */
  rank->is_partial = here > 0 && here <= n && members < here;
  bool is_first = ranks && ranks[0] == rank->record.me;
  if (rank->is_partial && is_first) report(ranks, members, here, n);
  free(ranks);
  if (!rank->is_partial && members < n) await_all(is_first);
}

/* --- collective calls --- */

/*
 * A blocking collective call does not match its non-blocking counterpart in another process (MPI 4.1, 6.12). So all
 * processes of a communicator must decide alike. Processes of another MPI_COMM_WORLD may have the library or not, and
 * to each side the other one is outside.
 */
static bool has_outsiders(MPI_Comm comm)
{
  MPI_Group world, group;
  int n = 0, all = 0;
  if (wtl_mpi_is_inter(comm)) return true;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return true;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(group, &n);
  int *ranks = calloc(2 * (size_t)n + 1, sizeof *ranks), *there = ranks ? ranks + n : NULL;
  for (int i = 0; ranks && i < n; i++) ranks[i] = i;
  if (ranks && PMPI_Group_translate_ranks(group, n, ranks, world, there) == MPI_SUCCESS)
    while (all < n && there[all] != MPI_UNDEFINED) all++;
  free(ranks);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return all < n;
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
