/*
 * ucx_progress.c - observes the MPI's progress in UCX.
 *
 * An MPI over UCX makes progress by ucp_worker_progress, which returns whether anything happened. A library calls
 * functions of another one through slots of its own. The MPI's slots for that name lead to this file instead. Other
 * users of UCX in the process, perhaps with another copy of it, are left alone.
 *
 * After an event the rest of the call is another wait, under either MPI. So the target of many small one-sided calls
 * polls for the next one. It does not serve a batch of them at the end of each sleep.
 *
 * Without an event MPICH over UCX, as Debian has it, is idle. It polls its own shared memory separately, so this may be
 * wrong, as the result of a test may be. The door notices that by the time until the next call. Open MPI also uses
 * other networks, and reports that it is idle by sched_yield (yield_hook.c).
 */
#include "mpi/mpi_front.h"

#ifndef WTL_SIM

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/align.h"

typedef unsigned progress(void *worker);

static progress *own;

/* With MPI_THREAD_MULTIPLE MPICH holds a lock here that its other threads need, so no thread sleeps then. */
static unsigned observed_progress(void *worker)
{
  unsigned events = own(worker);
  if (events && wtl_mpi_here.is_unchanged)
    wtl_mpi_progressed();
  else if (events)
    wtl_mpi_here.result = WTL_TEST_PROGRESS;
  else if (WTL_MPI_IS_MPICH && wtl_mpi_here.is_unchanged && !wtl_mpi_self->door.is_shared)
    wtl_mpi_idle();
  return events;
}

/* --- the slots --- */

static const char name[] = "ucp_worker_progress";

typedef struct object {
  ElfW(Addr) base;
  const ElfW(Sym) * symbols;
  const char *names;
} object;

/* Returns an entry as an address. On most machines the C library has added the base already. */
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

/* Redirects a slot. Slots are read-only after they are filled if the linker was asked for it. */
static void redirect(void **slot)
{
  uintptr_t begin = wtl_page_down((uintptr_t)slot), end = wtl_page_up((uintptr_t)slot + 1);
  if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) == 0)
    atomic_store((void *_Atomic *)(void *)slot, (void *)observed_progress);
}

static void search(const object *o, const ElfW(Rela) * rows, size_t bytes)
{
  for (size_t i = 0; rows && i < bytes / sizeof *rows; i++) {
    const char *called = o->names + o->symbols[ELF64_R_SYM(rows[i].r_info)].st_name;
    if (is_slot(ELF64_R_TYPE(rows[i].r_info)) && strcmp(called, name) == 0)
      redirect((void **)(o->base + rows[i].r_offset));
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

/* Returns whether the object is the library with MPI's calls, at `mpi`, or a component of Open MPI, which Open MPI
 * loads for itself alone. */
static bool is_of_mpi(const struct dl_phdr_info *object, const void *mpi)
{
  const char *slash = strrchr(object->dlpi_name, '/'), *file = slash ? slash + 1 : object->dlpi_name;
  if (mpi && mpi == (const void *)object->dlpi_addr) return true;
  return WTL_MPI_IS_OPEN_MPI && (strncmp(file, "mca_", 4) == 0 || strncmp(file, "libmca_", 7) == 0);
}

/* Returns the function of that name as this object finds it; NULL if it finds none. */
static progress *find_progress(const char *path)
{
  progress *found = NULL;
  void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return NULL;
  *(void **)&found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

static int hook_object(struct dl_phdr_info *object, size_t size, void *mpi)
{
  progress *found = is_of_mpi(object, mpi) ? find_progress(object->dlpi_name) : NULL;
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
  void *init = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
  if (init) dladdr(init, &where);
  dl_iterate_phdr(hook_object, where.dli_fbase);
}

#else

void wtl_mpi_hook_ucx_progress(void) {}

#endif
