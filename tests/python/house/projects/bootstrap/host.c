/* host.c - loads the plug-in, moves five bytes between each two PEs and checks them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin.h"

enum { BYTES = 5 };

static char value(int from, int to, int i)
{
  return (char)(17 * from + 5 * to + i);
}

int main(void)
{
  calls c;
  void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  int (*init)(calls *) = plugin ? (int (*)(calls *))dlsym(plugin, "plugin_init") : NULL;
  if (!init) return fprintf(stderr, "%s\n", dlerror()), 1;
  if (init(&c) != 0) return 2;
  char *given = malloc((size_t)c.n * BYTES), *gathered = malloc((size_t)c.n * BYTES),
       *exchanged = malloc((size_t)c.n * BYTES);
  for (int to = 0; to < c.n; to++)
    for (int i = 0; i < BYTES; i++) given[to * BYTES + i] = value(c.me, to, i);
  if (c.gather(given, gathered, BYTES) || c.exchange(given, exchanged, BYTES) || c.barrier()) return 3;
  for (int from = 0; from < c.n; from++)
    for (int i = 0; i < BYTES; i++) {
      if (gathered[from * BYTES + i] != value(from, 0, i)) return 4;
      if (exchanged[from * BYTES + i] != value(from, c.me, i)) return 5;
    }
  if (c.me == 0) printf("%d PEs started by the plug-in\n", c.n);
  c.end();
  return 0;
}
