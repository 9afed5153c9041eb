/* statics.c - moves the program's data segment onto the arena, and gives forked children a private copy. */
#include "node/statics.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/align.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/sigpipe.h"
#include "os/os.h"
#include "os/sparse_memory.h"

/* A process has one data segment, so this state cannot belong to a PE's context. */
static struct {
  wtl_statics segment;
  int fd;
  dev_t device; /* of fd, which the program may close */
  ino_t inode;
  size_t offset;
} shared = {.fd = -1};

/* The parent makes it before a fork and the child uses it. Several threads may fork at the same time. */
static _Thread_local char *snapshot;

/* Finds the range that the loader makes read-only after relocation. It holds no variables. */
static void find_relro(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
  *low = *high = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type != PT_GNU_RELRO) continue;
    *low = info->dlpi_addr + p->p_vaddr;
    *high = *low + p->p_memsz;
  }
}

static void add_constants(wtl_statics *s, const char *start, size_t length)
{
  if (!s->constants) s->constants = start;
  s->constants_length = (size_t)(start - s->constants) + length;
}

typedef struct search {
  wtl_statics *statics;
  int index; /* number of the next object */
} search;

/* Linkers put a program's variables after the read-only part of one segment (GNU ld), or into a separate segment
 * after a read-only one (lld, mold). */
static int inspect_executable(struct dl_phdr_info *info, size_t size, void *arg)
{
  search *found = arg;
  wtl_statics *s = found->statics;
  uintptr_t low = 0, high = 0, file_high = 0, relro_low, relro_high;
  if (!wtl_os_is_program(info, found->index++)) return 0;
  bool writable = false; /* a writable segment was found; segments are in order of their addresses */
  find_relro(info, &relro_low, &relro_high);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
    if (p->p_type != PT_LOAD) continue;
    if (!(p->p_flags & PF_W)) {
      if (!writable) add_constants(s, (const char *)start, p->p_memsz);
      continue;
    }
    writable = true;
    if (start >= relro_low && wtl_page_up(end) <= wtl_page_up(relro_high)) continue; /* only the read-only part */
    start = wtl_page_down(start);
    if (wtl_page_down(relro_high) > start && relro_low < end) start = wtl_page_down(relro_high);
    if (low && start > wtl_page_up(high)) s->scattered = true; /* the gap does not belong to the program */
    if (!low) low = start;
    high = end;
    if (p->p_filesz) file_high = info->dlpi_addr + p->p_vaddr + p->p_filesz;
  }
  high = wtl_page_up(high);
  s->start = high > low ? (char *)low : NULL;
  s->length = high > low ? high - low : 0;
  s->file_length = file_high > low ? wtl_page_up(file_high) - low : 0;
  return 1;
}

void wtl_statics_find(wtl_statics *s)
{
  memset(s, 0, sizeof *s);
  if (WTL_OS_PES_ARE_THREADS) return; /* PEs share their globals */
  wtl_os_each_object(inspect_executable, &(search){s, 0});
}

/* --- identity of the executable --- */

/* Adds the build id in a segment of notes to *hash. Returns false if there is none. */
static bool hash_build_id(const char *notes, size_t length, uint64_t *hash)
{
  ElfW(Nhdr) note;
  for (size_t at = 0; length - at >= sizeof note;) {
    memcpy(&note, notes + at, sizeof note);
    size_t name = at + sizeof note, bytes = name + wtl_round_up(note.n_namesz, 4);
    if (bytes > length || note.n_descsz > length - bytes) return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
      *hash = wtl_hash(*hash, notes + bytes, note.n_descsz);
      return true;
    }
    at = bytes + wtl_round_up(note.n_descsz, 4);
    if (at > length) return false;
  }
  return false;
}

/* Hashes the file and not the memory, because a debugger may have changed the code in memory. */
static uint64_t hash_file(uint64_t hash)
{
  enum { PIECE = 16384, MOST = 64 }; /* 1 MiB in all: enough to distinguish programs, and read in about 1 ms */
  char piece[PIECE];
  ssize_t n;
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  for (int i = 0; fd >= 0 && i < MOST && (n = read(fd, piece, sizeof piece)) > 0; i++)
    hash = wtl_hash(hash, piece, (size_t)n);
  if (fd >= 0) close(fd);
  return hash;
}

static int identify_executable(struct dl_phdr_info *info, size_t size, void *arg)
{
  uint64_t *hash = arg;
  bool has_id = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    const char *notes = (const char *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
    *hash = wtl_hash(*hash, p, sizeof *p);
    if (p->p_type == PT_NOTE && !has_id) has_id = hash_build_id(notes, p->p_memsz, hash);
  }
  if (!has_id) *hash = hash_file(*hash);
  return 1;
}

uint64_t wtl_statics_program(void)
{
  uint64_t hash = WTL_HASH_NONE;
  if (!WTL_OS_PES_ARE_PROCESSES) return 0; /* all PEs run one program */
  dl_iterate_phdr(identify_executable, &hash);
  return hash;
}

/* Copies whole words with any content. AddressSanitizer puts poisoned zones between a program's variables and checks
 * every memcpy of the process. `volatile` keeps the compiler from making a memcpy of this loop. */
__attribute__((no_sanitize("address", "undefined"))) static void copy_pages(char *to, const char *from, size_t length)
{
  volatile uint64_t *out = (volatile uint64_t *)(void *)to;
  const volatile uint64_t *in = (const volatile uint64_t *)(const void *)from;
  for (size_t i = 0; i < length / sizeof *in; i++) out[i] = in[i];
}

/* The program may have closed the arena's descriptor, and its number may belong to another file. */
static bool is_arena(int fd)
{
  struct stat st;
  return fstat(fd, &st) == 0 && st.st_dev == shared.device && st.st_ino == shared.inode;
}

/* Copies only pages that were ever written, if the arena's file can list them: a .bss of many GiB may be untouched.
 * Otherwise copies everything. */
static void copy_touched(char *to)
{
  off_t at = (off_t)shared.offset, end = at + (off_t)shared.segment.length;
  bool lists_data = is_arena(shared.fd);
  while (at < end) {
    off_t data = lists_data ? lseek(shared.fd, at, SEEK_DATA) : at, hole;
    if (data < 0 && errno == ENXIO) break; /* no more data */
    if (data < 0) {
      lists_data = false;
      data = at;
    }
    if (data >= end) break;
    hole = lists_data ? lseek(shared.fd, data, SEEK_HOLE) : end;
    if (hole < 0 || hole > end) hole = end;
    size_t skip = (size_t)(data - (off_t)shared.offset);
    copy_pages(to + skip, shared.segment.start + skip, (size_t)(hole - data));
    at = hole;
  }
}

/* Moves `from` to the address of the segment in one atomic step, as other threads see it. Calls the kernel directly:
 * once UCX before 1.14 runs in this process, it replaces mremap by a version that loses the address. */
static bool move_into_place(void *from)
{
  return syscall(SYS_mremap, from, shared.segment.length, shared.segment.length, MREMAP_MAYMOVE | MREMAP_FIXED,
                 shared.segment.start) != -1;
}

static void before_fork(void)
{
  if (!shared.segment.start) return;
  snapshot = wtl_os_reserve(shared.segment.length);
  if (snapshot) copy_touched(snapshot);
}

static void after_fork_in_parent(void)
{
  if (snapshot) munmap(snapshot, shared.segment.length);
  snapshot = NULL;
}

static void after_fork_in_child(void)
{
  if (!shared.segment.start) return;
  if (!snapshot || !move_into_place(snapshot)) {
    static const char text[] = "wattle: no memory for a child's own copy of the program's variables; the child ends\n";
    (void)!wtl_write(STDERR_FILENO, text, sizeof text - 1);
    _exit(WTL_EXIT_OSERR); /* the child would otherwise write into its parent's variables */
  }
  memset(&shared, 0, sizeof shared);
  shared.fd = -1;
  snapshot = NULL;
}

/* Registers the handlers when the library is loaded, before those of the program and of the rest of this library. So
 * these run last before a fork and first in the child, and all others find private variables in the child. */
enum { FIRST = 101 }; /* the earliest priority that the C library does not use */
__attribute__((constructor(FIRST))) static void watch_forks(void)
{
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int failed(char *error, size_t size, const char *what)
{
  snprintf(error, size,
           "making the program's %zu bytes of variables symmetric: %s: %s (WATTLE_STATICS=off avoids this)",
           shared.segment.length, what, strerror(errno));
  memset(&shared.segment, 0, sizeof shared.segment);
  return WTL_EXIT_OSERR;
}

/* Copies the present pages of a zero-filled range. In a page's entry bit 63 means present and bit 62 swapped out. */
static void copy_present(char *to, const char *from, size_t length)
{
  enum { BATCH = 512 };
  uint64_t entries[BATCH];
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = length / page;
  int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  for (size_t first = 0; first < pages; first += BATCH) {
    size_t n = pages - first < BATCH ? pages - first : BATCH;
    off_t at = (off_t)(((uintptr_t)from / page + first) * sizeof *entries);
    if (map < 0 || pread(map, entries, n * sizeof *entries, at) != (ssize_t)(n * sizeof *entries))
      memset(entries, 0xff, sizeof entries);
    for (size_t i = 0; i < n; i++)
      if (entries[i] >> 62) copy_pages(to + (first + i) * page, from + (first + i) * page, page);
  }
  if (map >= 0) close(map);
}

int wtl_statics_share(const wtl_statics *s, int fd, size_t offset, char *error, size_t size)
{
  char *window;
  struct stat st;
  if (s->scattered) {
    snprintf(error, size,
             "the program's variables lie in separate segments with gaps between them, which cannot be made symmetric "
             "(link without such a layout, or set WATTLE_STATICS=off)");
    return WTL_EXIT_UNAVAILABLE;
  }
  if (!s->start) return 0;
  shared.segment = *s;
  shared.fd = fd;
  shared.offset = offset;
  if (fstat(fd, &st) != 0) return failed(error, size, "fstat");
  shared.device = st.st_dev;
  shared.inode = st.st_ino;
  window = mmap(NULL, s->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
  if (window == MAP_FAILED) return failed(error, size, "mmap");
  copy_pages(window, s->start, s->file_length);
  copy_present(window + s->file_length, s->start + s->file_length, s->length - s->file_length);
  return move_into_place(window) ? 0 : failed(error, size, "mremap");
}

void wtl_statics_unshare(void)
{
  char *copy;
  if (!shared.segment.start) return;
  copy = wtl_os_reserve(shared.segment.length);
  if (!copy) return; /* the segment stays on the arena's memory, which lives as long as its mapping */
  copy_touched(copy);
  if (!move_into_place(copy)) munmap(copy, shared.segment.length);
  memset(&shared, 0, sizeof shared);
  shared.fd = -1;
}
