#include "fabric/transport.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WTL_THREADS
extern const wtl_transport_ops wtl_transport_threads;

const wtl_transport_ops *wtl_transport_load(const char *name, char *error, size_t size)
{
  return &wtl_transport_threads;
}
#else
/* Modules lie where this library lies. */
static void module_path(const char *name, char *path, size_t size)
{
  Dl_info here;
  const char *slash =
      dladdr((void *)(uintptr_t)wtl_transport_load, &here) && here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
  snprintf(path, size, "%.*slibwattle-net-%s.so", slash ? (int)(slash - here.dli_fname) + 1 : 0,
           slash ? here.dli_fname : "", name);
}

/* What UCX reads while it is loaded; a program that has loaded it already has chosen for itself. */
static void prepare_ucx(void)
{
  void *loaded = dlopen("libucs.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (loaded) {
    dlclose(loaded);
    return;
  }
  setenv("UCX_HANDLE_ERRORS", "none", 0); /* the program's signals are its own */
  setenv("UCX_LOG_LEVEL", "error", 0);    /* strangers' messages are counted, not reported one by one */
}

const wtl_transport_ops *wtl_transport_load(const char *name, char *error, size_t size)
{
  char path[4200], symbol[64];
  module_path(name, path, sizeof path);
  snprintf(symbol, sizeof symbol, "wtl_transport_%s", name);
  prepare_ucx();
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const wtl_transport_ops *ops = module ? dlsym(module, symbol) : NULL;
  if (!ops)
    snprintf(error, size, "the job has PEs on other nodes, but the network %s cannot be loaded: %s", name, dlerror());
  return ops;
}
#endif
