/*
 * mpi_wakeup.c - sets up the shared memory by which the processes of a node wake each other (wait/peer_wakeup.h).
 *
 * The memory has no name. The first process of the node makes it, and the others open it through /proc. A process that
 * cannot open it (another container, other rights) sleeps without wake-ups and wakes no other process.
 */
#include "mpi/mpi_front.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory_file.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* The first process tells this to the others. */
typedef struct notice {
  int64_t pid, fd;
  int64_t tick; /* at which it was made; a process in another container may have the same number */
} notice;
enum { NOTICE_WORDS = sizeof(notice) / sizeof(int64_t) };

typedef struct segment {
  int64_t tick;
  _Atomic bool left; /* a process has left the calls that the others are in */
  wtl_wakeup_node node;
} segment;

static segment *map(int fd, size_t bytes)
{
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? NULL : at;
}

static segment *make(size_t bytes, notice *n)
{
  segment *s = NULL;
  *n = (notice){.pid = getpid(), .fd = wtl_memory_file_make("wattle-ring", bytes, SEALS)};
  n->tick = (int64_t)wtl_ticks();
  if (n->fd >= 0 && wtl_memory_file_reserve((int)n->fd, 0, bytes)) s = map((int)n->fd, bytes);
  if (s) {
    s->tick = n->tick;
  } else if (n->fd >= 0) {
    close((int)n->fd);
    n->fd = -1;
  }
  return s;
}

static segment *open_from(const notice *n, size_t bytes)
{
  char path[64];
  segment *s = NULL;
  snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)n->pid, (long long)n->fd);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return NULL;
  int seals = fcntl(fd, F_GET_SEALS); /* -1: the file cannot be sealed */
  if (seals >= 0 && (seals & SEALS) == SEALS && lseek(fd, 0, SEEK_END) == (off_t)bytes) s = map(fd, bytes);
  close(fd);
  if (s && s->tick != n->tick) {
    munmap(s, bytes);
    s = NULL;
  }
  return s;
}

/*
 * Passes the notice from the first process to the others. It is no broadcast, because in a reduction each process sends
 * as many messages as it receives. Open MPI writes the short messages for a process into a ring of half cache lines.
 * With one message more in one direction, both processes would later write to other halves at the same time, and
 * MPI_Allreduce and MPI_Barrier would take 1.15 times as long (2 ranks, AMD EPYC).
 */
static bool tell_all(const wtl_mpi_rank *self, notice *n)
{
  notice mine = self->slot == 0 ? *n : (notice){INT64_MIN, INT64_MIN, INT64_MIN};
  return PMPI_Allreduce(&mine, n, NOTICE_WORDS, MPI_INT64_T, MPI_MAX, self->node) == MPI_SUCCESS;
}

void wtl_mpi_wakeup_start(wtl_mpi_rank *self)
{
  notice n = {0};
  segment *s = NULL;
  size_t bytes = offsetof(segment, node) + wtl_wakeup_bytes(self->n_local);
  if (self->n_local < 2) return;
  if (self->slot == 0) s = make(bytes, &n);
  if (!tell_all(self, &n)) return;
  if (self->slot != 0) s = open_from(&n, bytes);
  PMPI_Barrier(self->node); /* all have opened it */
  if (self->slot == 0 && n.fd >= 0) close((int)n.fd);
  if (!s) return;
  self->ring_bytes = bytes;
  self->door.ring = (wtl_wakeup){.node = &s->node,
                                 .n = self->n_local,
                                 .me = self->slot,
                                 .only = self->n_local == self->record.n && !self->door.is_shared};
}

static segment *segment_of(const wtl_mpi_rank *self)
{
  return self->door.ring.node ? (void *)((char *)self->door.ring.node - offsetof(segment, node)) : NULL;
}

void wtl_mpi_leave_others(wtl_mpi_rank *self)
{
  segment *s = segment_of(self);
  if (!s) return;
  atomic_store(&s->left, true);
  wtl_wakeup_others(&self->door.ring);
}

bool wtl_mpi_is_left(const wtl_mpi_rank *self)
{
  const segment *s = segment_of(self);
  return s && atomic_load(&s->left);
}

void wtl_mpi_wakeup_stop(wtl_mpi_rank *self)
{
  if (self->door.ring.node) munmap(segment_of(self), self->ring_bytes);
  self->door.ring.node = NULL;
}
