// shmem.h in C++: compiles in every standard, and links.
#include <mpp/pshmemx.h>
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

static bool answered = false;

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
  return right && answered ? 0 : 1;
}
