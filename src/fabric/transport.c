/* transport.c - loads the module of a network. */
#include "fabric/transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library_module.h"
#include "node/boot_mpi.h"

/* Sets variables that UCX reads while it is loaded. A program that has already loaded UCX has made its own choice. */
static void prepare_ucx(void)
{
  void *loaded = dlopen("libucs.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (loaded) {
    dlclose(loaded);
    return;
  }
  setenv("UCX_HANDLE_ERRORS", "none", 0); /* the program handles its signals itself */
  setenv("UCX_LOG_LEVEL", "error", 0);    /* messages of other jobs are counted, not reported */
}

static const wtl_transport_ops *load_ucx(char *error, size_t size)
{
  prepare_ucx();
  return wtl_library_module_load("net-ucx", error, size);
}

/* The module is the one that also boots by MPI. If boot used something else, MPI starts now. */
static const wtl_transport_ops *load_mpi(char *error, size_t size)
{
  int rank, n;
  wtl_mpi mpi;
  if (wtl_boot_mpi_load(&mpi, error, size) != 0 || mpi.ops->start(mpi.shared, &rank, &n, error, size) != 0) return NULL;
  return dlsym(mpi.module, "wtl_transport_mpi");
}

const wtl_transport_ops *wtl_transport_load(const char *name, char *error, size_t size)
{
  char no_ucx[512] = "", no_mpi[512] = "";
  const wtl_transport_ops *ops = strcmp(name, "mpi") == 0 ? NULL : load_ucx(no_ucx, sizeof no_ucx);
  if (!ops && strcmp(name, "ucx") != 0) ops = load_mpi(no_mpi, sizeof no_mpi);
  if (!ops)
    snprintf(error, size, "the job has PEs on other nodes, but no network can be loaded%s%s%s%s",
             *no_ucx ? ": ucx: " : "", no_ucx, *no_mpi ? ": mpi: " : "", no_mpi);
  return ops;
}
