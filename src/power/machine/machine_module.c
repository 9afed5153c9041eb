/*
 * machine_module.c - parses the text of a profile by the module that needs libcyaml (yaml/machine_yaml.c).
 *
 * DESIGN. Few processes read a profile from a file: those of machines in the table of CPUs need none, and the rules of
 * the shipped profiles are compiled. So the parser and its library are loaded on request. The module has a function of
 * the same name, which dlsym finds in the module first. Simulated programs and fuzz targets contain the parser itself
 * instead of this file.
 */
#include <pthread.h>
#include <stdio.h>

#include "base/library_module.h"
#include "power/machine/machine.h"

static wtl_machine *(*parse)(const char *file, const char *text, size_t length, char *error, size_t size);
static char reason[512]; /* why the module cannot be loaded */

static void load(void)
{
  *(void **)&parse = wtl_library_module_load("machine-yaml", reason, sizeof reason);
}

bool wtl_machine_has_parser(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return parse != NULL;
}

wtl_machine *wtl_machine_parse(const char *file, const char *text, size_t length, char *error, size_t size)
{
  if (wtl_machine_has_parser()) return parse(file, text, length, error, size);
  snprintf(error, size, "machine profile %s: profiles in files cannot be read: %s", file, reason);
  return NULL;
}
