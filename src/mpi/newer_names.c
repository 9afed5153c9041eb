/*
 * newer_names.c - lets a program see only those names of later versions of MPI that the MPI of the process has.
 *
 * A program that is built for several MPIs asks whether a call is there: by a weak reference (mpi4py's packages) or by
 * dlsym. Without the preload library it finds none in an MPI of an earlier version, and goes another way. So each such
 * name is an indirect function (STT_GNU_IFUNC): the linker calls wtl_mpi_resolve and takes its result for the address.
 *
 * The linker relocates a preloaded library after those that the program is linked with. They may ask before this
 * library is relocated. Then it cannot call the C library and gives the address.
 */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

extern const char *const wtl_mpi_names[];

/* Returns the address for a name: `stub`, or NULL if no other library defines the name. */
void *wtl_mpi_resolve(size_t i, void *stub) __attribute__((visibility("hidden")));

typedef struct search {
  const char *name;
  uint32_t hash;
  uintptr_t self; /* an address in this library */
  bool found;
} search;

/* The hash of the section .gnu.hash. */
static uint32_t hash_of(const char *name)
{
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

typedef struct tables {
  const ElfW(Sym) * symbols;
  const char *texts;
  const uint32_t *hashes;
} tables;

/* The tables of an object. The linker has made the addresses absolute, except in the kernel's object. */
static tables tables_of(const struct dl_phdr_info *object)
{
  tables t = {0};
  const ElfW(Dyn) *d = NULL;
  for (int i = 0; i < object->dlpi_phnum; i++)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC) d = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  for (; d && d->d_tag != DT_NULL; d++) {
    uintptr_t at = d->d_un.d_ptr < object->dlpi_addr ? object->dlpi_addr + d->d_un.d_ptr : d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB) t.symbols = (const void *)at;
    if (d->d_tag == DT_STRTAB) t.texts = (const void *)at;
    if (d->d_tag == DT_GNU_HASH) t.hashes = (const void *)at;
  }
  return t;
}

/* The table of hashes: four numbers, a filter of words, the first symbol of each bucket, a hash for each symbol. */
static bool defines(const tables *t, const search *s)
{
  uint32_t n_buckets = t->hashes[0], first = t->hashes[1], n_words = t->hashes[2];
  const uint32_t *buckets = (const uint32_t *)(const void *)((const ElfW(Addr) *)(const void *)&t->hashes[4] + n_words);
  const uint32_t *chain = buckets + n_buckets;
  if (!n_buckets) return false;
  uint32_t i = buckets[s->hash % n_buckets];
  if (i < first) return false;
  do {
    const ElfW(Sym) *symbol = &t->symbols[i];
    if ((chain[i - first] | 1) == (s->hash | 1) && symbol->st_shndx != SHN_UNDEF &&
        strcmp(t->texts + symbol->st_name, s->name) == 0)
      return true;
  } while (!(chain[i++ - first] & 1));
  return false;
}

static bool contains(const struct dl_phdr_info *object, uintptr_t addr)
{
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &object->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && addr - object->dlpi_addr - p->p_vaddr < p->p_memsz) return true;
  }
  return false;
}

static int find_in_object(struct dl_phdr_info *object, size_t size, void *arg)
{
  search *s = arg;
  (void)size;
  if (contains(object, s->self)) return 0;
  tables t = tables_of(object);
  s->found = t.symbols && t.texts && t.hashes && defines(&t, s);
  return s->found;
}

void *wtl_mpi_resolve(size_t i, void *stub)
{
  static void *volatile relocated = (void *)&relocated;
  if (relocated != (void *)&relocated) return stub;
  search s = {wtl_mpi_names[i], hash_of(wtl_mpi_names[i]), (uintptr_t)&relocated, false};
  dl_iterate_phdr(find_in_object, &s);
  return s.found ? stub : NULL;
}
