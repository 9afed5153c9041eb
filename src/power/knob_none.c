/* knob_none.c - no clock to set. */
#include "power/knob_kind.h"

/* The domains are known all the same; their clocks stay 0. */
static int none_find(wtl_knob *k, wtl_knob_unit *d, const wtl_machine *machine)
{
  (void)k;
  (void)machine;
  (void)d;
  return 0;
}

const wtl_knob_ops wtl_knob_none = {.name = "none", .find = none_find};
