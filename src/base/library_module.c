/* library_module.c - finds modules in the folder of this library, loads them, and names the package that is missing. */
#include "base/library_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef WTL_MODULES_BUILT /* names of the modules whose libraries CMake found (src/CMakeLists.txt) */
#define WTL_MODULES_BUILT ""
#endif
#ifdef WTL_WHEEL
#define COPY "this Wattle is a wheel that"
#define REMEDY "install Wattle from its sources"
#else
#define COPY "this Wattle"
#define REMEDY "build again"
#endif

static const struct {
  const char *name;        /* of the file: libwattle-NAME.so */
  const char *symbol;      /* the object or function that it exports */
  const char *use;         /* its purpose, for a message */
  const char *run_package; /* Debian's package of the library that it needs */
  const char *build_package;
  const char *library; /* its name for users */
} table[] = {
    {"boot-pmix", "wtl_pmix_module", "boot by PMIx", "libpmix2", "libpmix-dev", "PMIx"},
    {"net-ucx", "wtl_transport_ucx", "the network by UCX", "libucx0", "libucx-dev", "UCX"},
    {"net-ofi", "wtl_transport_ofi", "the network by libfabric", "libfabric1", "libfabric-dev", "libfabric"},
    {"machine-yaml", "wtl_machine_parse", "machine profiles in files", "libcyaml1", "libcyaml-dev", "libcyaml"},
};

void wtl_library_path(const char *before, const char *name, const char *after, char *path, size_t size)
{
  char real[PATH_MAX];
  Dl_info here;
  const char *file = dladdr((void *)(uintptr_t)wtl_library_path, &here) ? here.dli_fname : NULL;
  /* The loader may have found the library by a link in another folder (PREFIX/lib/wattle/runtime). */
  if (file && realpath(file, real)) file = real;
  const char *slash = file ? strrchr(file, '/') : NULL;
  snprintf(path, size, "%.*s%s%s%s", slash ? (int)(slash - file) + 1 : 0, slash ? file : "", before, name, after);
}

void wtl_library_module_path(const char *name, char *path, size_t size)
{
  wtl_library_path("libwattle-", name, ".so", path, size);
}

void *wtl_library_module_load(const char *name, char *error, size_t size)
{
  size_t i = 0;
  char path[4200];
  while (strcmp(table[i].name, name) != 0) i++;
  wtl_library_module_path(name, path, sizeof path);
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void *found = module ? dlsym(module, table[i].symbol) : NULL;
  if (found) return found;
  const char *why = dlerror();
  if (access(path, F_OK) != 0 && !strstr(WTL_MODULES_BUILT, name))
    snprintf(error, size, COPY " was built without %s, so it lacks %s (Debian: install %s, then " REMEDY ")",
             table[i].library, table[i].use, table[i].build_package);
  else if (access(path, F_OK) != 0)
    snprintf(error, size, COPY " was built with %s, but its module %s is gone; install Wattle again", table[i].library,
             path);
  else
    snprintf(error, size, "%s is unavailable (Debian: install %s): %s", table[i].use, table[i].run_package, why);
  return NULL;
}
