/* boot_single.c - boot of a program without a launcher, which is one PE. */
#include <stdlib.h>

#include "node/boot.h"

static bool offered(void)
{
  return true;
}

static int start(wtl_boot *b, char *error, size_t size)
{
  static int self[1] = {0};
  b->n_pes = b->n_local = 1;
  b->local_pe = b->leader_pe = self;
  b->n_nodes = 1;
  return 0;
}

static int publish(wtl_boot *b, const char *key, const char *value)
{
  return 0;
}

static int fence(wtl_boot *b)
{
  return 0;
}

static int lookup(wtl_boot *b, int pe, const char *key, char *value, size_t size)
{
  return -1; /* no other PE can have published a value */
}

static void stop(wtl_boot *b) {}

const wtl_boot_ops wtl_boot_single = {
    .name = "single",
    .offered = offered,
    .start = start,
    .publish = publish,
    .fence = fence,
    .lookup = lookup,
    .stop = stop,
};
