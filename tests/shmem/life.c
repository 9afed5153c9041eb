/*
 * life.c - tests the start and the end of the library, and the queries in between. usage: life [exit [unread] | nodes]
 * [again]
 *
 * Starting is repeatable: as many finalizes as inits end the library.
 *
 *   again    after that the library can start again, with a fresh heap and the program's variables unchanged
 *   exit     the last PE ends the job with status 7
 *   unread   its buffer then contains output that no process reads any more
 *   nodes    there are several nodes, so that addresses do not reach all PEs
 */
#include <shmem.h>
#include <shmemx.h>

#include <unistd.h>

#include "os/os.h"
#include "pes.h"

#ifndef WTL_THREADS
static int variable = 41;
#endif

static void expect_started(int want)
{
  int flag = -1;
  shmem_query_initialized(&flag);
  if (flag != want) {
    failures++;
    fprintf(stderr, "shmem_query_initialized says %d, must be %d\n", flag, want);
  }
}

static void ask(void)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), major = 0, minor = 0;
  char name[SHMEM_MAX_NAME_LEN] = "";
  EXPECT(me >= 0 && me < n, "PE %d of %d", me, n);
  EXPECT(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == n, "the world team");
  EXPECT(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1, "no team");
  shmem_info_get_version(&major, &minor);
  EXPECT(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && major == 1 && minor == 6, "%d.%d", major,
         minor);
  shmem_info_get_name(name);
  EXPECT(strcmp(name, SHMEM_VENDOR_STRING) == 0, "%s", name);
  double before = (double)wtl_clock_ns() * 1e-9, now = shmemx_wtime(), after = (double)wtl_clock_ns() * 1e-9;
  EXPECT(before <= now && now <= after, "%f is not between %f and %f", now, before, after);
  EXPECT(shmem_pe_accessible(n - 1) == 1 && shmem_pe_accessible(n) == 0 && shmem_pe_accessible(-1) == 0, "PEs");
}

/* Where PEs are threads they share one standard output, so only the PE that ends the job changes it. */
static void lose_output(bool ends_the_job)
{
  int ends[2];
#ifdef WTL_THREADS
  if (!ends_the_job) return;
#else
  (void)ends_the_job;
#endif
  if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) exit(2);
  close(ends[0]);
  close(ends[1]);
  printf("lost\n");
}

/* shmem_ptr: loads and stores by it are the other PE's memory, if that is of this node, and it names nothing where
 * there is none. */
static void point(bool several_nodes)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n, on_stack = 0;
  long *word = shmem_malloc(sizeof *word);
  *word = me;
  shmem_barrier_all();
  long *theirs = shmem_ptr(word, right);
  EXPECT(theirs || several_nodes, "reaches");
  EXPECT(!theirs || *theirs == right, "loads");
  shmem_barrier_all();
  if (theirs)
    *theirs = 100 + me;
  else
    shmem_long_p(word, 100 + me, right);
  shmem_barrier_all();
  EXPECT(*word == 100 + left, "stores");
  EXPECT(shmem_ptr(word, me) == (void *)word, "its own");
  EXPECT(!shmem_ptr(word, n) && !shmem_ptr(word, -1), "no such PE");
  EXPECT(!shmem_ptr(&on_stack, right) && !shmem_addr_accessible(&on_stack, right), "the stack is not symmetric");
  EXPECT(shmem_addr_accessible(word, right) == 1 && shmem_addr_accessible(word, n) == 0, "accessible");
#ifndef WTL_THREADS
  shmem_barrier_all();
  EXPECT(shmem_addr_accessible(&variable, right) == 1, "variables are symmetric");
  EXPECT(shmem_ptr(&variable, me) == (void *)&variable, "a variable of its own");
  EXPECT(shmem_team_ptr(SHMEM_TEAM_WORLD, &variable, me) == (void *)&variable, "the same in a team");
  variable = 1000 + me;
  shmem_barrier_all();
  const int *other = shmem_ptr(&variable, right);
  EXPECT((other ? *other : shmem_int_g(&variable, right)) == 1000 + right, "variables by pointer");
  EXPECT((other != NULL) == (theirs != NULL), "one is reached by pointer, the other is not");
  shmem_barrier_all();
  variable = 41;
#endif
  shmem_free(word);
}

static void levels(int requested)
{
  int provided = -1, in_force = -1;
  EXPECT(shmem_init_thread(requested, &provided) == 0 && provided >= SHMEM_THREAD_SINGLE, "level %d", requested);
  shmem_query_thread(&in_force);
  EXPECT(in_force == provided, "level %d is in force, %d was said", in_force, provided);
  EXPECT(shmem_init_thread(SHMEM_THREAD_MULTIPLE + 1, &provided) != 0, "there is no such level");
}

int main(int argc, char **argv)
{
  const char *word = argc > 1 ? argv[1] : "";
  int cycles = strcmp(argv[argc - 1], "again") == 0 ? 3 : 1;
  expect_started(0);
  for (int cycle = 0; cycle < cycles; cycle++) {
    shmem_init();
    expect_started(1);
    shmem_init();
    levels(cycle == 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE);
    ask();
    shmem_finalize();
    expect_started(1);
    point(strcmp(word, "nodes") == 0);
    shmem_finalize();
    expect_started(1);
    shmem_barrier_all();
    if (strcmp(word, "exit") == 0) {
      bool ends_the_job = shmem_my_pe() == shmem_n_pes() - 1;
      if (argc > 2) lose_output(ends_the_job);
      if (ends_the_job) shmem_global_exit(7);
      long *never = shmem_calloc(1, sizeof *never);
      shmem_long_wait_until(never, SHMEM_CMP_NE, 0);
    }
    shmem_finalize();
    expect_started(0);
#ifndef WTL_THREADS
    if (variable != 41) failures++, fprintf(stderr, "a finished library lost the program's variable\n");
#endif
  }
  return failures != 0;
}
