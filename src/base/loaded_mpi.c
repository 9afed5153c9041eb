/* loaded_mpi.c - searches the loaded libraries for the names of MPI. */
#include "base/loaded_mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* A function of an MPI that no tool and no library of Wattle defines, too. */
static const char of_mpi[] = "PMPI_Initialized";

static int find_in_object(struct dl_phdr_info *object, size_t size, void *out)
{
  const char *slash = strrchr(object->dlpi_name, '/');
  if (strncmp(slash ? slash + 1 : object->dlpi_name, "libmpi", 6) != 0) return 0;
  void *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle && dlsym(handle, of_mpi)) {
    snprintf(out, PATH_BYTES, "%s", object->dlpi_name);
    return 1;
  }
  if (handle) dlclose(handle);
  return 0;
}

const char *wtl_loaded_mpi_interface(void *mpi)
{
  Dl_info where;
  void *init = dlsym(mpi, of_mpi), *library = NULL;
  if (init && dladdr(init, &where) && where.dli_fname) {
    const char *slash = strrchr(where.dli_fname, '/');
    if (strncmp(slash ? slash + 1 : where.dli_fname, "libmpi_abi.", 11) == 0) return "abi";
    library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* NULL: the program itself contains MPI */
  }
  /* Another library may have loaded another MPI, so that of the program is searched, if there is one. */
  void *from = library ? library : mpi;
  const char *found = NULL;
  if (dlsym(from, "ompi_mpi_comm_world"))
    found = "openmpi";
  else if (dlsym(from, "MPIR_Dup_fn") || dlsym(from, "MPIX_Comm_agree"))
    found = "mpich";
  if (library) dlclose(library);
  return found;
}

void *wtl_loaded_mpi(void)
{
  char path[PATH_BYTES];
  if (dlsym(RTLD_DEFAULT, of_mpi)) return dlopen(NULL, RTLD_LAZY);
  if (!dl_iterate_phdr(find_in_object, path)) return NULL;
  return dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}
