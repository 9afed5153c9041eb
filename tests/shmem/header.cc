// shmem.h in C++: compiles in every standard, and links; within extern "C", too, as many programs include C's headers.
#include <mpp/pshmemx.h>
#include <pshmem.h>
extern "C" {
#include <shmem.h>
#include <shmemx.h>
}

static bool answered = false;

// Variables that other PEs change, as programs for earlier versions declare them.
static volatile long flag = 0, lock = 0;
static volatile int flags[2] = {1, 1};

static bool takes_volatile(int me, int n)
{
  if (n > 1)
    shmem_long_p(const_cast<long *>(&flag), 1, (me + 1) % n);
  else
    flag = 1;
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
  shmem_long_wait(&flag, 0);
  shmem_wait(&flag, 0);
  shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
  bool right = shmem_long_test(&flag, SHMEM_CMP_EQ, 1) && shmem_test(&flag, SHMEM_CMP_EQ, 1L);
  right = right && shmem_int_test_all(flags, 2, nullptr, SHMEM_CMP_EQ, 1);
  shmem_set_lock(&lock);
  shmem_clear_lock(&lock);
  while (shmem_test_lock(&lock)) {}
  shmem_clear_lock(&lock);
  return right;
}

// Compilers know C's complex numbers in C++ too.
__extension__ static double _Complex numbers[2], sums[2];

static void on_message(void *buf, size_t n, int, shmemx_am_token_t token)
{
  shmemx_am_reply(2, buf, n, token);
}

int main()
{
  shmem_init();
  long *word = static_cast<long *>(shmem_malloc(sizeof(long)));
  const int me = shmem_my_pe(), n = shmem_n_pes();
  const bool with_volatile = takes_volatile(me, n);
  shmem_long_p(word, me, (me + 1) % n);
  shmem_barrier_all();
  bool right = shmem_long_g(word, me) == (me + n - 1) % n;
  __real__ numbers[1] = me;
  __imag__ numbers[1] = 1;
  shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, sums, numbers, 2);
  right = right && __real__ sums[1] == n * (n - 1) / 2 && __imag__ sums[1] == n;
  shmem_barrier_all();
  shmem_p(word, 5L, (me + 1) % n);
  shmem_put(SHMEM_CTX_DEFAULT, word, word, 0, me);
  shmem_quiet();
  shmem_sync(SHMEM_TEAM_WORLD);
  right = right && shmem_sum_reduce(SHMEM_TEAM_WORLD, word, word, 1) == 0 && shmem_g(word, me) == 5L * n;
  shmem_barrier_all();
  *word = 1;
  right = right && shmemx_long_sum_inscan(SHMEM_TEAM_WORLD, word, word, 1) == 0 && *word == me + 1;
  shmem_barrier_all();
  shmem_team_t none = SHMEM_TEAM_INVALID;
  shmem_ctx_t no_context = SHMEM_CTX_INVALID;
  right = right && none != SHMEM_TEAM_WORLD && no_context != SHMEM_CTX_DEFAULT && shmem_team_n_pes(none) == -1;
  shmemx_am_attach(1, on_message);
  shmemx_am_attach(2, [](void *buf, size_t n, int, shmemx_am_token_t) {
    answered = n == sizeof(int) && *static_cast<int *>(buf) == 7;
  });
  shmem_barrier_all();
  int seven = 7;
  shmemx_am_request((me + 1) % n, 1, &seven, sizeof seven);
  shmemx_am_quiet();
  shmem_barrier_all();
  shmem_free(word);
  pshmem_finalize();
  return right && with_volatile && answered ? 0 : 1;
}
