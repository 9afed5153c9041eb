/*
 * Where MPICH looks for something to do, and finds nothing.
 *
 * Over UCX, as Debian's is, each of its looks calls ucp_worker_progress, which says whether anything happened. A library
 * calls what it has from another through a slot of its own; MPICH's slot for that name leads here instead. Nobody else's
 * does: what else in the process uses UCX, perhaps another copy of it, is left alone.
 *
 * What goes through MPICH's own shared memory is looked for beside UCX. So "nothing" may be wrong, as a test's answer
 * may: the door tells by how long it is until the next look.
 */
#include "mpi/front.h"

#ifdef MPICH_VERSION

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned progress(void *worker);

static progress *own;

/* With MPI_THREAD_MULTIPLE MPICH holds a lock here that its other threads want: nobody rests then. */
static unsigned look(void *worker)
{
  unsigned events = own(worker);
  if (!wtl_mpi_here.keeping || wtl_mpi_self->door.is_shared) return events;
  if (events)
    wtl_mpi_moved();
  else
    wtl_mpi_idle();
  return events;
}

/* --- the slot --- */

typedef struct object {
  const struct link_map *map;
  const ElfW(Sym) * symbols;
  const char *names;
} object;

/* The C library has made addresses of these entries, on most machines. */
static const void *at(const struct link_map *map, ElfW(Addr) value)
{
  return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static bool is_slot(ElfW(Xword) type)
{
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#else
  return false;
#endif
}

/* Where a linker has asked for it, slots are not to be written once they are filled. */
static void lead_here(void **slot)
{
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)slot & ~(page - 1);
  if (mprotect((void *)begin, page, PROT_READ | PROT_WRITE) == 0)
    atomic_store((void *_Atomic *)(void *)slot, (void *)look);
}

static void search(const object *o, const ElfW(Rela) * rows, size_t bytes, const char *name)
{
  for (size_t i = 0; rows && i < bytes / sizeof *rows; i++) {
    const char *called = o->names + o->symbols[ELF64_R_SYM(rows[i].r_info)].st_name;
    if (is_slot(ELF64_R_TYPE(rows[i].r_info)) && strcmp(called, name) == 0)
      lead_here((void **)(o->map->l_addr + rows[i].r_offset));
  }
}

void wtl_mpi_hear_looks(void)
{
  static const char name[] = "ucp_worker_progress";
  Dl_info where;
  object o = {0};
  const ElfW(Rela) *lazy = NULL, *rest = NULL;
  size_t n_lazy = 0, n_rest = 0;
  void *mpi = dlsym(RTLD_DEFAULT, "PMPI_Init"); /* the library that has it is the one that looks */
  *(void **)&own = dlsym(RTLD_DEFAULT, name);
  if (!own || !mpi || !dladdr1(mpi, &where, (void **)&o.map, RTLD_DL_LINKMAP)) return;
  for (const ElfW(Dyn) *d = o.map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_SYMTAB) o.symbols = at(o.map, d->d_un.d_ptr);
    if (d->d_tag == DT_STRTAB) o.names = at(o.map, d->d_un.d_ptr);
    if (d->d_tag == DT_JMPREL) lazy = at(o.map, d->d_un.d_ptr);
    if (d->d_tag == DT_PLTRELSZ) n_lazy = d->d_un.d_val;
    if (d->d_tag == DT_RELA) rest = at(o.map, d->d_un.d_ptr);
    if (d->d_tag == DT_RELASZ) n_rest = d->d_un.d_val;
  }
  if (!o.symbols || !o.names) return;
  search(&o, lazy, n_lazy, name);
  search(&o, rest, n_rest, name);
}

#else /* Open MPI calls sched_yield by its name */

void wtl_mpi_hear_looks(void) {}

#endif
