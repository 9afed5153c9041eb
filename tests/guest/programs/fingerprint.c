/*
 * A program that takes fingerprints of its process: before it starts, and after each call. Its output of one PE or rank
 * is one line for each change, "CALL: NAME BEFORE -> AFTER". With -DUSE_MPI it is an MPI program, otherwise one of
 * OpenSHMEM. usage: fingerprint FILE (the output of each process is FILE.RANK)
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef USE_MPI
#include <mpi.h>
#else
#include <shmem.h>
#endif

extern char **environ;
static int me, n;

/* --- a fingerprint --- */

enum { MOST = 600, NAME = 40, VALUE = 160, ERRNO = 77 };
typedef struct print {
  int n;
  struct {
    char name[NAME], value[VALUE];
  } row[MOST];
} print;

static void note(print *p, const char *name, const char *format, ...)
{
  va_list args;
  if (p->n == MOST) abort();
  snprintf(p->row[p->n].name, NAME, "%s", name);
  va_start(args, format);
  vsnprintf(p->row[p->n++].value, VALUE, format, args);
  va_end(args);
}

static void note_signals(print *p)
{
  sigset_t mask, pending;
  stack_t stack;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  sigpending(&pending);
  sigaltstack(NULL, &stack);
  note(p, "alternate stack", "%p %zu %d", stack.ss_sp, stack.ss_size, stack.ss_flags);
  for (int s = 1; s < NSIG; s++) {
    struct sigaction a;
    char name[NAME];
    if (sigaction(s, NULL, &a) != 0) continue;
    snprintf(name, sizeof name, "signal %d", s);
    note(p, name, "handler %p flags %x blocked %d pending %d", (void *)a.sa_handler, (unsigned)a.sa_flags,
         sigismember(&mask, s), sigismember(&pending, s));
  }
}

static void note_limits(print *p)
{
  for (int r = 0; r < RLIMIT_NLIMITS; r++) {
    struct rlimit l;
    char name[NAME];
    if (getrlimit((__rlimit_resource_t)r, &l) != 0) continue;
    snprintf(name, sizeof name, "limit %d", r);
    note(p, name, "%lld %lld", (long long)l.rlim_cur, (long long)l.rlim_max);
  }
}

/* Those of the start of the process have a number, and others only a kind. */
static void note_descriptors(print *p)
{
  char kinds[4096] = "";
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
    char link[64], target[256];
    int fd = atoi(e->d_name);
    if (e->d_name[0] == '.' || fd == dirfd(folder)) continue;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (fd <= 2) {
      struct stat st;
      char name[NAME];
      fstat(fd, &st);
      snprintf(name, sizeof name, "descriptor %d", fd);
      note(p, name, "%ld flags %x", (long)st.st_ino, (unsigned)fcntl(fd, F_GETFL));
    } else if (strstr(target, "wattle")) {
      strncat(kinds, basename(target), sizeof kinds - strlen(kinds) - 2);
      strcat(kinds, " ");
    }
  }
  if (folder) closedir(folder);
  note(p, "descriptors with Wattle's name", "%s", kinds);
}

static int count_in(const char *path)
{
  int count = 0;
  DIR *folder = opendir(path);
  for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) count += e->d_name[0] != '.';
  if (folder) closedir(folder);
  return count;
}

static void note_environment(print *p)
{
  for (char **e = environ; e && *e; e++) {
    char name[NAME];
    size_t length = strcspn(*e, "=");
    snprintf(name, sizeof name, "variable %.*s", (int)length, *e);
    note(p, name, "%.100s", *e + length);
  }
}

static void note_floats(print *p)
{
  note(p, "rounding", "%d", fegetround());
  note(p, "float flags", "%x", (unsigned)fetestexcept(FE_ALL_EXCEPT));
  note(p, "float traps", "%x", (unsigned)fegetexcept());
#if defined(__x86_64__)
  unsigned short control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  note(p, "x87", "%x", (unsigned)control);
  note(p, "mxcsr", "%x", __builtin_ia32_stmxcsr() & ~0x3fu);
#endif
}

static void take(print *p)
{
  int error = errno, cancel, death_signal = 0;
  char folder[VALUE], name[32];
  p->n = 0;
  note_floats(p); /* first, because the C library may compute */
  note(p, "errno", "%d", error);
  note_signals(p);
  mode_t mask = umask(0);
  umask(mask);
  note(p, "umask", "%o", (unsigned)mask);
  note(p, "folder", "%s", getcwd(folder, sizeof folder) ? folder : "none");
  note_limits(p);
  note_descriptors(p);
  note(p, "descriptors", "%d", count_in("/proc/self/fd") - 1);
  note(p, "threads", "%d", count_in("/proc/self/task"));
  note_environment(p);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
  note(p, "cancellation", "%d", cancel);
  note(p, "priority", "%d", getpriority(PRIO_PROCESS, 0));
  note(p, "timer slack", "%d", prctl(PR_GET_TIMERSLACK));
  note(p, "dumpable", "%d", prctl(PR_GET_DUMPABLE));
  prctl(PR_GET_PDEATHSIG, &death_signal);
  note(p, "death signal", "%d", death_signal);
  note(p, "name", "%s", prctl(PR_GET_NAME, name) == 0 ? name : "");
  errno = ERRNO;
}

/* --- its changes --- */

static print before, after;
static FILE *out;

static const char *value_of(const print *p, const char *name)
{
  for (int i = 0; i < p->n; i++)
    if (!strcmp(p->row[i].name, name)) return p->row[i].value;
  return "none";
}

/* Sets a state that a call may change by mistake. */
static void prepare(void)
{
  feclearexcept(FE_ALL_EXCEPT);
  take(&before);
}

static void compare(const char *text)
{
  char call[64];
  take(&after);
  snprintf(call, sizeof call, "%.*s", (int)strcspn(text, "("), text);
  for (int i = 0; i < after.n; i++) {
    const char *old = value_of(&before, after.row[i].name);
    if (strcmp(old, after.row[i].value) != 0)
      fprintf(out, "%s: %s: %s -> %s\n", call, after.row[i].name, old, after.row[i].value);
  }
  for (int i = 0; i < before.n; i++)
    if (!strcmp(value_of(&after, before.row[i].name), "none"))
      fprintf(out, "%s: %s: %s -> none\n", call, before.row[i].name, before.row[i].value);
}

#define CALL(call)                                                                                                     \
  do {                                                                                                                 \
    prepare();                                                                                                         \
    call;                                                                                                              \
    compare(#call);                                                                                                    \
  } while (0)

/* A state unlike that of most programs. */
static void set_up(const char *file)
{
  static char stack[64 << 10];
  char name[4096];
  sigset_t some;
  snprintf(name, sizeof name, "%s.%d", file, (int)getpid());
  if (!(out = fopen(name, "we"))) abort();
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  sigemptyset(&some);
  sigaddset(&some, SIGUSR1);
  sigaddset(&some, SIGWINCH);
  sigprocmask(SIG_BLOCK, &some, NULL);
  signal(SIGUSR2, SIG_IGN);
  raise(SIGUSR1);
  umask(027);
  fesetround(FE_UPWARD);
  setenv("LC_ALL", "C", 1);
}

/* --- the calls --- */

#ifdef USE_MPI
static void calls(void)
{
  int one = 1, got = 0, flag, level, all[64], next, prior;
  double x = 1.0 / 3, y;
  MPI_Request r[2];
  MPI_Status status, statuses[2];
  MPI_Comm comm;
  MPI_Win win;
  MPI_Group group;
  MPI_Datatype type;
  CALL(MPI_Init_thread(NULL, NULL, getenv("MULTIPLE") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level));
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  next = (me + 1) % n, prior = (me + n - 1) % n;
  for (int round = 0; round < 2; round++) {
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) usleep(30000); /* the others sleep */
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CALL(MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CALL(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CALL(MPI_Reduce(&one, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    CALL(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    CALL(MPI_Alltoall(all, 1, MPI_INT, all + 32, 1, MPI_INT, MPI_COMM_WORLD));
    CALL(MPI_Scan(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CALL(MPI_Sendrecv(&me, 1, MPI_INT, next, 1, &got, 1, MPI_INT, prior, 1, MPI_COMM_WORLD, &status));
    CALL(MPI_Irecv(&got, 1, MPI_INT, prior, 2, MPI_COMM_WORLD, &r[0]));
    CALL(MPI_Isend(&me, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &r[1]));
    CALL(MPI_Waitall(2, r, statuses));
    MPI_Irecv(&got, 1, MPI_INT, prior, 3, MPI_COMM_WORLD, &r[0]);
    CALL(MPI_Send(&me, 1, MPI_INT, next, 3, MPI_COMM_WORLD));
    CALL(MPI_Wait(&r[0], &status));
    MPI_Isend(&me, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &r[1]);
    CALL(MPI_Probe(prior, 4, MPI_COMM_WORLD, &status));
    CALL(MPI_Iprobe(prior, 4, MPI_COMM_WORLD, &flag, &status));
    CALL(MPI_Recv(&got, 1, MPI_INT, prior, 4, MPI_COMM_WORLD, &status));
    for (flag = 0; !flag;) CALL(MPI_Test(&r[1], &flag, &status));
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CALL(MPI_Comm_free(&comm));
    CALL(MPI_Comm_split(MPI_COMM_WORLD, me, 0, &comm));
    MPI_Comm_free(&comm);
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &group));
    MPI_Group_free(&group);
    CALL(MPI_Type_contiguous(2, MPI_INT, &type));
    CALL(MPI_Type_commit(&type));
    MPI_Type_free(&type);
    CALL(MPI_Win_create(all, sizeof all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CALL(MPI_Win_fence(0, win));
    CALL(MPI_Put(&one, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    CALL(MPI_Win_fence(0, win));
    CALL(MPI_Win_free(&win));
    CALL(MPI_Wtime());
  }
  CALL(MPI_Finalize());
}
#else
static long word, flag, array[64], from[64], pe;
static double x = 1.0 / 3, y;

static void calls(void)
{
  int level;
  long *mine;
  shmem_team_t team;
  shmem_ctx_t ctx;
  CALL(shmem_init_thread(getenv("MULTIPLE") ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &level));
  CALL(shmem_my_pe());
  me = shmem_my_pe();
  CALL(shmem_n_pes());
  n = shmem_n_pes();
  pe = (me + 1) % n;
  for (long round = 1; round <= 2; round++) {
    CALL(shmem_barrier_all());
    if (me == 0) usleep(30000); /* the others sleep */
    CALL(shmem_barrier_all());
    mine = shmem_malloc(64 * sizeof *mine);
    CALL(shmem_free(shmem_calloc(8, 8)));
    CALL(shmem_long_p(&word, round, (int)pe));
    CALL(shmem_long_wait_until(&word, SHMEM_CMP_EQ, round));
    CALL(shmem_long_g(&word, (int)pe));
    CALL(shmem_putmem(mine, from, sizeof from, (int)pe));
    CALL(shmem_getmem(from, mine, sizeof from, (int)pe));
    CALL(shmem_putmem_nbi(mine, from, sizeof from, (int)pe));
    CALL(shmem_quiet());
    CALL(shmem_fence());
    CALL(shmem_long_iput(mine, from, 1, 2, 8, (int)pe));
    CALL(shmem_long_atomic_inc(&flag, (int)pe));
    CALL(shmem_long_atomic_fetch_add(&flag, 1, (int)pe));
    CALL(shmem_long_atomic_compare_swap(&flag, 0, 1, (int)pe));
    CALL(shmem_long_test(&word, SHMEM_CMP_EQ, round + 1));
    CALL(shmem_sync_all());
    CALL(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &y, &x, 1));
    CALL(shmem_long_max_reduce(SHMEM_TEAM_WORLD, array, from, 8));
    CALL(shmem_broadcastmem(SHMEM_TEAM_WORLD, array, from, 64, 0));
    CALL(shmem_fcollectmem(SHMEM_TEAM_WORLD, array, from, 8));
    CALL(shmem_alltoallmem(SHMEM_TEAM_WORLD, array, from, 8));
    CALL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team));
    CALL(shmem_team_sync(team));
    CALL(shmem_team_destroy(team));
    CALL(shmem_ctx_create(0, &ctx));
    CALL(shmem_ctx_putmem(ctx, mine, from, 64, (int)pe));
    CALL(shmem_ctx_quiet(ctx));
    CALL(shmem_ctx_destroy(ctx));
    CALL(shmem_set_lock(&array[60]));
    CALL(shmem_clear_lock(&array[60]));
    CALL(shmem_signal_fetch((uint64_t *)&word));
    CALL(shmem_ptr(mine, (int)pe));
    CALL(shmem_pe_accessible(0));
    CALL(shmem_addr_accessible(mine, 0));
    CALL(shmem_free(mine));
  }
  CALL(shmem_finalize());
}
#endif

int main(int argc, char **argv)
{
  char name[4096], final[4096];
  if (argc != 2) return 64;
  set_up(argv[1]);
  calls();
  snprintf(name, sizeof name, "%s.%d", argv[1], (int)getpid());
  snprintf(final, sizeof final, "%s-%d", argv[1], me);
  return fclose(out) || rename(name, final) ? 1 : 0;
}
