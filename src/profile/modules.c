/* modules.c - looks up the loaded file that contains an address, with its build id. */
#include "profile/modules.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"

typedef struct search {
  uintptr_t addr;
  wtl_module *found;
  int index; /* of the object; 0 is the executable */
  int hit;
} search;

static void read_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * p, char *out)
{
  const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const ElfW(Nhdr) *note = (const void *)at;
    const unsigned char *name = (const unsigned char *)(note + 1), *desc = name + ((note->n_namesz + 3u) & ~3u);
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      for (unsigned i = 0; i < note->n_descsz && i < 32; i++) sprintf(out + 2 * i, "%02x", desc[i]);
      return;
    }
    at = (const char *)desc + ((note->n_descsz + 3u) & ~3u);
  }
}

static void name_file(wtl_module *m, const struct dl_phdr_info *info, int index)
{
  if (wtl_os_is_program(info, index) && wtl_os_program(m->path, sizeof m->path)) return;
  if (!info->dlpi_name || !realpath(info->dlpi_name, m->path)) snprintf(m->path, sizeof m->path, "%s", info->dlpi_name);
}

static void read_bounds(const struct dl_phdr_info *info, wtl_module *m)
{
  memset(m, 0, sizeof *m);
  m->base = info->dlpi_addr;
  m->low = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + p->p_vaddr;
    if (p->p_type != PT_LOAD) continue;
    if (start < m->low) m->low = start;
    if (start + p->p_memsz > m->high) m->high = start + p->p_memsz;
  }
}

void wtl_module_read(const struct dl_phdr_info *info, int order, wtl_module *m)
{
  read_bounds(info, m);
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_NOTE) read_build_id(info, &info->dlpi_phdr[i], m->build_id);
  name_file(m, info, order);
}

static int inspect(struct dl_phdr_info *info, size_t size, void *arg)
{
  search *s = arg;
  wtl_module *m = s->found;
  int index = s->index++;
  read_bounds(info, m);
  if (s->addr < m->low || s->addr >= m->high) return 0;
  wtl_module_read(info, index, m);
  return s->hit = 1;
}

int wtl_module_of(uintptr_t addr, wtl_module **known, size_t *n)
{
  search s = {.addr = addr};
  wtl_module *grown;
  for (size_t i = 0; i < *n; i++)
    if (addr >= (*known)[i].low && addr < (*known)[i].high) return (int)i;
  if (!(grown = realloc(*known, (*n + 1) * sizeof **known))) return -1;
  *known = grown;
  s.found = &grown[*n];
  wtl_os_each_object(inspect, &s);
  return s.hit ? (int)(*n)++ : -1;
}
