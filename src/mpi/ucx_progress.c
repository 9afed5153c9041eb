/*
 * Where an MPI looks for something to do in UCX, and what it finds.
 *
 * Each of its looks there calls ucp_worker_progress, which says whether anything happened. A library calls what it has
 * from another through a slot of its own; the MPI's slots for that name lead here instead. Nobody else's do: what else
 * in the process uses UCX, perhaps another copy of it, is left alone.
 *
 * Something came: what is waited for from now on is another wait, under either MPI. A target of many small one-sided
 * calls looks on so, instead of serving a batch of them at the end of each sleep.
 *
 * Nothing came: MPICH over UCX, as Debian's is, is idle then. What goes through its own shared memory it looks for
 * beside UCX. So "nothing" may be wrong, as a test's answer may: the door tells by how long it is until the next look.
 * Open MPI, which has other ways beside, tells of it by sched_yield (yield_hook.c).
 */
#include "mpi/mpi_front.h"

#if defined(MPICH_VERSION) || defined(OPEN_MPI)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/align.h"

typedef unsigned progress(void *worker);

static progress *own;

/* With MPI_THREAD_MULTIPLE MPICH holds a lock here that its other threads want: nobody rests then. */
static unsigned look(void *worker)
{
  unsigned events = own(worker);
  if (events && wtl_mpi_here.keeping)
    wtl_mpi_moved();
  else if (events)
    wtl_mpi_here.result = WTL_TEST_PROGRESS;
#ifdef MPICH_VERSION
  else if (wtl_mpi_here.keeping && !wtl_mpi_self->door.is_shared)
    wtl_mpi_idle();
#endif
  return events;
}

/* --- the slots --- */

static const char name[] = "ucp_worker_progress";

typedef struct object {
  ElfW(Addr) base;
  const ElfW(Sym) * symbols;
  const char *names;
} object;

/* The C library has made addresses of these entries, on most machines. */
static const void *at(const object *o, ElfW(Addr) value)
{
  return (const void *)(value < o->base ? o->base + value : value);
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
  uintptr_t begin = wtl_page_down((uintptr_t)slot), end = wtl_page_up((uintptr_t)slot + 1);
  if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) == 0)
    atomic_store((void *_Atomic *)(void *)slot, (void *)look);
}

static void search(const object *o, const ElfW(Rela) * rows, size_t bytes)
{
  for (size_t i = 0; rows && i < bytes / sizeof *rows; i++) {
    const char *called = o->names + o->symbols[ELF64_R_SYM(rows[i].r_info)].st_name;
    if (is_slot(ELF64_R_TYPE(rows[i].r_info)) && strcmp(called, name) == 0)
      lead_here((void **)(o->base + rows[i].r_offset));
  }
}

static void search_object(ElfW(Addr) base, const ElfW(Dyn) * entries)
{
  object o = {.base = base};
  const ElfW(Rela) *lazy = NULL, *rest = NULL;
  size_t n_lazy = 0, n_rest = 0;
  for (const ElfW(Dyn) *d = entries; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_SYMTAB) o.symbols = at(&o, d->d_un.d_ptr);
    if (d->d_tag == DT_STRTAB) o.names = at(&o, d->d_un.d_ptr);
    if (d->d_tag == DT_JMPREL) lazy = at(&o, d->d_un.d_ptr);
    if (d->d_tag == DT_PLTRELSZ) n_lazy = d->d_un.d_val;
    if (d->d_tag == DT_RELA) rest = at(&o, d->d_un.d_ptr);
    if (d->d_tag == DT_RELASZ) n_rest = d->d_un.d_val;
  }
  if (!o.symbols || !o.names) return;
  search(&o, lazy, n_lazy);
  search(&o, rest, n_rest);
}

/* --- the objects --- */

/* The library that has MPI_Init, at `mpi`, and Open MPI's components, which it opens for itself alone. */
static bool is_of_mpi(const struct dl_phdr_info *object, const void *mpi)
{
  const char *slash = strrchr(object->dlpi_name, '/'), *file = slash ? slash + 1 : object->dlpi_name;
  if (mpi && mpi == (const void *)object->dlpi_addr) return true;
#ifdef OPEN_MPI
  return strncmp(file, "mca_", 4) == 0 || strncmp(file, "libmca_", 7) == 0;
#else
  (void)file;
  return false;
#endif
}

/* What that name means in this object; NULL where it knows none. */
static progress *meaning(const char *path)
{
  progress *found = NULL;
  void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return NULL;
  *(void **)&found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

static int hear(struct dl_phdr_info *object, size_t size, void *mpi)
{
  progress *found = is_of_mpi(object, mpi) ? meaning(object->dlpi_name) : NULL;
  if (!found || (own && own != found)) return 0;
  own = found;
  for (int i = 0; i < object->dlpi_phnum; i++)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      search_object(object->dlpi_addr, (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
  return 0;
}

void wtl_mpi_hook_ucx_progress(void)
{
  Dl_info where = {0};
  void *init = dlsym(RTLD_DEFAULT, "PMPI_Init");
  if (init) dladdr(init, &where);
  dl_iterate_phdr(hear, where.dli_fbase);
}

#else

void wtl_mpi_hook_ucx_progress(void) {}

#endif
