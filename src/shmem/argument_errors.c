/* argument_errors.c - the error messages of the argument checks. */
#include "shmem.h"
#include "record/record.h"
#include "shmem/shmem_front.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <unistd.h>

void wtl_front_refuse_uninitialised(uint32_t call)
{
  char when[64];
  wtl_pe_why_none(when, sizeof when, "shmem_init", "shmem_finalize");
  wtl_message_pe(wtl_boot_env_rank());
  wtl_message_print("%s: called %s", wtl_shmem_call_here(call), when);
  wtl_message_linger();
  _exit(WTL_EXIT_USAGE);
}

void wtl_shmem_finalized_already(uint32_t call)
{
  if (!wtl_pe_is_over()) wtl_front_refuse_uninitialised(call);
  if (wtl_boot_env_rank() != 0 || wtl_pe_was_ended_by_another_call()) return;
  wtl_message_pe(0);
  wtl_message_print(
      "%s: called although nothing is left to finalize: more calls than initializations; the program continues",
      wtl_shmem_call_name(call));
}

void wtl_shmem_report_other_thread(uint32_t call)
{
  static atomic_flag reported = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&reported)) return;
  wtl_message_print(
      "%s: another thread than the one that started OpenSHMEM calls, which SHMEM_THREAD_%s does not allow: request "
      "SHMEM_THREAD_MULTIPLE from shmem_init_thread, or SERIALIZED if one thread calls at a time; the call continues",
      wtl_error_place(wtl_record_call(wtl_self->record, call)->name),
      wtl_self->thread_level == SHMEM_THREAD_SINGLE ? "SINGLE" : "FUNNELED");
}

void wtl_shmem_refuse_pe(uint32_t call, int pe)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: there is no PE %d; this job has PEs 0 to %d", wtl_shmem_call_here(call), pe,
              wtl_self->n - 1);
}

void wtl_shmem_refuse_root(uint32_t call, int root, int n)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: there is no PE %d to be the root; this team has PEs 0 to %d",
              wtl_shmem_call_here(call), root, n - 1);
}

void wtl_shmem_refuse_count(uint32_t call, size_t n, size_t size)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %zu elements of %zu bytes are more than any memory (a negative count?)",
              wtl_shmem_call_here(call), n, size);
}

/* Returns the name of the shared library that contains the variable or code at `p`, or NULL if none does. */
static const char *library_of(const void *p)
{
  Dl_info found;
  struct link_map *object = NULL;
  if (!dladdr1(p, &found, (void **)&object, RTLD_DL_LINKMAP) || !object || !object->l_name[0]) return NULL;
  return object->l_name;
}

void wtl_shmem_refuse_symmetric(uint32_t call, const char *name, const void *p, size_t bytes, int pe)
{
  size_t available = wtl_symmetric_bytes(wtl_self, p);
  if (!p)
    wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s is NULL (target PE %d, %zu bytes)", wtl_shmem_call_here(call), name, pe, bytes);
  if (available)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: %s=%p is symmetric, but only %zu of the %zu bytes up to its end are (target PE %d)",
                wtl_shmem_call_here(call), name, p, available, bytes, pe);
  if (wtl_pe_is_constant(wtl_self, p))
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: %s=%p is not symmetric (target PE %d, %zu bytes): it is a constant or code of the "
                "program, %s",
                wtl_shmem_call_here(call), name, p, pe, bytes,
                wtl_readable_bytes(wtl_self, p) < bytes ? "which end before" : "which can only be read");
  const char *library = library_of(p);
  if (library)
    wtl_pe_fail(WTL_EXIT_USAGE,
                "%s: %s=%p is not symmetric (target PE %d, %zu bytes): it is in the shared library %s; of global and "
                "static variables, only the program's own are symmetric",
                wtl_shmem_call_here(call), name, p, pe, bytes, library);
  wtl_pe_fail(WTL_EXIT_USAGE,
              "%s: %s=%p is not symmetric (target PE %d, %zu bytes): use memory from shmem_malloc or a global or "
              "static variable%s",
              wtl_shmem_call_here(call), name, p, pe, bytes,
              !wtl_self->settings.statics.on ? " (these only with WATTLE_STATICS=on)"
              : !wtl_self->boot.one_program  ? " (these only where all PEs run the same executable)"
                                             : "");
}

void wtl_shmem_refuse_overlap(uint32_t call, wtl_area a, wtl_area b, bool in_place)
{
  bool same = a.start == b.start && a.bytes == b.bytes;
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s=%p (%zu bytes) and %s=%p (%zu bytes) %s; allowed: no byte in common%s",
              wtl_shmem_call_here(call), a.name, a.start, a.bytes, b.name, b.start, b.bytes,
              same ? "are the same memory" : "overlap in part", in_place ? ", or the same address" : "");
}

void wtl_shmem_refuse_null(uint32_t call, const char *name)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s is NULL", wtl_shmem_call_here(call), name);
}

void wtl_shmem_refuse_local(uint32_t call, const char *name, size_t bytes)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s is NULL, but %zu bytes are needed there", wtl_shmem_call_here(call), name, bytes);
}

void wtl_shmem_refuse_alignment(uint32_t call, const char *name, const void *p, size_t align)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s=%p is not aligned to its type's %zu bytes", wtl_shmem_call_here(call), name, p,
              align);
}

void wtl_shmem_refuse_value(uint32_t call, const char *name, long long value, const char *allowed)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s=%lld is not valid here; allowed: %s", wtl_shmem_call_here(call), name, value,
              allowed);
}

void wtl_shmem_refuse_size(uint32_t call, const char *name, size_t value, const char *allowed)
{
  wtl_pe_fail(WTL_EXIT_USAGE, "%s: %s=%zu is not valid here%s; allowed: %s", wtl_shmem_call_here(call), name, value,
              value > SIZE_MAX / 2 ? " (a negative number?)" : "", allowed);
}
