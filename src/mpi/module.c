/* module.c - the object that a module for one MPI exports to preload.c. */
#include "mpi/module.h"

#include "base/json.h"
#include "mpi/mpi_front.h"
#include "profile/user_region.h"

extern void *const wtl_mpi_functions[];
extern const size_t wtl_mpi_n_functions;

#ifdef WTL_MPI_ABI
#include <string.h>

bool wtl_mpi_abi_is_mpich(void)
{
  static _Atomic int known; /* 0: not asked yet; 1: no; 2: yes */
  if (!known) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    known = strstr(text, "Open MPI") ? 1 : 2;
  }
  return known == 2;
}
#endif

static const wtl_mpi_passed_calls *passed;

static void start(const wtl_mpi_passed_calls *calls)
{
  passed = calls;
  wtl_mpi_find_fortran();
}

void wtl_mpi_passed_write(FILE *f, const void *arg)
{
  (void)arg;
  bool first = true;
  putc('[', f);
  for (size_t i = 0; passed && i < passed->n; i++) {
    if (!passed->counts[i]) continue;
    putc(first ? '{' : ',', f);
    if (!first) putc('{', f);
    const char *name = passed->names[i];
    wtl_json_text_field(f, "call", name[0] == 'P' ? name + 1 : name, 1);
    wtl_json_number_field(f, "calls", (double)passed->counts[i], 0);
    putc('}', f);
    first = false;
  }
  putc(']', f);
}

__attribute__((visibility("default"))) const wtl_mpi_entry wtl_mpi_module = {
    WTL_VERSION, wtl_mpi_functions, &wtl_mpi_n_functions, start, wtl_mpi_idle, wtl_user_region_mark};
