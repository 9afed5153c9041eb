/*
 * mpi_wakeup.c - sets up the shared memory by which the processes of a node wake each other (wait/peer_wakeup.h).
 *
 * The memory has no name. The first process of the node makes it, and all open it through /proc. A process that
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

static segment *open_from(const wtl_mpi_memory *n, size_t bytes)
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

static size_t bytes_for(const wtl_mpi_rank *self)
{
  return offsetof(segment, node) + wtl_wakeup_bytes(self->n_local);
}

wtl_mpi_memory wtl_mpi_wakeup_make(const wtl_mpi_rank *self)
{
  wtl_mpi_memory m = {.fd = -1};
  size_t bytes = bytes_for(self);
  if (self->n_local < 2 || self->slot != 0) return m;
  m = (wtl_mpi_memory){.pid = getpid(), .fd = wtl_memory_file_make("wattle-ring", bytes, SEALS)};
  m.tick = (int64_t)wtl_ticks();
  segment *s = m.fd >= 0 && wtl_memory_file_reserve((int)m.fd, 0, bytes) ? map((int)m.fd, bytes) : NULL;
  if (s) {
    s->tick = m.tick;
    munmap(s, bytes);
  } else if (m.fd >= 0) {
    close((int)m.fd);
    m.fd = -1;
  }
  return m;
}

void wtl_mpi_wakeup_open(wtl_mpi_rank *self, const wtl_mpi_memory *made)
{
  size_t bytes = bytes_for(self);
  segment *s = self->n_local > 1 && made->fd >= 0 ? open_from(made, bytes) : NULL;
  if (!s) return;
  self->ring_bytes = bytes;
  self->door.ring = (wtl_wakeup){.node = &s->node,
                                 .n = self->n_local,
                                 .me = self->slot,
                                 .only = self->n_local == self->record.n && !self->door.is_shared};
}

void wtl_mpi_wakeup_close(const wtl_mpi_rank *self, const wtl_mpi_memory *made)
{
  if (self->slot == 0 && made->fd >= 0) close((int)made->fd);
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
