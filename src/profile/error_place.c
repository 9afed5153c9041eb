/* error_place.c - finds the first frame of the stack outside these libraries. */
#include "profile/error_place.h"

#include <execinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "profile/line.h"
#include "profile/modules.h"

enum { DEEP = 32 }; /* at most this many frames of these libraries; usually about five */

static const char *file_of(const wtl_module *m)
{
  const char *slash = strrchr(m->path, '/');
  return slash ? slash + 1 : m->path;
}

/* True for the libraries that are built here. A front end calls the runtime or another front end. */
static bool is_ours(const char *file)
{
  return strncmp(file, "libwattle", 9) == 0 || strncmp(file, "libarmci.so", 11) == 0;
}

/* Writes " at program+0x24d4 (halo.c:112)"; "" if unknown. Returns `text`. */
static const char *place(char *text, size_t size)
{
  void *frames[DEEP];
  wtl_module *modules = NULL;
  size_t n = 0;
  int depth = backtrace(frames, DEEP);
  bool inside = false; /* a sanitizer's backtrace is itself the first frame */
  text[0] = '\0';
  for (int i = 0; i < depth; i++) {
    uintptr_t addr = (uintptr_t)frames[i];
    int at = wtl_module_of(addr, &modules, &n);
    if (at < 0) break;
    const wtl_module *m = &modules[at];
    bool ours = is_ours(file_of(m));
    inside |= ours;
    if (ours || !inside) continue;
    /* Frames of the C library belong to exit or to the start of a thread. */
    if (strncmp(file_of(m), "libc.so", 7) == 0) break;
    uintptr_t headers = (uintptr_t)getauxval(AT_PHDR); /* of the program */
    bool own = headers >= m->low && headers < m->high;
    uint64_t offset = addr - m->base - 1;
    char line[160];
    snprintf(text, size, " at %.90s+0x%llx%s", own ? "program" : file_of(m), (unsigned long long)offset,
             wtl_line_of(own ? NULL : m->path, offset, line, sizeof line));
    break;
  }
  free(modules);
  return text;
}

const char *wtl_error_place(const char *call)
{
  static _Thread_local char text[512];
  char at[384];
  snprintf(text, sizeof text, "%s%s", call, place(at, sizeof at));
  return text;
}
