#include "fabric/net.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Modules lie where this library lies. */
static void module_path(const char *name, char *path, size_t size)
{
  Dl_info here;
  const char *slash =
      dladdr((void *)(uintptr_t)wtl_net_open, &here) && here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
  snprintf(path, size, "%.*slibwattle-net-%s.so", slash ? (int)(slash - here.dli_fname) + 1 : 0,
           slash ? here.dli_fname : "", name);
}

int wtl_net_open(wtl_net **net, const char *name, wtl_boot *boot, const wtl_net_home *home, char *error, size_t size)
{
  char path[4200], symbol[64];
  module_path(name, path, sizeof path);
  snprintf(symbol, sizeof symbol, "wtl_net_%s", name);
  setenv("UCX_HANDLE_ERRORS", "none", 0); /* read when UCX is loaded: the program's signals are its own */
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const wtl_net_ops *ops = module ? dlsym(module, symbol) : NULL;
  if (!ops) {
    snprintf(error, size, "the job has PEs on other nodes, but the network %s cannot be loaded: %s", name, dlerror());
    return WTL_EXIT_UNAVAILABLE;
  }
  return ops->start(net, boot, home, error, size);
}
