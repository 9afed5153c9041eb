/* call_slot.c - finds the slots of a loaded file in its relocations, and overwrites them. */
#include "base/call_slot.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/align.h"

typedef struct object {
  const struct dl_phdr_info *file;
  const ElfW(Sym) * symbols;
  const char *names;
  wtl_call_slot *list;
  size_t n;
} object;

/* Returns an entry as an address. On most machines the C library has added the base already. */
static const void *at(const object *o, ElfW(Addr) value)
{
  return (const void *)(value < o->file->dlpi_addr ? o->file->dlpi_addr + value : value);
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

/* Returns whether the file finds the function that the list has, or the first one of that name. */
static bool finds_own(const object *o, wtl_call_slot *s)
{
  void *handle = dlopen(o->file->dlpi_name, RTLD_LAZY | RTLD_NOLOAD), *found = handle ? dlsym(handle, s->name) : NULL;
  if (handle) dlclose(handle);
  if (found && !s->own) s->own = found;
  return found && found == s->own;
}

/* Redirects a slot. Slots are read-only after they are filled if the linker was asked for it. */
static void redirect(void **slot, void *replacement)
{
  uintptr_t begin = wtl_page_down((uintptr_t)slot), end = wtl_page_up((uintptr_t)slot + 1);
  if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) == 0)
    atomic_store((void *_Atomic *)(void *)slot, replacement);
}

static void search(const object *o, const ElfW(Rela) * rows, size_t bytes)
{
  for (size_t i = 0; rows && i < bytes / sizeof *rows; i++) {
    if (!is_slot(ELF64_R_TYPE(rows[i].r_info))) continue;
    const char *called = o->names + o->symbols[ELF64_R_SYM(rows[i].r_info)].st_name;
    for (size_t k = 0; k < o->n; k++) {
      if (called[0] != o->list[k].name[0]) continue; /* nearly all; a large file has thousands */
      void **slot = (void **)(o->file->dlpi_addr + rows[i].r_offset);
      if (strcmp(called, o->list[k].name) == 0 && *slot != o->list[k].replacement && finds_own(o, &o->list[k]))
        redirect(slot, o->list[k].replacement);
    }
  }
}

void wtl_slot_redirect(const struct dl_phdr_info *file, wtl_call_slot *list, size_t n)
{
  object o = {.file = file, .list = list, .n = n};
  const ElfW(Dyn) *d = NULL;
  const ElfW(Rela) *lazy = NULL, *rest = NULL;
  size_t n_lazy = 0, n_rest = 0;
  for (int i = 0; i < file->dlpi_phnum; i++)
    if (file->dlpi_phdr[i].p_type == PT_DYNAMIC) d = (const void *)(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr);
  for (; d && d->d_tag != DT_NULL; d++) {
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
