// shmem.h in C++: compiles in every standard, and links.
#include <shmem.h>

int main()
{
  shmem_init();
  long *word = static_cast<long *>(shmem_malloc(sizeof(long)));
  const int me = shmem_my_pe(), n = shmem_n_pes();
  shmem_long_p(word, me, (me + 1) % n);
  shmem_barrier_all();
  const bool right = shmem_long_g(word, me) == (me + n - 1) % n;
  shmem_barrier_all();
  shmem_free(word);
  pshmem_finalize();
  return right ? 0 : 1;
}
