/* transport.c - loads the module of a network. */
#include "fabric/transport.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library_module.h"
#include "node/boot_mpi.h"

/* A program that has already loaded the library under a network has made its own choice of the library's variables. */
static bool is_loaded(const char *library)
{
  void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (loaded) dlclose(loaded);
  return loaded;
}

/* Sets variables that UCX reads while it is loaded. */
static void prepare_ucx(void)
{
  if (is_loaded("libucs.so.0")) return;
  setenv("UCX_HANDLE_ERRORS", "none", 0); /* the program handles its signals itself */
  setenv("UCX_DEBUG_SIGNO", "0", 0);      /* SIGHUP, too */
  setenv("UCX_LOG_LEVEL", "error", 0);    /* messages of other jobs are counted, not reported */
}

static const wtl_transport_ops *load_ucx(const char *sysfs, char *error, size_t size)
{
  prepare_ucx();
  return wtl_library_module_load("net-ucx", error, size);
}

/* The module is the one that also boots by MPI. If boot used something else, MPI starts now. */
static const wtl_transport_ops *load_mpi(const char *sysfs, char *error, size_t size)
{
  int rank, n;
  wtl_mpi mpi;
  if (wtl_boot_mpi_load(&mpi, error, size) != 0 || mpi.ops->start(mpi.shared, &rank, &n, error, size) != 0) return NULL;
  return dlsym(mpi.module, "wtl_transport_mpi");
}

static bool has_device(const char *sysfs, const char *devices)
{
  char pattern[512];
  glob_t at;
  snprintf(pattern, sizeof pattern, "%s/%s", sysfs, devices);
  bool found = glob(pattern, GLOB_NOSORT, NULL, &at) == 0;
  globfree(&at);
  return found;
}

/*
 * Sets variables that libfabric reads at its first use.
 *
 * A thread of its provider "sockets" polls for 10 ms after each event. Where PEs share cores, that makes a message 20
 * times as slow (10 instead of 0.5 ms from PE to PE, with 4 PEs on 2 cores).
 *
 * "tcp;ofi_rxm" makes 4,096 buffers to receive for all connections of a PE. With 1,024 the PE takes 51 MiB less, at the
 * same speed. Over verbs each connection has so many, and libfabric's default is smaller there.
 */
static void prepare_ofi(const char *sysfs)
{
  if (is_loaded("libfabric.so.1")) return;
  setenv("FI_SOCKETS_PE_WAITTIME", "0", 0);
  if (!has_device(sysfs, "class/infiniband/*")) setenv("FI_OFI_RXM_MSG_RX_SIZE", "1024", 0);
}

static const wtl_transport_ops *load_ofi(const char *sysfs, char *error, size_t size)
{
  prepare_ofi(sysfs);
  return wtl_library_module_load("net-ofi", error, size);
}

/* Devices that UCX does not reach by their own interface, and libfabric's providers for them. */
static const struct {
  const char *devices, *providers[3];
} better_by_ofi[] = {{"class/cxi/cxi*", {"cxi"}},                          /* Slingshot */
                     {"class/infiniband/hfi1_*", {"opx", "psm3", "psm2"}}, /* Omni-Path */
                     {"class/infiniband/efa_*", {"efa"}}};                 /* Amazon's EFA */

/* Has this node such a device, and libfabric a provider for it? */
static bool is_better_by_ofi(const char *sysfs)
{
  char why[512];
  for (size_t i = 0; i < sizeof better_by_ofi / sizeof better_by_ofi[0]; i++) {
    if (!has_device(sysfs, better_by_ofi[i].devices)) continue;
    const wtl_transport_ops *ops = load_ofi(sysfs, why, sizeof why);
    for (int p = 0; ops && p < 3 && better_by_ofi[i].providers[p]; p++)
      if (ops->has_provider(better_by_ofi[i].providers[p])) return true;
  }
  return false;
}

static const struct network {
  const char *name;
  const wtl_transport_ops *(*load)(const char *sysfs, char *error, size_t size);
} ucx = {"ucx", load_ucx}, ofi = {"ofi", load_ofi}, mpi = {"mpi", load_mpi};

const wtl_transport_ops *wtl_transport_load(const char *name, const char *sysfs, char *error, size_t size)
{
  const struct network *networks[] = {&ucx, &ofi, &mpi};
  bool is_auto = strcmp(name, "auto") == 0;
  const wtl_transport_ops *ops = NULL;
  size_t n = (size_t)snprintf(error, size, "the job has PEs on other nodes, but no network can be loaded");
  if (is_auto && is_better_by_ofi(sysfs)) networks[0] = &ofi, networks[1] = &ucx;
  for (size_t i = 0; i < 3 && !ops; i++) {
    char why[512] = "";
    if (!is_auto && strcmp(networks[i]->name, name) != 0) continue;
    ops = networks[i]->load(sysfs, why, sizeof why);
    if (n < size) n += (size_t)snprintf(error + n, size - n, ": %s: %s", networks[i]->name, why);
  }
  return ops;
}
