/* kept.c - makes the file in which a process keeps its counts, and lets it grow. */
#include "profile/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "base/new_file.h"
#include "node/process.h"
#include "os/guest.h"
#include "os/os.h"
#include "profile/modules.h"
#include "profile/python_code.h"
#include "profile/user_region.h"

enum { MOST_BLOCKS = 4096, NOTES_BYTES = 16384, STALE_S = 7 * 86400, MOST_CALLS = WTL_N_FRONTS * WTL_CALLS_A_FRONT };

struct wtl_kept {
  int fd;
  pid_t owner; /* a forked child does not change the file */
  char path[128];
  dev_t device;
  ino_t inode;
  uint64_t length; /* of the file */
  wtl_kept_head *head;
  pthread_mutex_t lock; /* of all below */
  size_t n_blocks;
  wtl_kept_block *block[MOST_BLOCKS];
  char *notes, *notes_end; /* the free part of the last block of notes */
  const wtl_call_info *const *calls;
  bool called[MOST_CALLS]; /* calls that are noted */
  wtl_module *modules;     /* those that are noted, in their order */
  size_t n_modules;
  uint8_t *noted;     /* nodes of call paths that are noted, a bit each; NULL: none */
  uint32_t n_places;  /* places of Python frames that are noted */
  uint32_t n_regions; /* regions that are noted */
};

/* --- the file --- */

/* Programs may close descriptors that they did not open, and the number then belongs to another file. */
static bool is_still_ours(const wtl_kept *k)
{
  struct stat st;
  return k->owner == getpid() && fstat(k->fd, &st) == 0 && st.st_dev == k->device && st.st_ino == k->inode;
}

static void *add_block(wtl_kept *k, enum wtl_kept_kind kind, uint32_t number, size_t bytes)
{
  uint64_t whole = (sizeof(wtl_kept_block) + bytes + WTL_KEPT_PAGE - 1) / WTL_KEPT_PAGE * WTL_KEPT_PAGE;
  if (k->n_blocks == MOST_BLOCKS || !is_still_ours(k) || !wtl_memory_file_reserve(k->fd, k->length, whole)) return NULL;
  wtl_kept_block *b = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, k->fd, (off_t)k->length);
  if (b == MAP_FAILED) return NULL;
  b->number = number;
  b->bytes = whole;
  k->length += whole;
  k->block[k->n_blocks++] = b;
  atomic_store_explicit(&b->kind, kind, memory_order_release);
  return b + 1;
}

static int open_file(wtl_kept *k, const char *folder)
{
  static _Atomic unsigned serial;
  if (!folder || !*folder) return wtl_memory_file_make("wattle-profile", 0, 0);
  snprintf(k->path, sizeof k->path, WTL_KEPT_FOLDER WTL_KEPT_PREFIX "%ld.%ld.%llu.%llx-%u", (long)geteuid(),
           (long)getpid(), (unsigned long long)wtl_process_start_of(wtl_process_in_proc()),
           (unsigned long long)wtl_process_namespace(), serial++);
  unlink(k->path); /* of this process before an exec */
  int fd = open(k->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (fd >= 0) wtl_new_file_admit_owner(fd);
  return fd;
}

static void give_up(wtl_kept *k)
{
  if (k->fd >= 0) close(k->fd);
  if (k->fd >= 0 && k->path[0]) unlink(k->path);
  free(k);
}

wtl_kept *wtl_kept_start(const char *folder)
{
  struct stat st;
  wtl_kept *k = WTL_OS_PES_ARE_PROCESSES ? calloc(1, sizeof *k) : NULL;
  if (!k) return NULL;
  pthread_mutex_init(&k->lock, NULL);
  k->owner = getpid();
  k->fd = open_file(k, folder);
  if (k->fd < 0 || fstat(k->fd, &st) != 0) {
    give_up(k);
    return NULL;
  }
  k->device = st.st_dev;
  k->inode = st.st_ino;
  k->head = add_block(k, WTL_KEPT_HEAD, 0, sizeof *k->head);
  if (!k->head) {
    give_up(k);
    return NULL;
  }
  if (folder && *folder && !realpath(folder, k->head->folder)) k->head->folder[0] = '\0';
  return k;
}

wtl_kept_head *wtl_kept_head_of(wtl_kept *k)
{
  return k ? k->head : NULL;
}

void *wtl_kept_allocate(wtl_kept *k, enum wtl_kept_kind kind, uint32_t number, size_t bytes)
{
  WTL_AS_GUEST;
  if (!k) return NULL;
  pthread_mutex_lock(&k->lock);
  void *at = add_block(k, kind, number, bytes);
  pthread_mutex_unlock(&k->lock);
  if (!at) k->head->is_partial = 1;
  return at;
}

bool wtl_kept_has(wtl_kept *k, const void *at)
{
  const char *byte = at;
  bool found = false;
  if (!k) return false;
  pthread_mutex_lock(&k->lock);
  for (size_t i = 0; !found && i < k->n_blocks; i++)
    found = byte >= (const char *)k->block[i] && byte < (const char *)k->block[i] + k->block[i]->bytes;
  pthread_mutex_unlock(&k->lock);
  return found;
}

void wtl_kept_replaced(wtl_kept *k, const void *at)
{
  if (wtl_kept_has(k, at)) atomic_store_explicit(&((wtl_kept_block *)at - 1)->kind, WTL_KEPT_OLD, memory_order_release);
}

/* --- notes --- */

/* Returns space for a note of `bytes`. The caller sets its kind last. */
static void *new_note(wtl_kept *k, size_t bytes)
{
  bytes = (bytes + 7) / 8 * 8;
  if (!k->notes || bytes + sizeof(wtl_kept_note) > (size_t)(k->notes_end - k->notes)) {
    size_t block = NOTES_BYTES - sizeof(wtl_kept_block);
    char *at = add_block(k, WTL_KEPT_NOTES, 0, block);
    if (!at) return NULL;
    k->notes = at;
    k->notes_end = at + block;
  }
  wtl_kept_note *n = (void *)k->notes;
  k->notes += bytes;
  n->bytes = (uint32_t)bytes;
  return n;
}

static void note_call(wtl_kept *k, uint32_t call)
{
  if (call >= MOST_CALLS || k->called[call] || !k->calls[call / WTL_CALLS_A_FRONT]) return;
  const wtl_call_info *info = wtl_call_of(k->calls, call);
  wtl_kept_call *n = new_note(k, sizeof *n + strlen(info->name) + 1);
  if (!n) return;
  k->called[call] = true;
  n->call = call;
  n->kind = (uint16_t)info->kind;
  n->direction = (uint16_t)info->direction;
  memcpy(n->name, info->name, strlen(info->name) + 1);
  atomic_store_explicit(&n->note.kind, WTL_KEPT_CALL, memory_order_release);
}

/* Notes the last one of the known modules. */
static void note_module(wtl_kept *k)
{
  const wtl_module *m = &k->modules[k->n_modules - 1];
  wtl_kept_module *n = new_note(k, sizeof *n + strlen(m->path) + 1);
  if (!n) return;
  n->base = m->base;
  n->low = m->low;
  n->high = m->high;
  snprintf(n->build_id, sizeof n->build_id, "%s", m->build_id);
  memcpy(n->path, m->path, strlen(m->path) + 1);
  atomic_store_explicit(&n->note.kind, WTL_KEPT_MODULE, memory_order_release);
}

static void note_module_at(wtl_kept *k, uintptr_t addr)
{
  size_t known = k->n_modules;
  if (addr && wtl_module_of(addr, &k->modules, &k->n_modules) >= 0 && k->n_modules > known) note_module(k);
}

/* The number of a noted file of a node, which may be unloaded by now; -1: none, or no memory. */
static int32_t number_of_module(wtl_kept *k, int32_t module)
{
  const wtl_module *m = wtl_path_module(module);
  if (!m) return -1;
  for (size_t i = 0; i < k->n_modules; i++)
    if (k->modules[i].base == m->base && strcmp(k->modules[i].path, m->path) == 0) return (int32_t)i;
  wtl_module *grown = realloc(k->modules, (k->n_modules + 1) * sizeof *grown);
  if (!grown) return -1;
  k->modules = grown;
  grown[k->n_modules++] = *m;
  note_module(k);
  return (int32_t)k->n_modules - 1;
}

/* Notes all places up to `number`. */
static void note_python(wtl_kept *k, uint32_t number)
{
  for (; k->n_places <= number; k->n_places++) {
    const wtl_python_place *p = wtl_python_place_of(k->n_places);
    size_t file = strlen(p->file) + 1, function = strlen(p->function) + 1;
    wtl_kept_python *n = new_note(k, sizeof *n + file + function);
    if (!n) return;
    n->number = k->n_places;
    n->line = p->line;
    memcpy(n->texts, p->file, file);
    memcpy(n->texts + file, p->function, function);
    atomic_store_explicit(&n->note.kind, WTL_KEPT_PYTHON, memory_order_release);
  }
}

/* Notes all regions up to `number`. */
static void note_region(wtl_kept *k, uint32_t number)
{
  for (; k->n_regions <= number; k->n_regions++) {
    const wtl_user_region *r = wtl_user_region_of(k->n_regions);
    size_t name = strlen(r->name) + 1;
    wtl_kept_region *n = new_note(k, sizeof *n + name);
    if (!n) return;
    n->number = k->n_regions;
    n->outer = r->outer;
    memcpy(n->name, r->name, name);
    atomic_store_explicit(&n->note.kind, WTL_KEPT_REGION, memory_order_release);
  }
}

static void note_node(wtl_kept *k, uint32_t number)
{
  wtl_path_node node = wtl_path_node_of(number);
  if (node.module == WTL_PATH_PYTHON)
    note_python(k, (uint32_t)node.addr - 1);
  else if (node.module == WTL_PATH_REGION)
    note_region(k, (uint32_t)node.addr - 1);
  else if (node.module >= -1)
    node.module = number_of_module(k, node.module);
  wtl_kept_path *n = new_note(k, sizeof *n);
  if (!n) return;
  n->node = node;
  n->number = number;
  atomic_store_explicit(&n->note.kind, WTL_KEPT_PATH, memory_order_release);
}

/* Notes the nodes of a path that are not noted yet, the outermost first. */
static void note_path(wtl_kept *k, uint32_t path)
{
  enum { MOST = WTL_PATH_DEEPEST + 8 };
  uint32_t above[MOST];
  int n = 0;
  if (path == WTL_NO_PATH) return;
  if (!k->noted && !(k->noted = calloc(WTL_PATH_NODES / 8, 1))) return;
  for (; path >= WTL_N_PATH_MARKS && path != WTL_NO_PATH && n < MOST; path = wtl_path_node_of(path).parent) {
    if (k->noted[path / 8] >> path % 8 & 1) break;
    above[n++] = path;
  }
  while (n > 0) {
    uint32_t number = above[--n];
    k->noted[number / 8] |= (uint8_t)(1 << number % 8);
    note_node(k, number);
  }
}

void wtl_kept_note_site(wtl_kept *k, const wtl_site *site)
{
  WTL_AS_GUEST;
  if (!k) return;
  pthread_mutex_lock(&k->lock);
  if (k->calls) { /* otherwise wtl_profile_keep_begin notes it later */
    note_call(k, site->call);
    note_module_at(k, site->addr);
    note_path(k, site->path);
  }
  pthread_mutex_unlock(&k->lock);
}

void wtl_kept_begin(wtl_kept *k, const wtl_call_info *const *calls)
{
  if (!k) return;
  pthread_mutex_lock(&k->lock);
  k->calls = calls;
  pthread_mutex_unlock(&k->lock);
  k->head->layout = WTL_KEPT_LAYOUT;
  k->head->site_bytes = sizeof(wtl_site);
  k->head->pid = getpid();
  k->head->pid_start = wtl_process_start_of(wtl_process_in_proc());
  atomic_thread_fence(memory_order_release);
  memcpy(k->head->mark, "WTLKEPT", sizeof k->head->mark);
}

/* --- the end --- */

void wtl_kept_remove(wtl_kept *k)
{
  if (!k || !k->path[0] || k->owner != getpid()) return;
  unlink(k->path);
  k->path[0] = '\0';
}

/* Whether no reader will want the file of an ended process any more: also where it ended before the head was valid. */
static bool is_stale(const char *path)
{
  char mark[sizeof((wtl_kept_head *)0)->mark] = "", folder[WTL_KEPT_TEXT] = "";
  struct stat st;
  bool stale = false;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()) {
    off_t head = sizeof(wtl_kept_block);
    ssize_t marked = pread(fd, mark, sizeof mark, head + (off_t)offsetof(wtl_kept_head, mark));
    ssize_t n = pread(fd, folder, sizeof folder - 1, head + (off_t)offsetof(wtl_kept_head, folder));
    stale = time(NULL) - st.st_mtime > STALE_S || marked <= 0 || !*mark ||
            (n > 0 && *folder && access(folder, F_OK) != 0 && errno == ENOENT);
  }
  close(fd);
  return stale;
}

void wtl_kept_remove_stale(void)
{
  char prefix[64], path[sizeof(struct dirent) + sizeof WTL_KEPT_FOLDER];
  snprintf(prefix, sizeof prefix, WTL_KEPT_PREFIX "%ld.", (long)geteuid());
  DIR *all = wtl_process_sees_all() ? opendir(WTL_KEPT_FOLDER) : NULL;
  for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
    long pid;
    unsigned long long start;
    if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
        sscanf(entry->d_name + strlen(prefix), "%ld.%llu.", &pid, &start) != 2 ||
        (wtl_process_start_of(pid) == start && !wtl_process_is_gone((int)pid)))
      continue;
    snprintf(path, sizeof path, WTL_KEPT_FOLDER "%s", entry->d_name);
    if (is_stale(path)) unlink(path);
  }
  if (all) closedir(all);
}

void wtl_kept_stop(wtl_kept *k)
{
  if (!k) return;
  if (is_still_ours(k)) close(k->fd);
  for (size_t i = 0; i < k->n_blocks; i++) munmap(k->block[i], k->block[i]->bytes);
  free(k->modules);
  free(k->noted);
  free(k);
}
