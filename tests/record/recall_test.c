/*
 * recall_test.c - tests the file in which a process keeps its counts: it is read after a SIGKILL, the counts go on
 * where it cannot grow, and a damaged one is refused.
 */
#include "record/recall.h"

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node/process.h"
#include "power/check.h"

enum { PLACES = 3000, SECOND = 700, NO_CORE_NS = 3000 };

static const wtl_call_info calls[] = {{.name = "first"}, {.name = "second", .kind = WTL_CALL_WAIT}, {.name = "third"}};

/* A process with a record. */
typedef struct process {
  wtl_profile profile;
  wtl_door door;
  wtl_settings settings;
  wtl_record record;
} process;

static wtl_origin at(uintptr_t addr)
{
  return (wtl_origin){.addr = addr};
}

/* Call k is made from address 16 * (k / 3 + 1) as call k % 3, k % 7 + 1 times with k bytes. */
static void make_calls(wtl_profile *p, int from, int to)
{
  for (int k = from; k < to; k++)
    for (int i = 0; i <= k % 7; i++)
      wtl_profile_enter(p, at(16u * ((unsigned)k / 3 + 1)), (uint32_t)k % 3, (uint64_t)k);
}

static void *make_others(void *p)
{
  make_calls(p, PLACES, PLACES + SECOND);
  return NULL;
}

static void begin(process *p, const char *folder)
{
  memset(p, 0, sizeof *p);
  p->door.stages.ns_per_tick = wtl_clock_ns_per_tick();
  wtl_profile_start(&p->profile, true, 0);
  wtl_profile_keep(&p->profile, folder);
  p->record = (wtl_record){.me = 3,
                           .n = 8,
                           .node = 1,
                           .api = "mpi",
                           .calls = {calls},
                           .profile = &p->profile,
                           .door = &p->door,
                           .settings = &p->settings,
                           .start_tick = wtl_ticks()};
  wtl_record_keep(&p->record);
}

/* Waits for `s` seconds in the third call of address 16, of which the record knows half, and is killed. */
static void be_killed_in_a_wait(process *p, double s)
{
  wtl_site *site = wtl_profile_enter(&p->profile, at(16), 2, 0);
  double half = s / 2 * 1e9 / p->door.stages.ns_per_tick;
  site->wait_ticks[WTL_STAGE_ASLEEP] = (uint64_t)half;
  p->door.kept->ticks[WTL_STAGE_ASLEEP] = (uint64_t)half;
  p->door.kept->since_ns = wtl_clock_ns();
  p->door.kept->addr = 16;
  p->door.kept->call = 2;
  p->door.kept->asleep = 1;
  p->door.kept->no_core_ns = NO_CORE_NS;
  p->door.kept->no_core_tick = wtl_ticks();
  p->door.kept->no_core_waits = 1;
  usleep((useconds_t)(s / 2 * 1e6));
  p->door.kept->last_tick = wtl_ticks();
  raise(SIGKILL);
}

/* Finds the file of a process, which may be a zombie. Files of others that had its number may be left. */
static void find(pid_t pid, char *path, size_t size)
{
  char pattern[128];
  glob_t found;
  snprintf(pattern, sizeof pattern, WTL_KEPT_FOLDER WTL_KEPT_PREFIX "%ld.%ld.%llu.*", (long)geteuid(), (long)pid,
           (unsigned long long)wtl_process_start_of(pid));
  CHECK(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
  snprintf(path, size, "%s", found.gl_pathv[0]);
  globfree(&found);
}

static wtl_recalled *recall(const char *path, const char **why)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0);
  wtl_recalled *r = wtl_recall(fd, why);
  close(fd);
  return r;
}

/* Checks that all calls of make_calls are there. */
static void check_calls(wtl_profile *p, int places)
{
  uint64_t n, seen = 0, bytes = 0, expected = 0;
  wtl_site *sites = wtl_profile_merge(p, 0, &n);
  for (int k = 0; k < places; k++) expected += (uint64_t)k * (uint64_t)(k % 7 + 1);
  for (uint64_t i = 0; i < n; i++) {
    int k = (int)(sites[i].addr / 16 - 1) * 3 + (int)sites[i].call;
    bool waited = sites[i].addr == 16 && sites[i].call == 2 && sites[i].wait_ticks[WTL_STAGE_ASLEEP];
    CHECK(k >= 0 && k < places && sites[i].calls == (uint64_t)(k % 7 + 1) + waited);
    seen++;
    bytes += sites[i].bytes;
  }
  CHECK(seen == (uint64_t)places && bytes == expected);
  free(sites);
}

static void the_counts_of_a_killed_process_are_read_again(void)
{
  char path[256];
  const char *why;
  pid_t child = fork();
  if (child == 0) {
    static process p;
    pthread_t other;
    begin(&p, "/tmp");
    make_calls(&p.profile, 0, PLACES);
    pthread_create(&other, NULL, make_others, &p.profile);
    pthread_join(other, NULL);
    be_killed_in_a_wait(&p, 0.2);
  }
  int status;
  siginfo_t end;
  waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT);
  find(child, path, sizeof path);
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  wtl_recalled *r = recall(path, &why);
  CHECK(r && r->record.me == 3 && r->record.n == 8 && r->record.node == 1 && strcmp(r->record.api, "mpi") == 0);
  CHECK(strcmp(r->head->folder, "/tmp") == 0 && r->head->pid == child && !r->past.end.is_partial);
  CHECK(strcmp(wtl_record_call(&r->record, 1)->name, "second") == 0 && wtl_record_call(&r->record, 1)->kind == 1);
  wtl_recall_until(r, 0, "job", NAN);
  const wtl_activity *a = &r->past.states;
  CHECK(strcmp(r->past.end.time, "record") == 0 && a->wall_s >= 0.1 && !(r->past.cpu_s >= 0));
  CHECK(r->past.end.wait_addr == 16 && r->past.end.wait_call == 2 && r->past.end.wait_s >= 0.09);
  check_calls(&r->profile, PLACES + SECOND);
  double before = a->asleep_s;
  wtl_recall_until(r, wtl_clock_ns() + 5000000000u, "seen", 1.5); /* the wait goes on to the end */
  CHECK_NEAR(a->asleep_s - before,
             a->wall_s - (double)(r->head->waits.last_tick - r->head->start_tick) * 1e-9 * r->ns_per_tick, 1e-6);
  CHECK_NEAR(a->wall_s, a->active_s + a->no_core_s + a->spin_s + a->yield_s + a->asleep_s, 1e-9);
  CHECK_NEAR(a->no_core_s, 1e-9 * NO_CORE_NS, 1e-12);
  CHECK(r->past.no_core.until_s == a->wall_s); /* the wait in which it ended was read */
  r->head->waits.no_core_waits = 0;
  wtl_recall_until(r, wtl_clock_ns() + 5000000000u, "seen", 1.5); /* it computed after that wait */
  CHECK(r->past.no_core.until_s > 0 && r->past.no_core.until_s < a->wall_s - 4.9);
  r->head->waits.no_core_tick = 0;
  wtl_recall_until(r, wtl_clock_ns() + 5000000000u, "seen", 1.5); /* no wait was read */
  CHECK(isnan(r->past.no_core.until_s) && a->no_core_s == 0);
  CHECK(r->past.cpu_s == 1.5 && a->asleep_s > 4.9);
  wtl_recall_free(r);
  unlink(path);
}

static void a_file_that_cannot_grow_leaves_the_counts_in_private_memory(void)
{
  static process p;
  char path[256];
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 100000;
  setrlimit(RLIMIT_FSIZE, &limit);
  begin(&p, "/tmp");
  find(getpid(), path, sizeof path);
  make_calls(&p.profile, 0, PLACES);
  check_calls(&p.profile, PLACES);
  CHECK(wtl_kept_head_of(p.profile.kept)->is_partial);
  wtl_kept_remove(p.profile.kept);
  CHECK(access(path, F_OK) != 0);
  wtl_profile_stop(&p.profile);
}

static void a_descriptor_that_the_program_took_is_left_alone(void)
{
  static process p;
  char mine[] = "/tmp/wattle-recall-XXXXXX";
  begin(&p, "");
  for (int fd = 3; fd < 100; fd++) close(fd); /* as a daemon does */
  int other = mkstemp(mine);
  for (int fd = 3; fd < 30; fd++)
    if (fd != other) dup2(other, fd);
  make_calls(&p.profile, 0, PLACES);
  check_calls(&p.profile, PLACES);
  wtl_profile_stop(&p.profile);
  CHECK(lseek(other, 0, SEEK_END) == 0);
  unlink(mine);
}

static void a_forked_child_leaves_the_file_alone(void)
{
  static process p;
  char path[256];
  int status;
  begin(&p, "/tmp");
  find(getpid(), path, sizeof path);
  pid_t child = fork();
  if (child == 0) {
    wtl_kept_remove(p.profile.kept);
    _exit(wtl_kept_allocate(p.profile.kept, WTL_KEPT_SLOTS, 9, 100) != NULL);
  }
  waitpid(child, &status, 0);
  CHECK(status == 0 && access(path, F_OK) == 0);
  wtl_kept_remove(p.profile.kept);
  wtl_profile_stop(&p.profile);
}

/* A file in memory with the given bytes. */
static int file_of(const char *bytes, size_t n)
{
  int fd = memfd_create("damaged", MFD_CLOEXEC);
  CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  return fd;
}

static void a_damaged_file_is_refused_or_read_within_its_bounds(void)
{
  static process p;
  static char bytes[1 << 20];
  char path[256];
  const char *why;
  begin(&p, "/tmp");
  make_calls(&p.profile, 0, 100);
  find(getpid(), path, sizeof path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = read(fd, bytes, sizeof bytes);
  close(fd);
  CHECK(n > 8192 && n < (ssize_t)sizeof bytes);
  srandom(7);
  for (int round = 0; round < 400; round++) {
    static char damaged[1 << 20];
    memcpy(damaged, bytes, (size_t)n);
    size_t cut = round % 4 ? (size_t)n : (size_t)random() % (size_t)n;
    for (int i = 0; i < 1 + round % 60; i++) damaged[random() % n] = (char)random();
    if (round % 2) memset(damaged + random() % (n / 4096) * 4096, (int)random(), 64); /* the beginning of a block */
    fd = file_of(damaged, cut);
    wtl_recalled *r = wtl_recall(fd, &why);
    close(fd);
    if (!r) {
      CHECK(*why);
      continue;
    }
    uint64_t sites;
    wtl_recall_until(r, 0, "job", NAN);
    free(wtl_profile_merge(&r->profile, 0, &sites));
    wtl_recall_free(r);
  }
  fd = file_of(bytes, 4096);
  CHECK(!wtl_recall(fd, &why) && *why);
  close(fd);
  wtl_kept_remove(p.profile.kept);
  wtl_profile_stop(&p.profile);
}

TESTS(TEST(the_counts_of_a_killed_process_are_read_again),
      TEST(a_file_that_cannot_grow_leaves_the_counts_in_private_memory),
      TEST(a_descriptor_that_the_program_took_is_left_alone), TEST(a_forked_child_leaves_the_file_alone),
      TEST(a_damaged_file_is_refused_or_read_within_its_bounds))
