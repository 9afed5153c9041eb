/* arena.c - creates the arena of a node, passes it to the other PEs of the node and maps it. */
#include "node/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/align.h"
#include "base/error.h"
#include "base/memory_file.h"
#include "os/os.h"

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* The arena's own control data, at its beginning. */
typedef struct head {
  _Atomic uint32_t opened; /* PEs that have opened the arena; its creator is not counted */
} head;

enum { HEAD_BYTES = 128 };

/* Offsets and lengths follow from the shape alone, so every PE computes the same ones. */
static void lay_out(wtl_arena *a, const wtl_boot *b, const wtl_arena_shape *shape)
{
  size_t shared = HEAD_BYTES + wtl_round_up(shape->shared_bytes, 128);
  size_t control = wtl_round_up(shared + shape->per_pe_bytes * (size_t)b->n_local, WTL_SLICE_ALIGN);
  a->per_pe_bytes = shape->per_pe_bytes;
  a->stride = wtl_round_up(shape->slice_bytes, WTL_SLICE_ALIGN);
  a->length = control + a->stride * (size_t)b->n_local;
  a->shared = NULL;
  a->per_pe = (char *)shared; /* offsets until the mapping has an address */
  a->slices = (char *)control;
}

static void place(wtl_arena *a, void *base)
{
  a->base = base;
  a->shared = a->base + HEAD_BYTES;
  a->per_pe = a->base + (size_t)a->per_pe;
  a->slices = a->base + (size_t)a->slices;
}

/* A core file holds the control data. The heap adds what it allocates: to write the rest of a slice, the kernel would
 * give memory to pages that no PE has touched. In simulation it holds neither: two mappings for each of many PEs are
 * too many for one process. */
static void place_mapping(wtl_arena *a, void *base)
{
  a->owned = true;
  place(a, base);
  char *left_out = WTL_OS_IS_SIMULATED ? a->base : a->slices;
  madvise(left_out, a->length - (size_t)(left_out - a->base), MADV_DONTDUMP);
}

/* Maps the arena at a free address. `near` is the preferred address, or 0. */
static int map(wtl_arena *a, uintptr_t near, char *error, size_t size)
{
  /* Reserve enough address space for the alignment, map the arena into the aligned part and free the margins. */
  size_t reserved = a->length + WTL_SLICE_ALIGN;
  char *space_start = mmap((void *)near, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *at = space_start == MAP_FAILED ? NULL : (char *)wtl_round_up((uintptr_t)space_start, WTL_SLICE_ALIGN);
  void *p =
      at ? mmap(at, a->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, a->fd, 0) : MAP_FAILED;
  if (p == MAP_FAILED) {
    snprintf(error, size, "mapping the node's arena of %zu bytes failed: %s (lower %s?)", a->length, strerror(errno),
             a->setting);
    return WTL_EXIT_OSERR;
  }
  if (at > space_start) munmap(space_start, (size_t)(at - space_start));
  if (space_start + reserved > at + a->length)
    munmap(at + a->length, (size_t)(space_start + reserved - at) - a->length);
  place_mapping(a, p);
  return 0;
}

/* Maps the arena at `base`. Fails if this process uses any part of that range. */
static bool map_at(wtl_arena *a, void *base)
{
  void *p = mmap(base, a->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, a->fd, 0);
  if (p != base) {
    if (p != MAP_FAILED) munmap(p, a->length); /* kernels before 4.17 treat the address as a hint */
    return false;
  }
  place_mapping(a, p);
  return true;
}

/* Maps the arena so that this PE's slice begins at `own`. That address is the same for every PE. So the range below
 * it must hold the slices of all PEs before, and the range above it those of all PEs after. */
static bool map_own(wtl_arena *a, const wtl_boot *b, uintptr_t own)
{
  size_t before = (size_t)a->slices + (size_t)b->local_rank * a->stride;
  return own && a->length <= WTL_LONGEST_PLACED && map_at(a, (void *)(own - before));
}

static int map_as_asked(wtl_arena *a, const wtl_boot *b, const wtl_arena_shape *shape, char *error, size_t size)
{
  return map_own(a, b, shape->own) ? 0 : map(a, shape->near, error, size);
}

/* Maps the arena at the address at which its creator has it. */
static int map_as_creator(wtl_arena *a, const wtl_boot *b, void *base, char *error, size_t size)
{
  if (!map_at(a, base)) {
    snprintf(error, size,
             "PE %d uses the address %p, where PE %d has the node's arena: it must lie at one address in all "
             "processes",
             b->pe, base, b->local_pe[0]);
    return WTL_EXIT_OSERR;
  }
  return 0;
}

static _Atomic uint32_t *opened(const wtl_arena *a)
{
  return &((head *)(void *)a->base)->opened;
}

static bool is_arena(const wtl_arena *a, int fd)
{
  struct stat st;
  return fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == a->inode && st.st_dev == a->device;
}

static int create(wtl_arena *a, char *error, size_t size)
{
  struct stat st;
  a->fd = wtl_memory_file_make("wattle-arena", a->length, SEALS);
  if (a->fd >= 0 && fstat(a->fd, &st) == 0) {
    a->device = st.st_dev;
    a->inode = st.st_ino;
    return 0;
  }
  int why = errno;
  const char *advice = wtl_memory_file_advice(why);
  bool is_size = why == EFBIG || !advice;
  snprintf(error, size, "creating the node's arena of %zu bytes failed: %s (%s%s%s%s%s)", a->length, strerror(why),
           advice ? advice : "", advice && is_size ? ", or " : "", is_size ? "lower " : "", is_size ? a->setting : "",
           is_size ? "?" : "");
  return WTL_EXIT_OSERR;
}

/* Takes the arena from memory that the job owns. All nodes of a simulation then share one descriptor and one mapping,
 * and a process may have 65,530 mappings. */
static bool borrow(wtl_arena *a, wtl_boot *b)
{
  struct stat st;
  void *base = b->ops->memory ? b->ops->memory(b, a->length, &a->fd, &a->place) : NULL;
  if (!base || fstat(a->fd, &st) != 0) return false;
  a->device = st.st_dev;
  a->inode = st.st_ino;
  a->lent = true;
  place_mapping(a, base);
  return true;
}

static int make(wtl_arena *a, wtl_boot *b, const wtl_arena_shape *shape, char *error, size_t size)
{
  if (borrow(a, b)) return 0;
  int rc = create(a, error, size);
  return rc ? rc : map_as_asked(a, b, shape, error, size);
}

/* The creator's socket, for PEs that may not open /proc/PID/fd. Its abstract address leaves no file. The address is
 * random, so no other user can have taken it, and is published with the handle. */
typedef struct fd_server {
  int listener, arena;
  uint64_t name[2];
} fd_server;

static void abstract_address(struct sockaddr_un *address, socklen_t *length, const uint64_t *name)
{
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "wattle-%016" PRIx64 "%016" PRIx64, name[0],
                   name[1]);
  *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static void open_server(fd_server *d, int arena)
{
  struct sockaddr_un address;
  socklen_t length;
  d->arena = arena;
  if (!wtl_os_random(d->name, sizeof d->name)) return;
  abstract_address(&address, &length, d->name);
  d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (d->listener < 0 ||
      (bind(d->listener, (struct sockaddr *)&address, length) == 0 && listen(d->listener, 1024) == 0))
    return;
  close(d->listener);
  d->listener = -1; /* poll ignores a negative descriptor and only waits */
}

static bool is_of_this_user(int s)
{
  struct ucred peer;
  socklen_t length = sizeof peer;
  return getsockopt(s, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

/* Passes the arena to one caller of the same user, if one connects within a millisecond. */
static void serve_client(const fd_server *d)
{
  struct pollfd p = {.fd = d->listener, .events = POLLIN};
  char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec io = {&byte, 1};
  struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  int client;
  if (poll(&p, 1, 1) <= 0 || (client = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC)) < 0) return;
  if (is_of_this_user(client)) {
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &d->arena, sizeof(int));
    (void)!sendmsg(client, &m, MSG_NOSIGNAL);
  }
  close(client);
}

static int receive_fd(const uint64_t *name)
{
  struct sockaddr_un address;
  socklen_t length;
  char byte, space[CMSG_SPACE(sizeof(int))];
  struct iovec io = {&byte, 1};
  struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  int fd = -1, s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  abstract_address(&address, &length, name);
  if (s >= 0 && connect(s, (struct sockaddr *)&address, length) == 0 && is_of_this_user(s) &&
      recvmsg(s, &m, MSG_CMSG_CLOEXEC) == 1) {
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(c), sizeof fd);
  }
  if (s >= 0) close(s);
  return fd;
}

/* Opens the arena of process `pid`, which has it as descriptor `fd`. In another PID namespace that number may belong to
 * any process, and the file may be any. */
static int open_file_of(wtl_arena *a, long pid, int fd, const uint64_t *name, char *error, size_t size)
{
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
  if (stat(path, &st) == 0) {
    errno = ENOENT;
    if (st.st_ino == a->inode && st.st_dev == a->device) a->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
  }
  int why = errno;
  if (is_arena(a, a->fd)) return 0;
  if (a->fd >= 0) close(a->fd);
  a->fd = receive_fd(name);
  if (is_arena(a, a->fd)) return 0;
  snprintf(error, size,
           "cannot open the node's arena: %s says \"%s\", and process %ld does not hand it over (containers of one job "
           "need a common PID or network namespace)",
           path, strerror(why), pid);
  return WTL_EXIT_OSERR;
}

/* Opens the arena that local rank 0 made and stores the creator's address in *at. */
static int open_from(wtl_arena *a, wtl_boot *b, const char *handle, const char *shape_text, void **at, char *error,
                     size_t size)
{
  char theirs[128] = "";
  long pid;
  int fd;
  uint64_t name[2], device, inode;
  if (sscanf(handle, "%ld %d %zu %p %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %127[^\n]", &pid, &fd, &a->place,
             at, &name[0], &name[1], &device, &inode, theirs) != 9 ||
      strcmp(theirs, shape_text) != 0) {
    snprintf(error, size,
             "PE %d and PE %d do not agree on the symmetric memory: %s on PE %d, %s on PE %d; give all PEs the same "
             "%s, the same WATTLE_STATICS and the same program, or set WATTLE_STATICS=off for programs that differ",
             b->pe, b->local_pe[0], shape_text, b->pe, theirs, b->local_pe[0], a->setting);
    return WTL_EXIT_CONFIG;
  }
  a->device = (dev_t)device;
  a->inode = (ino_t)inode;
  if (!WTL_OS_PES_ARE_PROCESSES) { /* PEs of one process share one mapping */
    place(a, *at);
    a->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* a simulated PE maps its variables */
    return 0;
  }
  return open_file_of(a, pid, fd, name, error, size);
}

static void shape_to_text(const wtl_arena_shape *s, char *text, size_t size)
{
  int n = snprintf(text, size, "heap %zu + variables %zu + control %zu bytes", s->heap_bytes, s->statics_bytes,
                   s->shared_bytes + s->per_pe_bytes);
  if (s->program) snprintf(text + n, size - (size_t)n, " of program %016" PRIx64, s->program);
}

static void key_of(const char *name, char *key, size_t size)
{
  snprintf(key, size, "wattle.%s", name);
}

static int start_as_creator(wtl_arena *a, wtl_boot *b, const wtl_arena_shape *shape, const char *shape_text,
                            char *error, size_t size)
{
  char handle[256], key[64];
  fd_server d = {.listener = -1, .arena = -1};
  int rc = make(a, b, shape, error, size);
  if (rc) return rc;
  key_of(shape->name, key, sizeof key);
  if (WTL_OS_PES_ARE_PROCESSES) open_server(&d, a->fd); /* if it fails, PEs use /proc alone */
  snprintf(handle, sizeof handle, "%ld %d %zu %p %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s", (long)getpid(),
           a->fd, a->place, (void *)a->base, d.name[0], d.name[1], (uint64_t)a->device, (uint64_t)a->inode, shape_text);
  if (b->ops->publish(b, key, handle) != 0 || b->ops->fence(b) != 0) rc = WTL_EXIT_UNAVAILABLE;
  /* The creator may end soon after this, so all processes must have opened the arena. A PE that cannot open it ends the
   * job. */
  while (WTL_OS_PES_ARE_PROCESSES && rc == 0 && atomic_load(opened(a)) + 1 < (uint32_t)b->n_local) serve_client(&d);
  if (d.listener >= 0) close(d.listener);
  if (rc) snprintf(error, size, "boot by %s: the %ss could not synchronize", b->ops->name, wtl_message_noun());
  return rc;
}

static int start_as_guest(wtl_arena *a, wtl_boot *b, const wtl_arena_shape *shape, const char *shape_text, char *error,
                          size_t size)
{
  char handle[256], key[64];
  void *base;
  int rc;
  key_of(shape->name, key, sizeof key);
  if (b->ops->fence(b) != 0 || b->ops->lookup(b, b->local_pe[0], key, handle, sizeof handle) != 0) {
    snprintf(error, size, "boot by %s: %s %d did not publish where the node's arena is", b->ops->name,
             wtl_message_noun(), b->local_pe[0]);
    return WTL_EXIT_UNAVAILABLE;
  }
  if ((rc = open_from(a, b, handle, shape_text, &base, error, size)) != 0) return rc;
  if (!a->base) rc = shape->near ? map_as_creator(a, b, base, error, size) : map_as_asked(a, b, shape, error, size);
  if (rc) return rc;
  atomic_fetch_add(opened(a), 1);
  return 0;
}

int wtl_arena_start(wtl_arena *a, wtl_boot *b, const wtl_arena_shape *shape, char *error, size_t size)
{
  char shape_text[128];
  int rc;
  memset(a, 0, sizeof *a);
  a->fd = -1;
  a->setting = shape->setting;
  lay_out(a, b, shape);
  shape_to_text(shape, shape_text, sizeof shape_text);
  rc = b->local_rank == 0 ? start_as_creator(a, b, shape, shape_text, error, size)
                          : start_as_guest(a, b, shape, shape_text, error, size);
  return rc;
}

void wtl_arena_stop(wtl_arena *a)
{
  if (a->owned && a->lent)
    madvise(a->base, a->length, MADV_REMOVE); /* the mapping stays whole */
  else if (a->owned)
    munmap(a->base, a->length);
  /* The program may have closed the descriptor, and its number may belong to another file. */
  if (!a->lent && is_arena(a, a->fd)) close(a->fd);
  memset(a, 0, sizeof *a);
  a->fd = -1;
}
