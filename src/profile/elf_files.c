/* elf_files.c - keeps a list of the loaded files by the dynamic linker's own. */
#include "profile/elf_files.h"

#include <dlfcn.h>
#include <features.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#if defined(__GLIBC__) && defined(DLFO_STRUCT_HAS_EH_DBASE)
#define HAS_FIND_OBJECT 1 /* glibc 2.35 */
#endif

typedef struct loaded {
  wtl_module module; /* path and build id are read when they are first needed */
  char *name;        /* as the dynamic linker has it */
  const ElfW(Phdr) * headers;
  uint16_t n_headers;
  bool is_present, stays, is_known, is_libc;
  int order; /* among the loaded ones; 0 is the program */
  const void *frames;
  uintptr_t frames_bytes;
} loaded;

static loaded *files[WTL_MOST_ELF_FILES];
static int32_t n_files;
static unsigned long long adds, subs; /* as the dynamic linker counts */

typedef struct counts {
  unsigned long long adds, subs;
} counts;

static int read_counts(struct dl_phdr_info *info, size_t size, void *arg)
{
  counts *c = arg;
  if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
    *c = (counts){info->dlpi_adds, info->dlpi_subs};
  return 1;
}

static const char *file_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void set_bounds(loaded *l, const struct dl_phdr_info *info)
{
  l->module.base = info->dlpi_addr;
  l->module.low = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_GNU_EH_FRAME) {
      l->frames = (const void *)begin;
      l->frames_bytes = p->p_memsz;
    }
    if (p->p_type != PT_LOAD) continue;
    if (begin < l->module.low) l->module.low = begin;
    if (begin + p->p_memsz > l->module.high) l->module.high = begin + p->p_memsz;
  }
}

static bool is_linker(const char *name)
{
  return strncmp(file_name(name), "ld-", 3) == 0 || strncmp(file_name(name), "ld.", 3) == 0;
}

/* An entry for the file, the earlier one if it was loaded at the same address before. */
static loaded *entry_of(const struct dl_phdr_info *info)
{
  loaded found = {.headers = info->dlpi_phdr, .n_headers = info->dlpi_phnum}, *l;
  const char *name = info->dlpi_name ? info->dlpi_name : "";
  set_bounds(&found, info);
  for (int32_t i = 0; i < n_files; i++) {
    l = files[i];
    if (l->module.base != found.module.base || l->module.high != found.module.high || strcmp(l->name, name) != 0)
      continue;
    l->headers = found.headers;
    l->frames = found.frames;
    return l;
  }
  if (n_files == WTL_MOST_ELF_FILES || !(l = malloc(sizeof *l))) return NULL;
  *l = found;
  l->is_libc = is_linker(name) || strncmp(file_name(name), "libc.so", 7) == 0;
  if (!(l->name = strdup(name))) {
    free(l);
    return NULL;
  }
  return files[n_files++] = l;
}

typedef struct scan {
  int order, linker; /* linker: the position of the dynamic linker; -1: not seen yet */
} scan;

static int add_file(struct dl_phdr_info *info, size_t size, void *arg)
{
  scan *s = arg;
  loaded *l = entry_of(info);
  (void)size;
  if (l) {
    l->is_present = true;
    l->order = s->order;
    if (s->linker < 0 && is_linker(l->name)) s->linker = s->order;
  }
  s->order++;
  return 0;
}

bool wtl_elf_files_update(void)
{
  counts now = {0};
  scan s = {0, -1};
  dl_iterate_phdr(read_counts, &now);
  if (now.adds == adds && now.subs == subs && n_files) return false;
  adds = now.adds;
  subs = now.subs;
  for (int32_t i = 0; i < n_files; i++) files[i]->is_present = false;
  dl_iterate_phdr(add_file, &s);
  /* The list is in the order of loading, and the dynamic linker belongs to the files that came with the program. */
  for (int32_t i = 0; i < n_files; i++) files[i]->stays = files[i]->is_present && files[i]->order <= s.linker;
  return true;
}

int32_t wtl_elf_file_of(uintptr_t addr)
{
  for (int32_t i = 0; i < n_files; i++)
    if (files[i]->is_present && addr >= files[i]->module.low && addr < files[i]->module.high) {
      if (!files[i]->is_known) {
        struct dl_phdr_info info = {.dlpi_addr = files[i]->module.base,
                                    .dlpi_name = files[i]->name,
                                    .dlpi_phdr = files[i]->headers,
                                    .dlpi_phnum = files[i]->n_headers};
        wtl_module_read(&info, files[i]->order, &files[i]->module);
        files[i]->is_known = true;
      }
      return i;
    }
  return -1;
}

const wtl_module *wtl_elf_file(int32_t file)
{
  return &files[file]->module;
}

wtl_frame_rule wtl_elf_file_rule(int32_t file, uintptr_t addr)
{
#if defined(__x86_64__)
  if (file >= 0 && files[file]->frames)
    return wtl_frame_rule_read(files[file]->frames, files[file]->frames_bytes, addr);
#endif
  (void)file, (void)addr;
  return (wtl_frame_rule){.end_kind = WTL_FRAME_UNKNOWN};
}

bool wtl_elf_file_is_libc(int32_t file)
{
  return file >= 0 && files[file]->is_libc;
}

bool wtl_elf_file_stays(int32_t file)
{
  return file < 0 || files[file]->stays;
}

#ifdef HAS_FIND_OBJECT

bool wtl_elf_file_is_at(int32_t file, uintptr_t addr)
{
  struct dl_find_object found;
  const loaded *l = files[file];
  if (_dl_find_object((void *)addr, &found) != 0 || found.dlfo_link_map->l_addr != l->module.base) return false;
  return strcmp(found.dlfo_link_map->l_name, l->name) == 0;
}

#else

bool wtl_elf_file_is_at(int32_t file, uintptr_t addr)
{
  counts now = {0};
  (void)file, (void)addr;
  dl_iterate_phdr(read_counts, &now);
  return now.adds == adds && now.subs == subs;
}

#endif
