/*
 * statics.c - tests that variables of the program are symmetric for all ways of linking.
 *
 * The variables are initialised, zeroed, local to a function, or used by a pointer, and keep their values from before
 * shmem_init. The program is built several times with other linker options. It prints "good" or the first error.
 * usage: statics [nodes]
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int bad;
#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition) && !bad++) printf("PE %d, line %d: not so: %s\n", shmem_my_pe(), __LINE__, #condition);           \
  } while (0)

long initialised = 41;
static const long read_only = 9;
static long zeroed;
static long *pointer = &initialised;
static const long *const pointer_to_read_only = &read_only;
static const char *text = "text";
static const long constants[3] = {10, 11, 12};
static long got[64];
static int (*function)(const char *, ...) = printf;
static char big[1 << 20];
static long flag;
static double many[1000] = {1, 2, 3};
_Alignas(4096) static char page[4096];
static char last_byte_of_bss;
static int several_nodes; /* then addresses do not reach all */

static long *local(void)
{
  static long counter = 7;
  return &counter;
}

static void before(void)
{
  zeroed = 5;
  initialised++;
  *local() += 1;
  big[sizeof big - 1] = 'z';
  page[4095] = 'p';
  setvbuf(stdout, NULL, _IOLBF, 0);
}

static void keeps_what_was_there(void)
{
  MUST(zeroed == 5);
  MUST(initialised == 42 && *pointer == 42 && pointer == &initialised);
  MUST(*local() == 8);
  MUST(big[sizeof big - 1] == 'z' && big[0] == 0);
  MUST(page[4095] == 'p' && last_byte_of_bss == 0);
  MUST(*pointer_to_read_only == 9 && strcmp(text, "text") == 0 && function == printf);
  MUST(many[0] == 1 && many[2] == 3 && many[3] == 0);
  MUST(environ && getenv("PATH"));
}

static void can_be_reached(int me, int n)
{
  int right = (me + 1) % n, left = (me + n - 1) % n;
  shmem_barrier_all();
  shmem_long_put(&initialised, &(long){100 + me}, 1, right);
  shmem_long_put(local(), &(long){200 + me}, 1, right);
  shmem_char_put(&big[sizeof big - 4], "abc", 4, right);
  shmem_char_p(&last_byte_of_bss, (char)(1 + me), right);
  shmem_double_put(&many[999], &(double){me}, 1, right);
  shmem_barrier_all();
  MUST(initialised == 100 + left && *pointer == initialised);
  MUST(*local() == 200 + left);
  MUST(strcmp(&big[sizeof big - 4], "abc") == 0);
  MUST(last_byte_of_bss == (char)(1 + left) && many[999] == left);
  MUST(shmem_long_g(&initialised, right) == 100 + me);
  MUST(shmem_addr_accessible(&zeroed, right) && (shmem_ptr(&zeroed, right) != NULL || several_nodes));
  shmem_barrier_all();
  for (int pe = 0; pe < n; pe++) shmem_long_atomic_add(&zeroed, 1, pe);
  shmem_barrier_all();
  MUST(zeroed == 5 + n);
  shmem_long_p(&flag, 1, right);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
}

/* Constants are variables, too, which the standard has symmetric: all that reads takes them. */
static void constants_can_be_read(int me, int n)
{
  int right = (me + 1) % n;
  shmem_ctx_t ctx;
  MUST(shmem_addr_accessible(constants, right) && shmem_long_g(&constants[2], right) == 12);
  shmem_long_get(got, constants, 3, right);
  MUST(got[0] == 10 && got[2] == 12);
  shmem_long_get_nbi(got + 3, constants, 3, right);
  shmem_long_iget(got + 6, constants, 1, 2, 2, right);
  shmem_long_put(got + 8, constants, 3, right);
  shmem_barrier_all();
  MUST(got[5] == 12 && got[6] == 10 && got[7] == 12 && got[10] == 12);
  MUST(shmem_long_atomic_fetch(&constants[1], right) == 11);
  MUST(shmem_ctx_create(0, &ctx) == 0);
  shmem_ctx_long_atomic_fetch_nbi(ctx, got, &constants[1], right);
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
  MUST(got[0] == 11);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, got, constants, 3);
  MUST(got[0] == 10 * n && got[2] == 12 * n);
  shmem_long_broadcast(SHMEM_TEAM_WORLD, got, constants, 3, n - 1);
  MUST(got[0] == 10 && got[2] == 12);
  shmem_long_fcollect(SHMEM_TEAM_WORLD, got, constants, 3);
  MUST(got[3 * n - 1] == 12);
  shmem_long_collect(SHMEM_TEAM_WORLD, got, constants, (size_t)(me % 2 + 1));
  MUST(got[0] == 10 && (n == 1 || got[2] == 11));
  shmem_long_sum_inscan(SHMEM_TEAM_WORLD, got, constants, 3);
  MUST(got[2] == 12 * (me + 1));
  if (n <= 3) {
    shmem_long_alltoall(SHMEM_TEAM_WORLD, got, constants, 1);
    MUST(got[0] == 10 + me && got[n - 1] == 10 + me);
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, got, constants, 2, 1, 1);
    MUST(got[0] == 10 + me && got[2 * n - 2] == 10 + me);
  }
  shmem_broadcastmem(SHMEM_TEAM_WORLD, got, "a literal", 10, 0);
  MUST(strcmp((const char *)got, "a literal") == 0);
}

int main(int argc, char **argv)
{
  several_nodes = argc > 1 && strcmp(argv[1], "nodes") == 0;
  before();
  shmem_init();
  int me = shmem_my_pe(), n = shmem_n_pes();
  keeps_what_was_there();
  can_be_reached(me, n);
  constants_can_be_read(me, n);
  MUST(setenv("NEW_VARIABLE", "1", 1) == 0 && getenv("NEW_VARIABLE"));
  shmem_barrier_all();
  shmem_finalize();
  if (initialised != 100 + (me + n - 1) % n || zeroed != 5 + n || big[sizeof big - 2] != 'c')
    bad = 1, puts("lost at finalize");
  zeroed = 77; /* still writable, and a child's own */
  if (!bad) printf("PE %d good\n", me);
  return bad != 0;
}
