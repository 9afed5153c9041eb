/* module_path.c - finds modules in the folder of this library. */
#include "base/module_path.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void wtl_library_module_path(const char *name, char *path, size_t size)
{
  Dl_info here;
  const char *slash =
      dladdr((void *)(uintptr_t)wtl_library_module_path, &here) && here.dli_fname ? strrchr(here.dli_fname, '/') : NULL;
  snprintf(path, size, "%.*slibwattle-%s.so", slash ? (int)(slash - here.dli_fname) + 1 : 0,
           slash ? here.dli_fname : "", name);
}
