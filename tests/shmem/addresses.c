/*
 * A block of the symmetric heap has one address on all PEs: one that a PE is sent is its own block.
 *
 * usage: shmem_addresses [taken]: before a second start PE 1 has memory of its own where its heap was
 */
#include <shmem.h>
#include <sys/mman.h>

#include "pes.h"

/* As actors do: PE i sends a pointer to its counter, and the next PE counts by it. */
static void count_by_sent_addresses(bool alike)
{
  int me = shmem_my_pe(), n = shmem_n_pes(), left = (me + n - 1) % n;
  uintptr_t *sent = shmem_calloc(1, sizeof *sent);
  long *counters = shmem_calloc(100, sizeof *counters);
  uintptr_t mine = (uintptr_t)(counters + me);
  shmem_putmem(sent, &mine, sizeof mine, (me + 1) % n);
  shmem_barrier_all();
  EXPECT(!alike || *sent == (uintptr_t)(counters + left), "%p here, %p on PE %d", (void *)(counters + left),
         (void *)*sent, left);
  if (alike) ++*(long *)*sent;
  shmem_barrier_all();
  shmem_long_atomic_add(counters + me, 1, (me + 1) % n);
  shmem_barrier_all();
  EXPECT(counters[left] == 1 + alike, "%ld", counters[left]);
  shmem_free(counters);
  shmem_free(sent);
}

int main(int argc, char **argv)
{
  bool taken = argc > 1 && strcmp(argv[1], "taken") == 0;
  shmem_init();
  count_by_sent_addresses(true);
  if (taken) {
    char *p = shmem_malloc(1);
    int me = shmem_my_pe();
    shmem_finalize();
    size_t page = 4096, at = (uintptr_t)p & ~(page - 1);
    if (me == 1 &&
        mmap((void *)at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
      return perror("mmap"), 1;
    shmem_init();
    count_by_sent_addresses(false);
    char *q = shmem_malloc(1);
    EXPECT((p == q) == (me != 1), "%p before, %p now", (void *)p, (void *)q);
  }
  shmem_finalize();
  return failures != 0;
}
